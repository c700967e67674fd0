import { columnMappingMode, physicalName } from '../schema/mapping.js';
import { parsePartitionValue } from '../schema/partition-value.js';
import type { Datum } from '../schema/types.js';
import type { FileSet, State } from '../snapshot/state.js';
import type { RequestOptions } from '../store/store.js';
import type { BoundColumn, BoundExpression, BoundPredicate } from './bind-tree.js';
import { columnsOf } from './bind-tree.js';
import { bounds, type ColumnBounds } from './prune-bounds.js';
import { type Knowledge, MAY_BE_TRUE, mayBeTrue, outcomeSets, unitsWhere, without } from './prune-sets.js';

/** The part of a state that decides which files a predicate is about. */
export type PruneState = Pick<State, 'metadata' | 'schema'> &
  Partial<Pick<State, 'protocol'>> & {
    readonly files: Pick<FileSet, 'load' | 'ids' | 'partition' | 'statistics' | 'numRecords'>;
  };

export interface PruneOptions extends RequestOptions {
  /** The zone of timestamp partition values that have none; UTC by default. */
  readonly legacyTimestampZone?: string;
  /** Judge by partition values alone, and read no statistics. */
  readonly partitionsOnly?: boolean;
}

/** Which files may hold a row that a predicate is TRUE for. */
export interface PrunedFiles {
  /** Ascending. */
  readonly ids: Int32Array;
  readonly total: number;
  readonly skippedByPartition: number;
  readonly skippedByStatistics: number;
}

/**
 * Finds the live files that may hold a row for which the predicate is TRUE; no file that holds one is left out. Partition values come first, each distinct one
 * judged once; statistics are loaded only if they can matter for what is left. Throws what `FileSet.load` throws.
 */
export async function pruneFiles(
  state: PruneState,
  bound: BoundPredicate,
  options: PruneOptions = {},
): Promise<PrunedFiles> {
  const ids = state.files.ids();
  const byPartition = mayBeTrue(bound.root, ids, partitionKnowledge(state, options));
  const kept = (await statisticsMatter(state, bound, byPartition, options))
    ? mayBeTrue(bound.root, byPartition, fullKnowledge(state, options))
    : byPartition;
  return {
    ids: kept,
    total: ids.length,
    skippedByPartition: ids.length - byPartition.length,
    skippedByStatistics: byPartition.length - kept.length,
  };
}

/** The live files by what a predicate is for their rows, ascending. */
export interface ClassifiedFiles {
  /** TRUE for every row, those marked as deleted included. */
  readonly all: Int32Array;
  /** Perhaps TRUE for some rows and not for others. */
  readonly some: Int32Array;
  /** TRUE for no row. */
  readonly none: Int32Array;
}

/** Tells files whose rows provably all satisfy a predicate from those that may have such rows and those that have none. Loads and throws as `pruneFiles`. */
export async function classifyFiles(
  state: PruneState,
  bound: BoundPredicate,
  options: PruneOptions = {},
): Promise<ClassifiedFiles> {
  const ids = state.files.ids();
  const partitions = split(bound, ids, partitionKnowledge(state, options));
  if (!(await statisticsMatter(state, bound, partitions.some, options))) return partitions;
  const rest = split(bound, partitions.some, fullKnowledge(state, options));
  return { all: merged(partitions.all, rest.all), some: rest.some, none: merged(partitions.none, rest.none) };
}

/** Why a file is read or not. */
export interface FileVerdict {
  readonly id: number;
  readonly kept: boolean;
  /** What left it out. */
  readonly skippedBy?: 'partition' | 'statistics';
  /** The part of the predicate that cannot be TRUE in the file, by the columns that it reads, and what is known of them. */
  readonly evidence?: readonly {
    readonly column: string;
    readonly value?: string;
    readonly min?: string;
    readonly max?: string;
    readonly nullCount?: number;
  }[];
}

/** A verdict on every live file, in the order of ids, for people. Loads and throws as `pruneFiles`. */
export async function explainFiles(
  state: PruneState,
  bound: BoundPredicate,
  options: PruneOptions = {},
): Promise<FileVerdict[]> {
  const { ids: kept } = await pruneFiles(state, bound, options);
  const parts = bound.root.kind === 'and' ? bound.root.operands : [bound.root];
  const skipped = new Map<number, { by: 'partition' | 'statistics'; part: BoundExpression }>();
  const judgeBy = (by: 'partition' | 'statistics', known: Knowledge): void => {
    for (const part of parts) {
      const left = state.files.ids().filter((id) => !skipped.has(id));
      const may = new Set(mayBeTrue(part, left, known));
      for (const id of left) if (!may.has(id)) skipped.set(id, { by, part });
    }
  };
  judgeBy('partition', partitionKnowledge(state, options));
  if (skipped.size < state.files.ids().length - kept.length)
    judgeBy('statistics', fullKnowledge(state, options));
  const keptIds = new Set(kept);
  return Array.from(state.files.ids(), (id): FileVerdict => {
    if (keptIds.has(id)) return { id, kept: true };
    // Parts that are only together impossible have no single witness.
    const { by, part } = skipped.get(id) ?? { by: 'statistics', part: bound.root };
    return {
      id,
      kept: false,
      skippedBy: by,
      evidence: columnsOf(part).map((column) => evidenceOf(state, column, id)),
    };
  });
}

function evidenceOf(
  state: PruneState,
  column: BoundColumn,
  id: number,
): NonNullable<FileVerdict['evidence']>[number] {
  const name = column.path.join('.');
  const path = physicalPath(state, column);
  const partition = path.length === 1 ? state.files.partition(path[0]!) : undefined;
  if (partition !== undefined)
    return { column: name, value: partition.values[partition.codes[id]!] ?? 'NULL' };
  const statistics = state.files.statistics(path);
  const [min, max, nullCount] = [statistics.min(id), statistics.max(id), statistics.nullCount(id)];
  return {
    column: name,
    ...(min === undefined ? {} : { min }),
    ...(max === undefined ? {} : { max }),
    ...(nullCount === undefined ? {} : { nullCount }),
  };
}

function split(bound: BoundPredicate, ids: Int32Array, known: Knowledge): ClassifiedFiles {
  const kept = mayBeTrue(bound.root, ids, known);
  const sets = outcomeSets(bound.root, kept, known);
  return {
    all: unitsWhere(kept, (i) => sets[i] === MAY_BE_TRUE),
    some: unitsWhere(kept, (i) => sets[i] !== MAY_BE_TRUE),
    none: without(ids, kept),
  };
}

function merged(left: Int32Array, right: Int32Array): Int32Array {
  if (left.length === 0) return right;
  const all = new Int32Array(left.length + right.length);
  all.set(left);
  all.set(right, left.length);
  return right.length === 0 ? left : all.sort();
}

/** Loads the statistics if the predicate reads a column that only they know of. */
async function statisticsMatter(
  state: PruneState,
  bound: BoundPredicate,
  left: Int32Array,
  options: PruneOptions,
): Promise<boolean> {
  if (options.partitionsOnly === true || left.length === 0) return false;
  if (bound.columns.every((column) => isPartition(state, column))) return false;
  await state.files.load({ statistics: true }, options);
  return true;
}

function physicalPath(state: PruneState, column: BoundColumn): string[] {
  const mode = columnMappingMode(state.metadata, state.protocol);
  return column.fields.map((field) => physicalName(field, mode));
}

function isPartition(state: PruneState, column: BoundColumn): boolean {
  const path = physicalPath(state, column);
  return path.length === 1 && state.files.partition(path[0]!) !== undefined;
}

function partitionKnowledge(state: PruneState, options: PruneOptions): Knowledge {
  const constants = new Map<string, ReturnType<Knowledge['constant']>>();
  const constant: Knowledge['constant'] = (column) => {
    if (!constants.has(column.key)) constants.set(column.key, partitionValues(state, column, options));
    return constants.get(column.key);
  };
  return { constant, bounds: () => undefined, rows: () => undefined };
}

function fullKnowledge(state: PruneState, options: PruneOptions): Knowledge {
  const known = new Map<string, ColumnBounds>();
  const boundsOfColumn = (column: BoundColumn): ColumnBounds => {
    const found =
      known.get(column.key) ?? bounds(state.files.statistics(physicalPath(state, column)), column);
    known.set(column.key, found);
    return found;
  };
  return {
    ...partitionKnowledge(state, options),
    bounds: boundsOfColumn,
    rows: (id) => state.files.numRecords(id),
  };
}

function partitionValues(
  state: PruneState,
  column: BoundColumn,
  options: PruneOptions,
): ReturnType<Knowledge['constant']> {
  const path = physicalPath(state, column);
  const partition = path.length === 1 ? state.files.partition(path[0]!) : undefined;
  if (partition === undefined) return undefined;
  const values = partition.values.map((raw) =>
    readable(() => parsePartitionValue(column.type, raw, options)),
  );
  return { codes: partition.codes, values };
}

/** A value that cannot be read keeps its files, and reading them says what is wrong. */
function readable(read: () => Datum): Datum | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}
