import type { RecordBatch } from 'apache-arrow';
import { isTableError, TableError } from '../errors.js';
import { type Interval, instantText } from '../interval/interval.js';
import { planScan, type ScanFile } from '../scan/plan.js';
import { scanBatches } from '../scan/read.js';
import { Digester } from '../schema/digest.js';
import { classifyPath, decodePath } from '../schema/path.js';
import { loadState } from '../snapshot/load.js';
import type { State } from '../snapshot/state.js';
import { stageOverwriteWhere } from '../write/overwrite.js';
import { stagedAmount } from '../write/plan.js';
import { batchesOf } from '../write/source.js';
import { loadRun, type RunFacts } from './facts.js';
import { checkedState, type Job } from './job.js';
import { attemptOf, entryOf } from './ledger.js';
import { writeNote } from './notes.js';
import { commitRun, type RunResult } from './run.js';
import { bindTarget } from './target.js';

export interface UndoOptions {
  /** The version whose rows come back; the one before the last run of the interval by default. */
  readonly toVersion?: number;
  readonly signal?: AbortSignal;
  readonly retryFor?: number;
}

/** Files looked for at once. */
const AHEAD = 16;

/**
 * Brings the rows of one interval back to what they were at an earlier version, as a new attempt marked as undone, in one atomic commit; `catchUp` then leaves
 * the interval alone. Throws `INVALID_INPUT` for an interval that was never run or whose last run is no longer known (then give a version),
 * `VERSION_NOT_FOUND`, and `FILE_NOT_FOUND` with the list where files of that version were vacuumed: nothing is committed then.
 */
export async function undoInterval(
  job: Job,
  interval: Interval,
  options: UndoOptions = {},
): Promise<RunResult> {
  const { definition, table } = job;
  const { clock, ids } = table.ctx;
  const startedAt = clock.now();
  const startedMono = clock.monotonic();
  const state = await checkedState(job);
  if (!state) throw neverRun(job, interval);
  const before = attemptOf(state, definition.name, interval);
  const toVersion = options.toVersion ?? (await versionBefore(job, interval, state));
  const then = await loadState(table.store, table.ctx, { version: toVersion });
  const where = bindTarget(definition, then).predicate(interval);
  const { signal } = options;
  const plan = await planScan(then, { where, signal });
  await assertPresent(job, plan.files, toVersion);
  const digester = new Digester(state.schema);
  const rows = scanBatches(table.store, table.ctx, plan, { signal, pool: table.pool });
  const target = bindTarget(definition, state).predicate(interval);
  const work = await stageOverwriteWhere(
    table,
    state,
    digested(batchesOf(rows, state.schema), digester),
    target,
    signal,
  );
  try {
    const facts: RunFacts = {
      pipeline: definition.name,
      start: instantText(interval.startMs),
      end: instantText(interval.endMs),
      label: interval.label,
      attempt: before + 1,
      runId: ids.uuid(),
      mode: 'undo',
      ...digester.result(),
      bytes: stagedAmount(work.files).bytes,
      inputs: [],
      codeVersion: definition.codeVersion ?? null,
      startedAt,
      durationMs: Math.round(clock.monotonic() - startedMono),
      undoneTo: toVersion,
    };
    const tagged = new Set(work.files.map(({ path }) => path));
    const { version, outcome } = await commitRun(
      job,
      interval,
      { state, before, work, facts, tagged },
      options,
    );
    if (outcome.status === 'committed') await writeNote(table, { status: 'committed', version, ...facts });
    return {
      status: outcome.status === 'committed' ? 'committed' : 'superseded',
      pipeline: definition.name,
      interval,
      runId: facts.runId,
      attempt: before + 1,
      version,
      rows: facts.rows,
      bytes: facts.bytes,
      digest: facts.digest,
      removed: outcome.removed,
      durationMs: Math.round(clock.monotonic() - startedMono),
    };
  } catch (error) {
    if (!isTableError(error, 'COMMIT_STATE_UNKNOWN')) await work.discard();
    throw error;
  } finally {
    await work.close();
  }
}

async function versionBefore(job: Job, interval: Interval, state: State): Promise<number> {
  const { name } = job.definition;
  const entry = entryOf(state, name, interval);
  const run = entry && (await loadRun(job.table, name, entry));
  if (run) return run.version - 1;
  if (!entry) throw neverRun(job, interval);
  throw new TableError(
    'INVALID_INPUT',
    `It is no longer known which version the last run of ${interval} became. Say which version to go back to (toVersion, --to-version).`,
    { pipeline: name, interval: interval.label },
  );
}

function neverRun({ definition: { name } }: Job, interval: Interval): TableError {
  return new TableError(
    'INVALID_INPUT',
    `${interval} has not been run by ${name}, so there is nothing to undo.`,
    { pipeline: name, interval: interval.label },
  );
}

async function assertPresent(job: Job, files: readonly ScanFile[], version: number): Promise<void> {
  const { store } = job.table;
  const missing: string[] = [];
  for (let from = 0; from < files.length; from += AHEAD) {
    const chunk = files
      .slice(from, from + AHEAD)
      .filter(({ path }) => classifyPath(path).kind === 'relative');
    const found = await Promise.all(chunk.map(({ path }) => store.head(decodePath(path))));
    missing.push(...chunk.flatMap(({ path }, i) => (found[i] ? [] : [path])));
  }
  if (missing.length === 0) return;
  throw new TableError(
    'FILE_NOT_FOUND',
    `${missing.length} files of version ${version} are gone, so its rows cannot be brought back: ${missing.slice(0, 3).join(', ')}${missing.length > 3 ? ', ...' : ''}. Produce the interval again instead.`,
    { url: job.table.url, version, files: missing },
  );
}

async function* digested(
  batches: AsyncIterable<RecordBatch>,
  digester: Digester,
): AsyncGenerator<RecordBatch> {
  for await (const batch of batches) {
    digester.add(batch);
    yield batch;
  }
}
