import { TableError } from '../errors.js';
import { parseInterval } from '../interval/argument.js';
import type { Calendar } from '../interval/calendar.js';
import type { Interval } from '../interval/interval.js';
import { type IntervalSet, union } from '../interval/set.js';
import { defaultRuntime, type Runtime } from '../runtime/runtime.js';
import type { RowOf } from '../schema/row-type.js';
import type { StructType } from '../schema/types.js';
import type { Where } from '../write/verb.js';
import { type BackfillReport, type ExecuteOptions, executePlan } from './backfill.js';
import { type Blame, blameRows } from './blame.js';
import { migrateCalendar } from './calendar-file.js';
import { type Coverage, coverage } from './coverage.js';
import { checkDefinition, type Definition, type PipelineOptions } from './definition.js';
import { type CommittedNote, type FailedNote, loadFacts, type RunNote } from './facts.js';
import { type Job, openJob, prepareJob, stateIfAny, stateOf } from './job.js';
import { readLedger } from './ledger.js';
import { readFailures, readNotes } from './notes.js';
import {
  type BackfillRange,
  type Bound,
  boundOf,
  type CatchUpRange,
  planBackfill,
  planCatchUp,
  type RunPlan,
} from './plan.js';
import { type RunOptions, type RunResult, runInterval } from './run.js';
import { type UndoOptions, undoInterval } from './undo.js';
import { type Verification, type VerifyOptions, verifyInterval } from './verify.js';

/** An interval, or text that names one: a label, or `START/END`. */
export type IntervalLike = Interval | string;

export interface Planned {
  readonly plan: RunPlan;
  /** Undefined for a dry run. */
  readonly report: BackfillReport | undefined;
}

export interface Backfilled extends Planned {
  readonly report: BackfillReport;
}

interface Doing {
  /** Only plans. */
  readonly dryRun?: boolean;
  /** Sees the plan before anything runs. Throwing keeps it from running. */
  readonly onPlan?: (plan: RunPlan) => void | Promise<void>;
}

/** No dry run, so that there is a report. */
interface Real {
  readonly dryRun?: false;
}

/** A named producer of rows for the intervals of a calendar, and everything that can be done with it. Holds nothing; the table holds what was done. */
export class Pipeline {
  readonly definition: Definition;
  readonly #runtime: Runtime | undefined;

  /** Use `definePipeline`. */
  constructor(definition: Definition, runtime: Runtime | undefined) {
    this.definition = definition;
    this.#runtime = runtime;
  }

  get name(): string {
    return this.definition.name;
  }
  get url(): string {
    return this.definition.url;
  }
  get calendar(): Calendar {
    return this.definition.calendar;
  }

  /** The same pipeline on another runtime. */
  withRuntime(runtime: Runtime): Pipeline {
    return new Pipeline(this.definition, runtime);
  }

  /** The interval of a label or `START/END`. Throws `INVALID_INPUT` for text that names none, several, or a part of one. */
  interval(text: string): Interval {
    return parseInterval(this.calendar, text);
  }

  /** Runs one interval. Effect, atomicity and errors as `runInterval` says. */
  run(interval: IntervalLike, options?: RunOptions): Promise<RunResult> {
    return runInterval(this.#job(), this.#interval(interval), options);
  }

  /** Runs what is missing up to now, oldest first, and the last intervals again where the pipeline looks back. See `executePlan`. */
  async catchUp(options?: CatchUpRange & ExecuteOptions & Doing & Real): Promise<Backfilled>;
  async catchUp(options: CatchUpRange & ExecuteOptions & Doing): Promise<Planned>;
  async catchUp(options: CatchUpRange & ExecuteOptions & Doing = {}): Promise<Planned> {
    return this.#do(await planCatchUp(this.#job(), options), options);
  }

  /** Runs the intervals of a range that are missing, or others as `reprocess` says. See `executePlan`. */
  async backfill(options?: BackfillRange & ExecuteOptions & Doing & Real): Promise<Backfilled>;
  async backfill(options: BackfillRange & ExecuteOptions & Doing): Promise<Planned>;
  async backfill(options: BackfillRange & ExecuteOptions & Doing = {}): Promise<Planned> {
    return this.#do(await planBackfill(this.#job(), options), options);
  }

  /** What is done, missing, changed or stale, from the table alone. `from` and `to` are bounds of the calendar. */
  coverage(
    options: {
      readonly from?: Bound;
      readonly to?: Bound;
      readonly rows?: boolean;
      readonly inputs?: boolean;
      readonly keys?: boolean | readonly string[];
      readonly signal?: AbortSignal;
    } = {},
  ): Promise<Coverage> {
    const { from, to, ...rest } = options;
    const job = this.#job();
    return coverage(job, {
      ...rest,
      ...(from === undefined ? {} : { fromMs: boundOf(job, from) }),
      ...(to === undefined ? {} : { untilMs: boundOf(job, to) }),
    });
  }

  /** The spans of time that are missing, neighbours joined. */
  async gaps(options: Parameters<Pipeline['coverage']>[0] = {}): Promise<IntervalSet> {
    const { entries } = await this.coverage({ inputs: false, ...options });
    return union(entries.filter(({ state }) => state === 'missing').map(({ interval }) => interval));
  }

  /** The last run of every interval, oldest interval first, and the failures that no run has made good. */
  async runs(): Promise<{ readonly committed: CommittedNote[]; readonly failed: FailedNote[] }> {
    const job = this.#job();
    const state = await stateIfAny(job);
    if (!state) return { committed: [], failed: [] };
    const ledger = readLedger(state, this.name);
    const [facts, failed] = await Promise.all([
      loadFacts(job.table, this.name, ledger),
      readFailures(job.table, state, this.name),
    ]);
    const byStart = (a: RunNote, b: RunNote): number =>
      a.start < b.start ? -1 : a.start > b.start ? 1 : a.startedAt - b.startedAt;
    return { committed: facts.notes(), failed: failed.sort(byStart) };
  }

  /** Every attempt of one interval that left a note, oldest first. */
  attempts(interval: IntervalLike): Promise<RunNote[]> {
    return readNotes(this.#job().table, this.name, this.#interval(interval));
  }

  /** Produces an interval again and compares; commits nothing. */
  verify(interval: IntervalLike, options?: VerifyOptions): Promise<Verification> {
    return verifyInterval(this.#job(), this.#interval(interval), options);
  }

  /** Brings an interval back to an earlier version. Effect, atomicity and errors as `undoInterval` says. */
  undo(interval: IntervalLike, options?: UndoOptions): Promise<RunResult> {
    return undoInterval(this.#job(), this.#interval(interval), options);
  }

  /** Which runs wrote the rows for which `where` is TRUE. */
  blame(where: Where, options?: { readonly signal?: AbortSignal }): Promise<Blame[]> {
    return blameRows(this.#job(), where, options);
  }

  /** Puts this definition in the place of the one recorded beside the log, after a change of calendar, column, mode or scope. Runs recorded before stay. */
  async migrate(): Promise<{ readonly changed: boolean }> {
    const job = this.#job();
    const result = await migrateCalendar(job, await stateOf(job));
    await prepareJob(job);
    return result;
  }

  async #do(plan: RunPlan, options: ExecuteOptions & Doing): Promise<Planned> {
    await options.onPlan?.(plan);
    if (options.dryRun) return { plan, report: undefined };
    return { plan, report: await executePlan(this.#job(), plan, options) };
  }

  #interval(interval: IntervalLike): Interval {
    const found = typeof interval === 'string' ? this.interval(interval) : interval;
    if (this.calendar.at(found.startMs).equals(found)) return found;
    throw new TableError('INVALID_INPUT', `${found} is no interval of the calendar of ${this.name}.`, {
      pipeline: this.name,
      interval: found.toJSON(),
    });
  }

  #job(): Job {
    return openJob(this.definition, this.#runtime ?? defaultRuntime());
  }
}

/**
 * Defines a pipeline. Touches no store. Throws `INVALID_INPUT` with the option at fault.
 *
 * `R` is the type of the rows that `produce` gives; `column`, `on` and `order` name its members. Where it is left out and `create.schema` is DDL text, it is
 * what that text says; rows of no type, such as those of a scan, need `definePipeline<Row>` where columns are NOT NULL.
 *
 * ```ts
 * export const daily = definePipeline({
 *   name: 'daily-sales',
 *   table: 's3://lake/sales',
 *   every: 'day',
 *   timeZone: 'Europe/Berlin',
 *   start: '2024-01-01',
 *   column: 'sold_at',
 *   async *produce({ interval }) {
 *     yield* await salesBetween(interval.start, interval.end);
 *   },
 * });
 * ```
 */
export function definePipeline<
  R extends object = never,
  const S extends string | StructType = string | StructType,
>(
  options: PipelineOptions<[R] extends [never] ? RowOf<S> : NoInfer<R>> & {
    readonly create?: { readonly schema: S };
  },
  runtime?: Runtime,
): Pipeline {
  return new Pipeline(checkDefinition(options), runtime);
}
