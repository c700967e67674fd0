import type { RecordBatch } from 'apache-arrow';
import { isTableError, TableError } from '../errors.js';
import { parseCommit } from '../log/action-lines.js';
import type { MetadataAction } from '../log/actions.js';
import { timesOf } from '../log/commit-dates.js';
import { hasInCommitTimestamp } from '../log/commit-time.js';
import { readLogFile } from '../log/limits.js';
import { type CommitFile, type LogListing, listLog } from '../log/listing.js';
import type { Context } from '../runtime/context.js';
import { columnMappingMode } from '../schema/mapping.js';
import { parseSchema } from '../schema/schema-json.js';
import type { StructField, StructType } from '../schema/types.js';
import { loadState } from '../snapshot/load.js';
import type { State } from '../snapshot/state.js';
import type { Store } from '../store/store.js';
import { mapAhead } from './ahead.js';
import { changedFiles } from './change-files.js';
import { schemaConflict } from './change-schema.js';
import { plannedColumn, type ScanFile, type ScanPlan } from './plan.js';
import { type ReadOptions, scanBatches } from './read.js';

export interface ChangeOptions extends ReadOptions {
  /** The first and the last version, both included; the last is the newest by default. */
  readonly from: number;
  readonly to?: number;
  readonly allowExternalFiles?: boolean;
  readonly legacyTimestampZone?: string;
}

/** The row-level changes of a range of versions (protocol: Add CDC File), planned and not yet read. */
export interface ChangeFeed {
  readonly from: number;
  readonly to: number;
  /** The table's columns at version `to`, then `_change_type`, `_commit_version`, `_commit_timestamp`. */
  readonly schema: StructType;
  readonly plan: ScanPlan;
  /** Errors as `scanBatches`: a file that is gone is an error, never fewer changes. */
  batches(): AsyncGenerator<RecordBatch, void, undefined>;
}

const ENABLED = 'delta.enableChangeDataFeed';
/** Commits read at once. */
const AHEAD = 16;
/** So many versions before a new one cannot move its time: they would have to be of one second. */
const DATED_FROM = 1_000;

const CHANGE_COLUMNS: readonly StructField[] = [
  { name: '_change_type', dataType: { type: 'string' }, nullable: false, metadata: {} },
  { name: '_commit_version', dataType: { type: 'long' }, nullable: false, metadata: {} },
  { name: '_commit_timestamp', dataType: { type: 'timestamp' }, nullable: false, metadata: {} },
];

/**
 * Plans the change data feed of versions `from` to `to`: of each version its `cdc` files, or, where it has none, the rows of its added and removed files.
 * Throws `INVALID_INPUT` for a range that is none, `VERSION_NOT_FOUND` for versions the table does not have, `FEED_UNAVAILABLE` where a version of the range
 * did not record changes, its commit was cleaned up, or its schema cannot be read as that of `to`. With `known`, the state of the one version asked for, neither
 * a state nor the whole log is looked at.
 */
export async function readChanges(
  store: Store,
  ctx: Context,
  options: ChangeOptions,
  known?: State,
): Promise<ChangeFeed> {
  const { from, signal } = options;
  const isVersion = (version: number) => Number.isSafeInteger(version) && version >= 0;
  if (!isVersion(from) || (options.to !== undefined && (!isVersion(options.to) || options.to < from))) {
    throw new TableError(
      'INVALID_INPUT',
      `Versions ${from} to ${options.to ?? 'the newest'} are not a range.`,
      {
        from,
        to: options.to,
      },
    );
  }
  const last = known ?? (await loadState(store, ctx, { version: options.to, signal }));
  const to = last.version;
  if (from > to) {
    throw new TableError('VERSION_NOT_FOUND', `The table has no version ${from}; its newest is ${to}.`, {
      from,
      to,
    });
  }
  const listing = await listLog(store, { from: known ? Math.max(0, from - DATED_FROM) : 0, to, signal });
  const first = known ?? (await startOfRange(store, ctx, from, signal));
  assertRecorded(first.metadata, from, last);
  const times = timesOf(listing);
  const files: ScanFile[] = [];
  let metadata = first.metadata;
  const commits = mapAhead(
    commitsOf(store, listing, from, to),
    (commit) => readCommit(store, commit, signal),
    {
      count: AHEAD,
    },
  );
  for await (const { version, actions } of commits) {
    for (const action of actions) if ('metaData' in action) metadata = action.metaData;
    assertRecorded(metadata, version, last);
    const info = actions.find((action) => 'commitInfo' in action);
    const inCommit = info && 'commitInfo' in info ? info.commitInfo.inCommitTimestamp : undefined;
    const time =
      inCommit !== undefined && hasInCommitTimestamp(last.metadata, version)
        ? inCommit
        : (times.get(version) ?? 0);
    for (const file of changedFiles(actions, version, time, last.metadata)) files.push(file);
  }
  const plan = planOf(last, files, options);
  return { from, to, schema: plan.schema, plan, batches: () => scanBatches(store, ctx, plan, options) };
}

function planOf(state: State, files: readonly ScanFile[], options: ChangeOptions): ScanPlan {
  const mapping = columnMappingMode(state.metadata, state.protocol);
  const data = state.schema.fields.map((field) => plannedColumn(state, mapping, field));
  const changes = CHANGE_COLUMNS.map((field) => ({ from: 'change', field }) as const);
  return {
    version: state.version,
    schema: { type: 'struct', fields: [...state.schema.fields, ...CHANGE_COLUMNS] },
    columns: [...data, ...changes],
    readsAllColumns: true,
    mapping,
    files,
    filesTotal: files.length,
    where: undefined,
    limit: undefined,
    allowExternalFiles: options.allowExternalFiles === true,
    legacyTimestampZone: options.legacyTimestampZone,
  };
}

async function startOfRange(store: Store, ctx: Context, from: number, signal?: AbortSignal): Promise<State> {
  try {
    return await loadState(store, ctx, { version: from, signal });
  } catch (error) {
    if (!isTableError(error, 'VERSION_NOT_FOUND')) throw error;
    throw unavailable(
      store,
      `version ${from} can no longer be loaded, because the log was cleaned up`,
      from,
      error,
    );
  }
}

function* commitsOf(store: Store, listing: LogListing, from: number, to: number): Generator<CommitFile> {
  for (let version = from; version <= to; version++) {
    const commit = listing.commits.get(version);
    if (commit === undefined)
      throw unavailable(store, `the commit of version ${version} was cleaned up`, version);
    yield commit;
  }
}

async function readCommit(store: Store, commit: CommitFile, signal?: AbortSignal) {
  const { version, key } = commit;
  return { version, actions: parseCommit(await readLogFile(store, commit, signal), { version, file: key }) };
}

function assertRecorded(metadata: MetadataAction, version: number, last: State): void {
  if (metadata.configuration[ENABLED]?.toLowerCase() !== 'true') {
    throw new TableError(
      'FEED_UNAVAILABLE',
      `The table did not record changes at version ${version} (${ENABLED}). Ask for versions after it was switched on.`,
      { version, property: ENABLED },
    );
  }
  if (metadata.schemaString === last.metadata.schemaString) return;
  const conflict = schemaConflict(
    parseSchema(metadata.schemaString),
    last.schema,
    columnMappingMode(last.metadata),
  );
  if (conflict === undefined) return;
  throw new TableError(
    'FEED_UNAVAILABLE',
    `The changes of version ${version} cannot be given with the schema of version ${last.version}: ${conflict}. Ask for a range that ends before the schema changed.`,
    { version, to: last.version },
  );
}

function unavailable(store: Store, why: string, version: number, cause?: unknown): TableError {
  return new TableError(
    'FEED_UNAVAILABLE',
    `The changes of ${store.url} cannot be given: ${why}. Ask for later versions.`,
    { url: store.url, version },
    cause,
  );
}
