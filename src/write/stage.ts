import { recentState } from '../commit/base.js';
import { TableError } from '../errors.js';
import type { TxnAction } from '../log/actions.js';
import { assertWritable } from '../log/features.js';
import type { TableContext } from '../runtime/table-context.js';
import type { State } from '../snapshot/state.js';
import { planAppend } from './append.js';
import { BlindWork } from './blind.js';
import { deleteWork } from './delete.js';
import { evolveModes, stageEvolving } from './evolve.js';
import { type Isolation, isolationOn } from './isolation.js';
import { stageMerge } from './merge.js';
import { onNewest } from './newest.js';
import { stageOverwriteWhere } from './overwrite.js';
import { replacedTable, stageOverwriteAll } from './overwrite-all.js';
import { planOverwritePartitions } from './overwrite-partitions.js';
import { NO_ROWS, NOTHING } from './plan.js';
import { stageReplaceUsing } from './replace-using.js';
import { assertSameRows, describeRecord, RowsTap, recordOf } from './replay.js';
import { givenBatches, ruledBatches } from './ruled-source.js';
import { RowRules } from './rules.js';
import type { RowSource } from './source.js';
import { type FileRules, stageBatches } from './stage-files.js';
import { StagedWrite } from './staged-write.js';
import { updateWork } from './update.js';
import type { Verb, WriteOptions, WriteResult } from './verb.js';
import type { Work } from './work.js';

/**
 * Writes what a verb adds as Parquet files of the table that no snapshot mentions; a verb that reads the table reads it here for the first time. Consumes the
 * source once, in bounded memory. Throws `INVALID_ROW`, `UNKNOWN_COLUMN`, `INVALID_INPUT`, `INVALID_PREDICATE`, what the verb refuses, store errors and
 * whatever the source throws; then the files written so far are deleted as well as can be.
 */
export async function stage(
  table: TableContext,
  rows: RowSource | undefined,
  verb: Verb,
  options: WriteOptions = {},
): Promise<StagedWrite> {
  const state = await stateToWrite(table, verb, options.isolation);
  return onNewest(table, state, rows, (on) => stageOn(table, on, rows, verb, options));
}

/** Stages `rows` and commits them by `verb`. A replayed token reads no rows. Effect, atomicity and errors as `stage` and `StagedWrite.commit`. */
export async function write(
  table: TableContext,
  rows: RowSource | undefined,
  verb: Verb,
  options: WriteOptions = {},
): Promise<WriteResult> {
  const writing = writeNow(table, rows, verb, options);
  if (rows !== undefined && !isAtHand(rows)) return writing;
  const ended = writing.then(
    () => undefined,
    () => undefined,
  );
  const opening = { [Symbol.asyncDispose]: () => ended };
  table.openings.add(opening);
  try {
    return await writing;
  } finally {
    table.openings.delete(opening);
  }
}

async function writeNow(
  table: TableContext,
  rows: RowSource | undefined,
  verb: Verb,
  options: WriteOptions,
): Promise<WriteResult> {
  // Whoever else appends now may wait for these rows, to commit them together.
  const arrived = verb === 'append' && isAtHand(rows) ? table.appends.expect() : () => undefined;
  try {
    const known = await stateToWrite(table, verb, options.isolation);
    return await onNewest(table, known, rows, async (state) => {
      const record = recordOf(state, options.txn, table.ctx.clock.now());
      if (record) return skipped(table, state, record, rows, options);
      const staged = await stageOn(table, state, rows, verb, options);
      assertTargeted(table.url, staged, options);
      const committing = staged.commit();
      arrived();
      return committing;
    });
  } finally {
    arrived();
  }
}

/** True for rows whose staging waits for nobody but this process and the store. */
function isAtHand(rows: RowSource | undefined): boolean {
  return Array.isArray(rows) || (rows !== undefined && 'schema' in rows);
}

/** Refuses an empty overwrite of partitions that would record its token: it learns its target from its rows. Throws `INVALID_INPUT`. */
export function assertTargeted(
  url: string,
  staged: Pick<StagedWrite, 'verb' | 'files'>,
  { txn }: Pick<WriteOptions, 'txn'>,
): void {
  if (staged.verb === 'overwritePartitions' && txn && staged.files.length === 0) {
    throw new TableError(
      'INVALID_INPUT',
      'overwritePartitions learns its target from its rows, so an empty input with a token would record as done what was not. Leave out the token or name the target.',
      { url, txn },
    );
  }
}

/** What becomes of a write whose token the table has recorded. Throws `REPLAY_DIFFERS` where its rows are to be compared and are others. */
export async function skipped(
  table: TableContext,
  state: State,
  record: TxnAction,
  rows: RowSource | undefined,
  options: Pick<WriteOptions, 'onReplay'>,
): Promise<WriteResult> {
  const { recorded, digest } = await describeRecord(table, state, record);
  if (options.onReplay === 'compare' && rows !== undefined) {
    const tap = new RowsTap();
    for await (const _ of givenBatches(rows, new RowRules(state, table.url, table.ctx.clock.now()), tap));
    assertSameRows(table.url, recorded, digest, tap.digest);
  }
  return {
    status: 'skipped',
    version: state.version,
    added: NOTHING,
    removed: NOTHING,
    rows: NO_ROWS,
    recorded,
    attempts: 0,
  };
}

async function stageOn(
  table: TableContext,
  state: State,
  rows: RowSource | undefined,
  verb: Verb,
  options: WriteOptions,
): Promise<StagedWrite> {
  const isCompared = options.txn !== undefined && options.onReplay === 'compare' && rows !== undefined;
  const tap = isCompared ? new RowsTap() : undefined;
  const stage = (on: State, given: RowSource | undefined) =>
    workOf(table, on, given, verb, tap, options.signal);
  const modes = evolveModes(verb, options, table.url);
  const work =
    modes.size > 0
      ? await stageEvolving(table, state, given(rows, verb), { modes, evolveTo: options.evolveTo }, stage)
      : await stage(state, rows);
  return StagedWrite.prepare(table, state, work, options, tap);
}

/** The second half of a verb, its rows staged. Errors as `stage`. */
export async function workOf(
  table: TableContext,
  state: State,
  rows: RowSource | undefined,
  verb: Verb,
  tap: RowsTap | undefined,
  signal: AbortSignal | undefined,
): Promise<Work> {
  const source = (rules: FileRules = state) => ruledBatches(table, rules, given(rows, verb), tap);
  if (verb === 'append') {
    return new BlindWork(table, verb, await stageBatches(table, state, source(), { signal }), planAppend);
  }
  if (verb === 'overwritePartitions') {
    assertPartitioned(table.url, state);
    const files = await stageBatches(table, state, source(), { signal });
    return new BlindWork(table, verb, files, (newest, staged) =>
      planOverwritePartitions(newest, staged, table.ctx.clock.now()),
    );
  }
  switch (verb.verb) {
    case 'overwrite': {
      if ('where' in verb) return stageOverwriteWhere(table, state, source(), verb.where, signal);
      const replaced = replacedTable(table, state, verb.schema);
      return stageOverwriteAll(table, replaced, source(replaced.rules), signal);
    }
    case 'replaceUsing':
      return stageReplaceUsing(table, state, source(), verb, signal);
    case 'merge':
      return stageMerge(table, state, given(rows, verb), verb, signal, tap);
    case 'delete':
      return deleteWork(table, state, verb, signal);
    case 'update':
      return updateWork(table, state, verb, signal);
  }
}

function given(rows: RowSource | undefined, verb: Verb): RowSource {
  if (rows !== undefined) return rows;
  const name = typeof verb === 'string' ? verb : verb.verb;
  throw new TableError('INVALID_INPUT', `${name} needs rows.`, { verb: name });
}

/** Refuses, before a row is read, to overwrite the partitions of a table that has none. */
function assertPartitioned(url: string, state: State): void {
  if (state.metadata.partitionColumns.length > 0) return;
  throw new TableError(
    'INVALID_INPUT',
    `${url} is not partitioned, so there are no partitions to overwrite. Append, or create the table with partitionBy.`,
    { url, verb: 'overwritePartitions' },
  );
}

/**
 * A recent state will do to stage against: a commit on a newer one checks that the schema is the same. A verb that reads the table first of all wants the
 * newest, since it would have to read again; where write-serializable is enough every verb that reads does, or it could pass over what was there before it began.
 */
async function stateToWrite(
  table: TableContext,
  verb: Verb,
  isolation: Isolation | undefined,
): Promise<State> {
  const known = table.latest.peek();
  const reads = typeof verb === 'object' && (verb.verb !== 'overwrite' || 'where' in verb);
  const readsFirst = reads && verb.verb !== 'overwrite';
  const isFresh = readsFirst || (reads && known && isolationOn(known, isolation) === 'write-serializable');
  const state = await (isFresh ? table.latest.get() : recentState(table));
  assertWritable(state.protocol, state.metadata, table.url);
  return state;
}
