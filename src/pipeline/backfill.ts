import { isTableError, TableError } from '../errors.js';
import type { Interval } from '../interval/interval.js';
import { Claims } from './claims.js';
import type { IntervalState } from './coverage.js';
import { type CommittedNote, loadFacts } from './facts.js';
import { type Job, prepareJob } from './job.js';
import { attemptOf, readLedger } from './ledger.js';
import type { PlanItem, RunPlan } from './plan.js';
import { errorOf, type RunResult, runInterval } from './run.js';

/** What became of one interval of a plan. `not-run`: the backfill was stopped before its turn. */
export interface IntervalOutcome {
  readonly interval: Interval;
  readonly why: IntervalState;
  readonly status: RunResult['status'] | 'failed' | 'not-run';
  readonly version: number | undefined;
  readonly rows: number | undefined;
  /** How often it was produced. */
  readonly tries: number;
  readonly durationMs: number;
  readonly error: { readonly code: string; readonly message: string } | undefined;
}

export interface BackfillReport {
  readonly pipeline: string;
  readonly url: string;
  /** In the order of the plan. */
  readonly outcomes: readonly IntervalOutcome[];
  readonly counts: Readonly<Record<IntervalOutcome['status'], number>>;
  readonly durationMs: number;
  /** True when it was stopped before its end. */
  readonly stopped: boolean;
}

export interface ExecuteOptions {
  /** Intervals at once; 1 by default. */
  readonly maxActive?: number;
  /** How often an interval that failed is tried again, after a pause that doubles; 2 by default. Faults of rows are not tried again. */
  readonly retries?: number;
  /** The first pause, in milliseconds; 1000 by default. */
  readonly retryDelay?: number;
  /** Ends the runs under way; nothing half done is left visible. */
  readonly signal?: AbortSignal;
  /** Starts no more runs and waits for those under way. */
  readonly drain?: AbortSignal;
  readonly allowOpen?: boolean;
  /** Hears of each interval when it has ended. Must not throw. */
  readonly onOutcome?: (
    outcome: IntervalOutcome,
    progress: { readonly done: number; readonly total: number },
  ) => void;
}

const FIRST_PAUSE_MS = 1000;
const LONGEST_PAUSE_MS = 60_000;
/** A worker with so many commits in a row to itself claims nothing. */
const ALONE_AFTER = 3;
/** How long a worker that is by itself takes what it knows of the table for the newest. */
const KNOWN_FOR_MS = 2000;
/** Notes that are kept in memory. */
const MOST_KEPT = 20_000;
/** Between two looks at intervals that other workers have claimed. */
const CLAIMED_PAUSE_MS = 500;

/**
 * Runs exactly the intervals of a plan, each in a commit of its own. The ledger is read again right before each: what another worker has done is skipped.
 * An interval that fails stops neither the others nor the record of what was done; it is `failed` in the report. Throws only what makes every run impossible
 * (`prepareJob`), and `ABORTED` is told as `not-run`. Running the same backfill again runs what is missing.
 */
export async function executePlan(
  job: Job,
  plan: RunPlan,
  options: ExecuteOptions = {},
): Promise<BackfillReport> {
  const { maxActive = 1 } = options;
  if (!Number.isInteger(maxActive) || maxActive < 1)
    throw new TableError('INVALID_INPUT', `maxActive is a whole number from 1, not ${maxActive}.`, {
      maxActive,
    });
  const startedAt = job.table.ctx.clock.monotonic();
  if (plan.items.length > 0) await prepareJob(job);
  const execution = new Execution(job, plan, options);
  await Promise.all(Array.from({ length: Math.min(maxActive, plan.items.length) }, () => execution.work()));
  await execution.notes.done();
  if (plan.items.length > 1) await rollUp(job, execution.notes.kept);
  const outcomes = plan.items.map((item) => execution.outcomes.get(item) ?? notRun(item));
  const counts = { committed: 0, skipped: 0, superseded: 0, failed: 0, 'not-run': 0 };
  for (const { status } of outcomes) counts[status]++;
  return {
    pipeline: plan.pipeline,
    url: plan.url,
    outcomes,
    counts,
    durationMs: Math.round(job.table.ctx.clock.monotonic() - startedAt),
    stopped: isStopped(options),
  };
}

class Execution {
  readonly outcomes = new Map<PlanItem, IntervalOutcome>();
  readonly notes = new WrittenNotes();
  readonly #job: Job;
  readonly #options: ExecuteOptions;
  readonly #waiting: PlanItem[];
  readonly #claims: Claims;
  readonly #total: number;
  /** Intervals that another worker was at; looked at again when nothing else is left. */
  #claimed: PlanItem[] = [];
  #version: number;
  /** Commits in a row that were the next version. */
  #alone = 0;
  /** No claim of another worker was seen since. */
  #checked = false;
  /**
   * A worker by itself claims nothing, so that one who comes later would be a step behind at every interval. Who lost one takes others from the far end of the
   * plan until it has committed (`told`) and then seen a commit of the other, who knows by then.
   */
  #other: 'unknown' | 'unaware' | 'told' = 'unknown';

  constructor(job: Job, plan: RunPlan, options: ExecuteOptions) {
    this.#job = job;
    this.#options = options;
    this.#waiting = [...plan.items];
    this.#total = plan.items.length;
    this.#claims = new Claims(job);
    this.#version = plan.version;
  }

  /** One of the runs at a time: takes interval after interval until none is left. */
  async work(): Promise<void> {
    while (!isStopped(this.#options)) {
      const fresh = this.#other === 'unknown' ? this.#waiting.shift() : this.#waiting.pop();
      const item = fresh ?? this.#claimed.shift();
      if (!item) return;
      const outcome = await this.#run(item);
      if (outcome) this.#ended(item, outcome);
      else {
        this.#claimed.push(item);
        if (!fresh) await this.#pause(CLAIMED_PAUSE_MS);
      }
    }
  }

  async #pause(ms: number): Promise<void> {
    const { drain, signal } = this.#options;
    await this.#job.table.ctx.clock.sleep(ms, drain ?? signal).catch(() => undefined);
  }

  /** Undefined when another worker is at it. */
  async #run(item: PlanItem): Promise<IntervalOutcome | undefined> {
    if (!(await this.#isShared())) return this.#withRetries(item);
    const { interval, attempt } = item;
    const state = await this.#job.table.latest.get();
    if (attemptOf(state, this.#job.definition.name, interval) !== attempt) return this.#withRetries(item);
    if (!(await this.#claims.take(interval, attempt))) return undefined;
    return this.#claims.during(interval, attempt, () => this.#withRetries(item));
  }

  /** False where this worker is by itself: commits in a row tell, and then, once, that nobody else claims anything. */
  async #isShared(): Promise<boolean> {
    if (this.#alone < ALONE_AFTER) return true;
    if (this.#checked) return false;
    if (await this.#claims.others()) {
      this.#version += this.#alone;
      this.#alone = 0;
      return true;
    }
    this.#checked = true;
    return false;
  }

  async #withRetries(item: PlanItem): Promise<IntervalOutcome> {
    const { interval, attempt } = item;
    const { retries = 2, retryDelay = FIRST_PAUSE_MS, signal, allowOpen } = this.#options;
    const { clock } = this.#job.table.ctx;
    const startedAt = clock.monotonic();
    const base = () => ({ interval, why: item.why, durationMs: Math.round(clock.monotonic() - startedAt) });
    for (let tries = 1; ; tries++) {
      try {
        const options = { expectAttempt: attempt, signal, allowOpen };
        // By itself a worker knows the table by its own commits; what another does meanwhile is found by the next.
        const maxStaleness = this.#checked ? KNOWN_FOR_MS : 0;
        const onNote = this.notes.add.bind(this.notes);
        const result = await runInterval(this.#job, interval, options, { maxStaleness, onNote });
        this.#seen(result);
        const { status, version, rows } = result;
        return {
          ...base(),
          status,
          version,
          rows,
          tries: status === 'skipped' ? tries - 1 : tries,
          error: undefined,
        };
      } catch (error) {
        const nothing = { version: undefined, rows: undefined };
        if (isTableError(error, 'ABORTED') && signal?.aborted)
          return { ...base(), ...nothing, status: 'not-run', tries, error: undefined };
        if (tries > retries || !isWorthRetrying(error) || isStopped(this.#options))
          return { ...base(), ...nothing, status: 'failed', tries, error: errorOf(error) };
        const pause = Math.min(retryDelay * 2 ** (tries - 1), LONGEST_PAUSE_MS);
        await this.#pause(pause);
      }
    }
  }

  /** Versions that are not this worker's, or an interval that another got done, mean that others are at work; some that are all its own, that none is. */
  #seen({ status, version }: RunResult): void {
    const isNext = status === 'committed' && version === this.#version + this.#alone + 1;
    this.#alone = isNext ? this.#alone + 1 : 0;
    if (status === 'superseded') this.#other = 'unaware';
    else if (status === 'committed' && this.#other !== 'unknown')
      this.#other = this.#alone >= ALONE_AFTER || (this.#other === 'told' && !isNext) ? 'unknown' : 'told';
    if (isNext) return;
    this.#version = version;
    this.#checked = false;
  }

  #ended(item: PlanItem, outcome: IntervalOutcome): void {
    this.outcomes.set(item, outcome);
    this.#options.onOutcome?.(outcome, { done: this.outcomes.size, total: this.#total });
  }
}

/** Notes that are being written beside the runs that follow, and those that need not be read again to be rolled up. */
class WrittenNotes {
  readonly kept: CommittedNote[] = [];
  readonly #writing = new Set<Promise<void>>();

  add(note: CommittedNote, written: Promise<void>): void {
    if (this.kept.length < MOST_KEPT) this.kept.push(note);
    const done = written.finally(() => this.#writing.delete(done));
    this.#writing.add(done);
  }

  async done(): Promise<void> {
    await Promise.all(this.#writing);
  }
}

/** Rows that do not fit stay so; whatever a source throws may pass. */
function isWorthRetrying(error: unknown): boolean {
  return !isTableError(error) || error.kind === 'retry' || error.kind === 'store';
}

function isStopped({ signal, drain }: ExecuteOptions): boolean {
  return signal?.aborted === true || drain?.aborted === true;
}

/** Gathers the notes of many runs into one object, so that coverage reads them at once. Its failure costs nothing but time. */
async function rollUp(job: Job, written: readonly CommittedNote[]): Promise<void> {
  const { table, definition } = job;
  try {
    await loadFacts(table, definition.name, readLedger(await table.latest.get(), definition.name), written);
  } catch (error) {
    table.ctx.emit({ type: 'warning', message: `The runs could not be rolled up: ${String(error)}` });
  }
}

function notRun({ interval, why }: PlanItem): IntervalOutcome {
  return {
    interval,
    why,
    status: 'not-run',
    version: undefined,
    rows: undefined,
    tries: 0,
    durationMs: 0,
    error: undefined,
  };
}
