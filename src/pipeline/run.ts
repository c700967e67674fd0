import type { RecordBatch } from 'apache-arrow';
import { type Planned, transact } from '../commit/transaction.js';
import { isTableError, TableError } from '../errors.js';
import { type Interval, instantText } from '../interval/interval.js';
import type { Action } from '../log/actions.js';
import { assertWritable } from '../log/features.js';
import { itemsUntilAborted, untilAborted } from '../runtime/abort.js';
import { abortError } from '../runtime/system.js';
import { Digester } from '../schema/digest.js';
import type { State } from '../snapshot/state.js';
import { stageEvolving } from '../write/evolve.js';
import { type Amount, assertMayRemove, NOTHING, stagedAmount } from '../write/plan.js';
import { ruledBatches } from '../write/ruled-source.js';
import type { RowSource } from '../write/source.js';
import { type Work, winnersCheckOf } from '../write/work.js';
import {
  type CommittedNote,
  commitFacts,
  factsText,
  type InputFacts,
  loadRun,
  type RunFacts,
} from './facts.js';
import { Inputs } from './inputs.js';
import { type Job, prepareJob } from './job.js';
import { appIdOf, attemptOf, entryOf } from './ledger.js';
import { writeNote } from './notes.js';
import { thrownAt } from './place.js';
import { bindTarget } from './target.js';
import { stageRun } from './work.js';

export interface RunOptions {
  /** Produces again on the newest state when another run of the interval was first; by default this one is then `superseded`. */
  readonly force?: boolean;
  /** Runs only if the interval has had so many runs; else it is `skipped`. */
  readonly expectAttempt?: number;
  /** Reads the versions of the inputs that the last run recorded. */
  readonly asRecorded?: boolean;
  /** Runs an interval that has not ended yet. */
  readonly allowOpen?: boolean;
  readonly signal?: AbortSignal;
  /** Milliseconds to go on trying to commit; 10 minutes by default. */
  readonly retryFor?: number;
}

/** What became of a run. `superseded`: another run of the interval was committed meanwhile, and these rows were dropped. */
export interface RunResult {
  readonly status: 'committed' | 'skipped' | 'superseded';
  readonly pipeline: string;
  readonly interval: Interval;
  readonly runId: string;
  /** Committed runs of the interval, this one included. */
  readonly attempt: number;
  readonly version: number;
  readonly rows: number;
  readonly bytes: number;
  readonly digest: string | undefined;
  readonly removed: Amount;
  readonly durationMs: number;
}

/** What a run does otherwise where it is one of many. */
export interface AmongRuns {
  /** Milliseconds for which what is known of the table is good enough to start from; 0 by default. What was missed is found by the commit. */
  readonly maxStaleness?: number;
  /** Takes the note of the run while it is being written, so that the next run need not wait for that. */
  readonly onNote?: (note: CommittedNote, written: Promise<void>) => void;
}

/** How often a producer that reads its own target, or a forced run, starts anew. */
const MOST_STARTS = 20;

type Outcome = { readonly status: 'committed' | 'superseded' | 'again'; readonly removed: Amount };

/**
 * Runs a pipeline for one interval: produces its rows, checks that they lie inside, stages them, and commits them with their ledger entry in one atomic commit.
 * No rows clear the interval, which is then done with no rows. Nothing is visible before the commit; when anything fails before it the old rows stay, staged
 * files are deleted as well as can be, and a note of the failure is left. Throws what `produce` throws, `OUTSIDE_TARGET`, `INVALID_INPUT` for an interval that is
 * open or before the pipeline's start, `COMMIT_CONFLICT`, `COMMIT_STATE_UNKNOWN` (then running again is safe), and what `prepareJob` throws.
 */
export async function runInterval(
  job: Job,
  interval: Interval,
  options: RunOptions = {},
  among: AmongRuns = {},
): Promise<RunResult> {
  assertRunnable(job, interval, options);
  for (let start = 1; ; start++) {
    const state = await prepareJob(job, start === 1 ? among.maxStaleness : 0);
    assertWritable(state.protocol, state.metadata, job.table.url);
    const before = attemptOf(state, job.definition.name, interval);
    const isOver = job.definition.mode === 'append-once' && before > 0;
    if (isOver || (options.expectAttempt ?? before) !== before)
      return notRun(job, interval, state.version, before);
    const result = await runOnce(job, interval, state, before, options, among);
    const goesOn = result.status === 'again' || (result.status === 'superseded' && options.force);
    if (!goesOn) return result as RunResult;
    if (start === MOST_STARTS) throw gaveUp(job, interval, start);
  }
}

async function runOnce(
  job: Job,
  interval: Interval,
  state: State,
  before: number,
  options: RunOptions,
  { onNote }: AmongRuns,
): Promise<Omit<RunResult, 'status'> & { readonly status: Outcome['status'] }> {
  const { definition, table } = job;
  const { clock, ids } = table.ctx;
  const startedAt = clock.now();
  const startedMono = clock.monotonic();
  const signal = options.signal ?? new AbortController().signal;
  const head = {
    pipeline: definition.name,
    start: instantText(interval.startMs),
    end: instantText(interval.endMs),
    label: interval.label,
    attempt: before + 1,
    runId: ids.uuid(),
    codeVersion: definition.codeVersion ?? null,
    startedAt,
  };
  const inputs = new Inputs({
    runtime: job.runtime,
    definition,
    interval,
    target: table,
    base: state,
    signal,
    ...(options.asRecorded ? { recorded: await recordedInputs(job, interval, state) } : {}),
  });
  let work: Work | undefined;
  try {
    let digester = new Digester(state.schema);
    const target = bindTarget(definition, state).predicate(interval);
    const rows = await untilAborted(definition.produce({ interval, read: inputs.read, signal }), signal);
    const stage = (on: State, given: RowSource): Promise<Work> => {
      digester = new Digester(on.schema);
      const batches = digested(itemsUntilAborted(ruledBatches(table, on, given), signal), digester);
      return stageRun(table, definition, on, batches, target, signal);
    };
    const { evolve: modes } = definition;
    work =
      modes.size > 0 ? await stageEvolving(table, state, rows, { modes }, stage) : await stage(state, rows);
    const staged = stagedAmount(work.files);
    const tagged = new Set(work.files.map(({ path }) => path));
    const facts: RunFacts = {
      ...head,
      mode: definition.mode,
      ...digester.result(),
      bytes: staged.bytes,
      inputs: inputs.facts,
      durationMs: Math.round(clock.monotonic() - startedMono),
    };
    const { version, outcome } = await commitRun(
      job,
      interval,
      { state, before, work, facts, inputs, tagged },
      options,
    );
    if (outcome.status === 'committed') {
      const note: CommittedNote = { status: 'committed', version, ...facts };
      const written = writeNote(table, note);
      if (onNote) onNote(note, written);
      else await written;
    }
    return {
      status: outcome.status,
      pipeline: definition.name,
      interval,
      runId: head.runId,
      attempt:
        outcome.status === 'committed'
          ? before + 1
          : attemptOf(await table.latest.get(Infinity), definition.name, interval),
      version,
      rows: facts.rows,
      bytes: facts.bytes,
      digest: facts.digest,
      removed: outcome.removed,
      durationMs: Math.round(clock.monotonic() - startedMono),
    };
  } catch (error) {
    // A source that is given the signal throws what it likes when it fires.
    const isStop = signal.aborted && !isTableError(error);
    const failure = isStop ? abortError(signal) : inWordsOf(definition.name, interval, error);
    if (work && !isTableError(error, 'COMMIT_STATE_UNKNOWN')) await work.discard();
    if (!isTableError(failure, 'ABORTED')) {
      const durationMs = Math.round(clock.monotonic() - startedMono);
      await writeNote(table, { status: 'failed', ...head, durationMs, error: errorOf(failure) });
    }
    throw failure;
  } finally {
    await work?.close();
  }
}

/** What a run hands over to be committed. */
export interface RunToCommit {
  readonly state: State;
  readonly before: number;
  readonly work: Work;
  readonly facts: RunFacts;
  readonly inputs?: Inputs;
  /** Paths of files that hold this run's rows and no others. */
  readonly tagged: ReadonlySet<string>;
}

/** Commits a run as the next attempt of its interval, or finds that another run was first; its staged files are deleted then. */
export async function commitRun(
  job: Job,
  interval: Interval,
  { state: base, before, work, facts, inputs, tagged }: RunToCommit,
  options: Pick<RunOptions, 'signal' | 'retryFor'>,
): Promise<{ readonly version: number; readonly outcome: Outcome }> {
  const { table, definition } = job;
  const check = winnersCheckOf(work);
  const decide = async (state: State): Promise<Planned<Outcome>> => {
    check(table.url, base, state);
    if (attemptOf(state, definition.name, interval) !== before)
      return { settled: { status: 'superseded', removed: NOTHING } };
    if (await inputs?.targetChanged(state)) return { settled: { status: 'again', removed: NOTHING } };
    const { plan, commit } = await work.plan(state);
    assertMayRemove(table.url, state, plan);
    const txn: Action = {
      txn: {
        appId: appIdOf(definition.name, interval),
        version: before + 1,
        lastUpdated: table.ctx.clock.now(),
      },
    };
    return {
      plan: {
        ...commit,
        isBlindAppend: commit.isBlindAppend && !inputs?.readsTarget,
        facts: commitFacts(facts),
        actions: [txn, ...commit.actions.map((action) => withRun(action, facts.runId, tagged))],
      },
      result: { status: 'committed', removed: plan.removed },
    };
  };
  const { signal, retryFor } = options;
  const told = { signal, retryFor, userMetadata: factsText(facts) };
  const { committed, version, result } = await transact(table, decide, told, check);
  if (!committed) await work.discard();
  return { version, outcome: result };
}

/** A hint for `blame`; engines that rewrite the file drop it. */
function withRun(action: Action, runId: string, tagged: ReadonlySet<string>): Action {
  if (!('add' in action) || !tagged.has(action.add.path)) return action;
  return { add: { ...action.add, tags: { ...action.add.tags, [RUN_TAG]: runId } } };
}

export const RUN_TAG = 'INTERVALE_RUN';

async function* digested(
  batches: AsyncIterable<RecordBatch>,
  digester: Digester,
): AsyncGenerator<RecordBatch> {
  for await (const batch of batches) {
    digester.add(batch);
    yield batch;
  }
}

async function recordedInputs(job: Job, interval: Interval, state: State): Promise<readonly InputFacts[]> {
  const { name } = job.definition;
  const entry = entryOf(state, name, interval);
  const facts = entry && (await loadRun(job.table, name, entry));
  if (facts) return facts.inputs;
  throw new TableError(
    'INVALID_INPUT',
    entry
      ? `What the last run of ${interval} read is no longer known: its note and its commit are gone.`
      : `${interval} has not been run, so there is nothing recorded to run it with.`,
    { pipeline: name, interval: interval.label },
  );
}

function assertRunnable(job: Job, interval: Interval, options: RunOptions): void {
  const { definition, table } = job;
  if (interval.startMs < definition.startMs) {
    throw new TableError(
      'INVALID_INPUT',
      `${interval} lies before the start of the pipeline ${definition.name}, ${instantText(definition.startMs)}.`,
      { pipeline: definition.name, interval: interval.label },
    );
  }
  if (options.allowOpen || interval.endMs <= table.ctx.clock.now()) return;
  throw new TableError(
    'INVALID_INPUT',
    `${interval} has not ended: it ends at ${instantText(interval.endMs)}. Run it then, or say that open intervals are meant (allowOpen, --allow-open).`,
    { pipeline: definition.name, interval: interval.label },
  );
}

function notRun(job: Job, interval: Interval, version: number, attempt: number): RunResult {
  return {
    status: 'skipped',
    pipeline: job.definition.name,
    interval,
    runId: '',
    attempt,
    version,
    rows: 0,
    bytes: 0,
    digest: undefined,
    removed: NOTHING,
    durationMs: 0,
  };
}

function gaveUp(job: Job, interval: Interval, starts: number): TableError {
  return new TableError(
    'COMMIT_CONFLICT',
    `What ${job.definition.name} read for ${interval} was changed by other writers ${starts} times while it ran. Nothing was committed; run it again.`,
    { pipeline: job.definition.name, interval: interval.label },
  );
}

/** Rows outside the target of an overwrite are, to who writes a pipeline, rows of another interval. */
function inWordsOf(pipeline: string, interval: Interval, error: unknown): unknown {
  if (!isTableError(error, 'OUTSIDE_TARGET')) return error;
  const { rows, predicate, example } = error.context;
  return new TableError(
    'OUTSIDE_TARGET',
    `${rows} of the rows that ${pipeline} produced for ${interval} ${rows === 1 ? 'is' : 'are'} not provably of it (${predicate}); for example one with ${example}. Nothing was committed.`,
    { ...error.context, pipeline, interval: interval.label },
    error,
  );
}

/** An error as a note holds it: what a pipeline's own code threw with the place of it. */
export function errorOf(error: unknown): { readonly code: string; readonly message: string } {
  if (isTableError(error)) return { code: error.code, message: error.message };
  const place = thrownAt(error);
  const message = `${error instanceof Error ? error.message : String(error)}${place ? ` (at ${place})` : ''}`;
  return { code: error instanceof Error ? error.name : 'Error', message };
}
