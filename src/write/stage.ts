import { recentState } from '../commit/base.js';
import { TableError } from '../errors.js';
import { assertWritable } from '../log/features.js';
import { tableProperties } from '../log/properties.js';
import type { TableContext } from '../runtime/table-context.js';
import { columnMappingMode } from '../schema/mapping.js';
import type { State } from '../snapshot/state.js';
import { stageRows } from '../stage/stage.js';
import type { StagedFile } from '../stage/staged.js';
import { batchesOf, type RowSource } from './source.js';
import { StagedWrite } from './staged-write.js';
import { assertVerb, isReplay, NOTHING, type Verb, type WriteOptions, type WriteResult } from './verb.js';

/**
 * Writes `rows` as Parquet files of the table that no snapshot mentions. Consumes the source once, in bounded memory. Throws `INVALID_ROW`,
 * `UNKNOWN_COLUMN`, `INVALID_INPUT`, store errors and whatever the source throws; then the files written so far are deleted as well as can be.
 */
export async function stage(
  table: TableContext,
  rows: RowSource,
  verb: Verb,
  options: WriteOptions = {},
): Promise<StagedWrite> {
  return stageOn(table, await stateToWrite(table), rows, verb, options);
}

/** Stages `rows` and commits them by `verb`. A replayed token reads no rows. Effect, atomicity and errors as `stage` and `StagedWrite.commit`. */
export async function write(
  table: TableContext,
  rows: RowSource,
  verb: Verb,
  options: WriteOptions = {},
): Promise<WriteResult> {
  const state = await stateToWrite(table);
  if (isReplay(state, options.txn)) {
    return { status: 'skipped', version: state.version, added: NOTHING, removed: NOTHING, attempts: 0 };
  }
  const staged = await stageOn(table, state, rows, verb, options);
  if (verb === 'overwritePartitions' && options.txn && staged.files.length === 0) {
    throw new TableError(
      'INVALID_INPUT',
      'overwritePartitions learns its target from its rows, so an empty input with a token would record as done what was not. Leave out the token or name the target.',
      { url: table.url, txn: options.txn },
    );
  }
  return staged.commit();
}

/** Stages the rows of a table whose schema is that of `state`. */
export async function stageFiles(
  table: TableContext,
  state: Pick<State, 'schema' | 'metadata' | 'protocol'>,
  rows: RowSource,
  signal?: AbortSignal,
): Promise<StagedFile[]> {
  const properties = tableProperties(state.metadata.configuration);
  return stageRows(table.store, table.ctx, await table.pool(), batchesOf(rows, state.schema), {
    schema: state.schema,
    mapping: columnMappingMode(state.metadata, state.protocol),
    partitionColumns: state.metadata.partitionColumns,
    targetFileSize: properties.targetFileSize,
    stats: properties.dataSkipping,
    signal,
  });
}

async function stageOn(
  table: TableContext,
  state: State,
  rows: RowSource,
  verb: Verb,
  options: WriteOptions,
): Promise<StagedWrite> {
  assertVerb(table.url, verb, state.metadata.partitionColumns);
  const files = await stageFiles(table, state, rows, options.signal);
  return new StagedWrite(table, state, verb, files, options);
}

/** A recent state will do to stage against: a commit on a newer one checks that the schema is the same. */
async function stateToWrite(table: TableContext): Promise<State> {
  const state = await recentState(table);
  assertWritable(state.protocol, state.metadata, table.url);
  return state;
}
