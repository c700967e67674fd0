import type { CommitPlan } from '../commit/transaction.js';
import { TableError } from '../errors.js';
import type { Action, AddAction, DeletionVector, RemoveAction } from '../log/actions.js';
import { parseJson, stringifyJson } from '../log/json.js';
import { tableProperties } from '../log/properties.js';
import type { JsonObject, StructType } from '../schema/types.js';
import type { State } from '../snapshot/state.js';
import type { StagedFile } from '../stage/staged.js';
import type { RowCounts } from './effects.js';

/** Files, rows and bytes; `rows` is undefined where the log does not say. */
export interface Amount {
  readonly files: number;
  readonly rows: number | undefined;
  readonly bytes: number;
}

/** An idempotency token: a write is skipped when the table has recorded this version of the application, or a later one. */
export interface Token {
  readonly appId: string;
  readonly version: number;
  /**
   * Says that the write stands for all versions behind this one up to `version`: where the table has recorded some of them, but not all, it is refused
   * (`COMMIT_CONFLICT`), since another writer of the same application is at work.
   */
  readonly after?: number;
}

/** How much a write may touch at the most; evaluated at every attempt. */
export interface Guards {
  readonly maxPartitions?: number;
  readonly maxFilesRemoved?: number;
  readonly maxRowsRemoved?: number;
}

/** What a commit of a staged write would do to the version it was planned on. Plain data. */
export interface WritePlan {
  /** The version it was planned on. */
  readonly version: number;
  readonly added: Amount;
  /** Files that would go, with the rows they hold. */
  readonly removed: Amount;
  /** Files of which some rows would go or change: written again without them (these are among `removed` too) or given a larger deletion vector. */
  readonly rewritten: Amount;
  readonly rows: RowCounts;
  /** The paths of the files that would go or be given a deletion vector, as in the log. */
  readonly removedPaths: readonly string[];
  /** The partitions that would be written, changed or replaced, by physical column name. */
  readonly partitions: readonly Readonly<Record<string, string | null>>[];
  /** What the table's columns would be, where the commit would change them. */
  readonly schema?: StructType;
}

/** Staged data files as add actions. */
export function addActions(files: readonly StagedFile[]): Action[] {
  return files.map((file) => ({
    add: {
      path: file.path,
      partitionValues: file.partitionValues,
      size: file.size,
      modificationTime: file.modificationTime,
      dataChange: true,
      stats: file.stats,
    },
  }));
}

/** The remove action of a live file, with everything that vacuum, restore and the change feed want to know of it (protocol: Remove File). */
export function removeAction(add: AddAction, deletionTimestamp: number): { remove: RemoveAction } {
  return {
    remove: {
      path: add.path,
      deletionTimestamp,
      dataChange: true,
      extendedFileMetadata: true,
      partitionValues: add.partitionValues,
      size: add.size,
      ...present('stats', add.stats),
      ...present('tags', add.tags),
      ...present('deletionVector', add.deletionVector),
      ...present('baseRowId', add.baseRowId),
      ...present('defaultRowCommitVersion', add.defaultRowCommitVersion),
    },
  };
}

function present<K extends string, V>(
  key: K,
  value: V | null | undefined,
): Record<K, V> | Record<never, never> {
  return value === null || value === undefined ? {} : ({ [key]: value } as Record<K, V>);
}

/** Staged change data files as actions (protocol: Add CDC File). */
export function cdcActions(files: readonly StagedFile[]): Action[] {
  return files.map(({ path, partitionValues, size }) => ({
    cdc: { path, partitionValues, size, dataChange: false },
  }));
}

/**
 * A live file with another deletion vector, as the removal of the old logical file and the addition of the new one. Statistics stay those of all rows, as
 * bounds that may be wide (protocol: Per-file Statistics, tightBounds).
 */
export function vectorActions(add: AddAction, vector: DeletionVector, deletionTimestamp: number): Action[] {
  const stats = add.stats ? { stats: withWideBounds(add.stats) } : {};
  return [
    removeAction(add, deletionTimestamp),
    { add: { ...add, ...stats, deletionVector: vector, dataChange: true } },
  ];
}

function withWideBounds(stats: string): string {
  return stringifyJson({ ...(parseJson(stats) as JsonObject), tightBounds: false });
}

/** The sum of staged files. */
export function stagedAmount(files: readonly StagedFile[]): Amount {
  return {
    files: files.length,
    rows: files.reduce((sum, file) => sum + file.rows, 0),
    bytes: files.reduce((sum, file) => sum + file.size, 0),
  };
}

/** The sum of live files; their statistics must have been loaded. */
export function liveAmount(state: State, ids: readonly number[]): Amount {
  let rows: number | undefined = 0;
  let bytes = 0;
  for (const id of ids) {
    bytes += state.files.size(id);
    const physical = state.files.numRecords(id);
    const deleted = state.files.hasDeletionVector(id)
      ? (state.files.add(id).deletionVector?.cardinality ?? 0)
      : 0;
    rows = rows === undefined || physical === undefined ? undefined : rows + physical - deleted;
  }
  return { files: ids.length, rows, bytes };
}

/** Throws `APPEND_ONLY` for a write that removes rows from a table whose property forbids it. */
export function assertMayRemove(url: string, state: State, plan: WritePlan): void {
  const files = plan.removedPaths.length;
  if (files === 0 || !tableProperties(state.metadata.configuration).appendOnly) return;
  throw new TableError(
    'APPEND_ONLY',
    `${url} has the property delta.appendOnly = true, so rows can be added but not replaced. Append instead, or unset the property.`,
    { url, version: state.version, filesRemoved: files },
  );
}

/** Throws `GUARD_REFUSED` where a plan goes beyond what its caller allowed. */
export function assertWithin(guards: Guards, plan: WritePlan): void {
  const amounts = [
    ['maxPartitions', guards.maxPartitions, plan.partitions.length],
    ['maxFilesRemoved', guards.maxFilesRemoved, plan.removed.files],
    ['maxRowsRemoved', guards.maxRowsRemoved, plan.rows.deleted ?? Number.POSITIVE_INFINITY],
  ] as const;
  for (const [guard, allowed, planned] of amounts) {
    if (allowed === undefined || planned <= allowed) continue;
    const amount = Number.isFinite(planned) ? String(planned) : 'an unknown number';
    throw new TableError(
      'GUARD_REFUSED',
      `The write would touch ${amount} where ${guard} allows ${allowed}. Nothing was committed; raise ${guard} if that is intended.`,
      { guard, allowed, planned: amount, version: plan.version },
    );
  }
}

/** The partitions of these files, each once. */
export function distinctPartitions(
  files: readonly Pick<StagedFile, 'partitionValues'>[],
): StagedFile['partitionValues'][] {
  const seen = new Map<string, StagedFile['partitionValues']>();
  for (const { partitionValues } of files) {
    if (Object.keys(partitionValues).length > 0)
      seen.set(JSON.stringify(Object.entries(partitionValues)), partitionValues);
  }
  return [...seen.values()];
}

/** What a write that only adds files and removes whole ones does. */
export function plainPlan(
  state: State,
  files: readonly StagedFile[],
  removed: Amount,
  removedPaths: readonly string[],
): WritePlan {
  const added = stagedAmount(files);
  return {
    version: state.version,
    added,
    removed,
    rewritten: NOTHING,
    rows: { inserted: added.rows ?? 0, updated: 0, deleted: removed.rows, copied: 0 },
    removedPaths,
    partitions: distinctPartitions(files),
  };
}

export const NOTHING: Amount = { files: 0, rows: 0, bytes: 0 };
export const NO_ROWS: RowCounts = { inserted: 0, updated: 0, deleted: 0, copied: 0 };

/** The record of a token (protocol: Transaction Identifiers); `lastUpdated` is milliseconds since the Unix epoch. */
export function tokenActions(token: Token | undefined, lastUpdated: number): Action[] {
  return token ? [{ txn: { appId: token.appId, version: token.version, lastUpdated } }] : [];
}

/** The commit of a `WRITE`, as Spark names it and counts it. */
export function writeCommit(
  plan: WritePlan,
  actions: readonly Action[],
  parameters: JsonObject,
  isBlindAppend: boolean,
): CommitPlan {
  const removed: Record<string, number> =
    plan.removed.files > 0
      ? { numRemovedFiles: plan.removed.files, numRemovedBytes: plan.removed.bytes }
      : {};
  const counts: Record<string, number> = {
    ...(plan.rewritten.files > 0 ? { numCopiedRows: plan.rows.copied } : {}),
    ...(plan.rows.deleted ? { numDeletedRows: plan.rows.deleted } : {}),
  };
  return {
    operation: 'WRITE',
    parameters,
    isBlindAppend,
    metrics: {
      numFiles: plan.added.files,
      numOutputRows: plan.added.rows ?? 0,
      numOutputBytes: plan.added.bytes,
      ...removed,
      ...counts,
    },
    actions,
  };
}
