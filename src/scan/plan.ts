import { TableError } from '../errors.js';
import type { DeletionVector } from '../log/actions.js';
import type { MappingMode } from '../schema/mapping.js';
import { columnMappingMode, findField, physicalName } from '../schema/mapping.js';
import type { Datum, StructField, StructType } from '../schema/types.js';
import type { State } from '../snapshot/state.js';
import { type BoundPredicate, bindPredicate } from './bind.js';
import type { Predicate } from './predicate.js';
import { classifyFiles, pruneFiles } from './prune.js';
import { parsePredicate } from './sql.js';

/** A data file to be read. Plain data, as the log has it. */
export interface ScanFile {
  /** As in the log: a URI reference. */
  readonly path: string;
  /** Bytes. */
  readonly size: number;
  /** By physical name. */
  readonly partitionValues: Readonly<Record<string, string | null>>;
  /** Rows that are not given. */
  readonly deletionVector?: DeletionVector | null;
  /** Only rows in it are given; the change feed's view of a vector. */
  readonly onlyRows?: DeletionVector;
  /** Values of `change` columns that are the same for the whole file. */
  readonly constants?: Readonly<Record<string, Datum>>;
  readonly baseRowId?: bigint | null;
  readonly defaultRowCommitVersion?: bigint | null;
}

/** Where the values of a column come from. `physical` keys `partitionValues`; `stored` names a hidden column that data files may have. */
export type PlannedColumn =
  | { readonly from: 'file'; readonly field: StructField }
  | { readonly from: 'partition'; readonly field: StructField; readonly physical: string }
  /** A constant of the file, or, where it has none of that name, a column of the file that no mapping renames. */
  | { readonly from: 'change'; readonly field: StructField }
  /** A long: where in its file a row stands, from 0. */
  | { readonly from: 'position'; readonly field: StructField }
  | {
      readonly from: 'rowId' | 'rowCommitVersion';
      readonly field: StructField;
      readonly stored: string | undefined;
    };

/** A read, decided from the log alone. Plain data. */
export interface ScanPlan {
  readonly version: number;
  /** What is given: the table's columns, or those chosen, in that order. */
  readonly schema: StructType;
  /** The columns of `schema`, in its order, then those that only `where` needs. */
  readonly columns: readonly PlannedColumn[];
  /** True where nearly all bytes of the files are needed, so that it pays to fetch files whole. */
  readonly readsAllColumns: boolean;
  readonly mapping: MappingMode;
  readonly files: readonly ScanFile[];
  /** Live files of the version; those not in `files` cannot hold a row that `where` wants. */
  readonly filesTotal: number;
  /** What is left to be checked row by row; undefined where every row of `files` is wanted. */
  readonly where: Predicate | undefined;
  /** True where `where` leaves out row groups and pages alone: other rows may be given too. */
  readonly isLax?: boolean;
  readonly limit: number | undefined;
  readonly allowExternalFiles: boolean;
  readonly legacyTimestampZone: string | undefined;
}

export interface PlanOptions {
  readonly columns?: readonly string[];
  readonly where?: string | Predicate;
  readonly limit?: number;
  readonly allowExternalFiles?: boolean;
  readonly legacyTimestampZone?: string;
  /** Adds `_row_id` and `_row_commit_version` (protocol: Row Tracking). */
  readonly rowIds?: boolean;
  readonly signal?: AbortSignal;
}

/**
 * Decides what a scan reads, from the log alone: columns, files that may hold wanted rows, what is left to filter. Nothing of the table's data is read.
 * Throws `UNKNOWN_COLUMN`, `INVALID_PREDICATE`, `INVALID_INPUT` for a limit that is no count.
 */
export async function planScan(state: State, options: PlanOptions = {}): Promise<ScanPlan> {
  const { limit } = options;
  if (limit !== undefined && !(Number.isSafeInteger(limit) && limit >= 0)) {
    throw new TableError('INVALID_INPUT', `A limit is a whole number of rows, 0 or more, not ${limit}.`, {
      limit,
    });
  }
  const mapping = columnMappingMode(state.metadata, state.protocol);
  const given = chosenFields(state, options.columns);
  const where = options.where === undefined ? undefined : bindPredicate(options.where, state.schema);
  const { ids, exact } = await keptFiles(state, where, options);
  const needed = new Set(exact ? [] : where?.columns.map(({ path }) => path[0]!));
  const hidden = state.schema.fields.filter((field) => needed.has(field.name) && !given.includes(field));
  const plannedGiven = [
    ...given.map((field) => plannedColumn(state, mapping, field)),
    ...(options.rowIds ? rowIdColumns(state) : []),
  ];
  const isWhole = options.columns === undefined && options.rowIds !== true;
  return {
    version: state.version,
    schema: isWhole ? state.schema : { type: 'struct', fields: plannedGiven.map(({ field }) => field) },
    columns: [...plannedGiven, ...hidden.map((field) => plannedColumn(state, mapping, field))],
    readsAllColumns: given.length + hidden.length === state.schema.fields.length,
    mapping,
    files: await planFiles(state, ids, options),
    filesTotal: state.files.count,
    where: exact ? undefined : predicateOf(options.where),
    limit,
    allowExternalFiles: options.allowExternalFiles === true,
    legacyTimestampZone: options.legacyTimestampZone,
  };
}

const ROW_ID = 'delta.rowTracking.materializedRowIdColumnName';
const ROW_COMMIT_VERSION = 'delta.rowTracking.materializedRowCommitVersionColumnName';

function chosenFields(state: State, columns: readonly string[] | undefined): StructField[] {
  if (columns === undefined) return [...state.schema.fields];
  const chosen = columns.map((name) => {
    const field = findField(state.schema, name);
    if (field !== undefined) return field;
    const known = state.schema.fields.map((candidate) => candidate.name);
    throw new TableError(
      'UNKNOWN_COLUMN',
      `The table has no column '${name}'. It has: ${known.join(', ')}.`,
      {
        column: name,
        columns: known,
      },
    );
  });
  const twice = chosen.find((field, i) => chosen.indexOf(field) !== i);
  if (twice !== undefined) {
    throw new TableError('INVALID_INPUT', `The column '${twice.name}' is asked for twice.`, {
      column: twice.name,
    });
  }
  return chosen;
}

/** Where the values of a column of the table come from. */
export function plannedColumn(state: State, mapping: MappingMode, field: StructField): PlannedColumn {
  if (!state.metadata.partitionColumns.includes(field.name)) return { from: 'file', field };
  return { from: 'partition', field, physical: physicalName(field, mapping) };
}

/** The columns of stable row ids and row commit versions (protocol: Reader Requirements for Row Tracking). */
export function rowIdColumns(state: State): PlannedColumn[] {
  const { configuration } = state.metadata;
  const field = (name: string): StructField => ({
    name,
    dataType: { type: 'long' },
    nullable: true,
    metadata: {},
  });
  return [
    { from: 'rowId', field: field('_row_id'), stored: configuration[ROW_ID] },
    {
      from: 'rowCommitVersion',
      field: field('_row_commit_version'),
      stored: configuration[ROW_COMMIT_VERSION],
    },
  ];
}

function predicateOf(where: string | Predicate | undefined): Predicate | undefined {
  return typeof where === 'string' ? parsePredicate(where) : where;
}

/** The files that may hold wanted rows; `exact` when all rows of all of them are wanted. */
async function keptFiles(
  state: State,
  where: BoundPredicate | undefined,
  options: PlanOptions,
): Promise<{ ids: Int32Array; exact: boolean }> {
  if (where === undefined) return { ids: state.files.ids(), exact: true };
  const partitions = new Set(state.metadata.partitionColumns);
  if (!where.columns.every(({ path }) => path.length === 1 && partitions.has(path[0]!))) {
    return { ids: (await pruneFiles(state, where, options)).ids, exact: false };
  }
  const { all, some } = await classifyFiles(state, where, options);
  if (some.length === 0) return { ids: all, exact: true };
  return { ids: Int32Array.from([...all, ...some]).sort(), exact: false };
}

/**
 * The files of a plan, by their ids. Only what reading needs is asked of the file set: whole actions where there are deletion vectors or row ids are wanted,
 * else columns alone.
 */
export async function planFiles(
  state: State,
  ids: Int32Array,
  options: Pick<PlanOptions, 'rowIds' | 'signal'> = {},
): Promise<ScanFile[]> {
  const { files } = state;
  const withRowIds = options.rowIds === true;
  const needsActions = withRowIds || ids.some((id) => files.hasDeletionVector(id));
  if (needsActions) await files.load({ actions: true }, { signal: options.signal });
  const mapping = columnMappingMode(state.metadata, state.protocol);
  const partitions = state.metadata.partitionColumns.map((name) => {
    const physical = physicalName(findField(state.schema, name)!, mapping);
    return { physical, column: files.partition(physical) };
  });
  return Array.from(ids, (id): ScanFile => {
    const values = partitions.map(
      ({ physical, column }) => [physical, column?.values[column.codes[id]!] ?? null] as const,
    );
    const file = { path: files.path(id), size: files.size(id), partitionValues: Object.fromEntries(values) };
    if (!withRowIds && !files.hasDeletionVector(id)) return file;
    const { deletionVector, baseRowId, defaultRowCommitVersion } = files.add(id);
    return {
      ...file,
      deletionVector,
      baseRowId: bigintOf(baseRowId),
      defaultRowCommitVersion: bigintOf(defaultRowCommitVersion),
    };
  });
}

function bigintOf(value: number | bigint | null | undefined): bigint | null {
  return value === null || value === undefined ? null : BigInt(value);
}
