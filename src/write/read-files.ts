import type { RecordBatch } from 'apache-arrow';
import { tracksRows } from '../commit/row-ids.js';
import type { TableContext } from '../runtime/table-context.js';
import {
  type PlannedColumn,
  planFiles,
  plannedColumn,
  rowIdColumns,
  type ScanFile,
  type ScanPlan,
} from '../scan/plan.js';
import type { Predicate } from '../scan/predicate.js';
import { scanFiles } from '../scan/read.js';
import { columnMappingMode } from '../schema/mapping.js';
import type { StructField, StructType } from '../schema/types.js';
import type { State } from '../snapshot/state.js';
import { vectorId } from '../snapshot/vector-id.js';
import { type Table, tableOf } from './columns.js';

export interface FileReadOptions {
  /** Top-level columns, in the order of `fields`. */
  readonly fields: readonly StructField[];
  /** Only rows for which it is TRUE; bound against the table's schema. */
  readonly where?: Predicate;
  /** Rows for which it is not TRUE may be given too: it only saves reading where statistics tell. */
  readonly isLax?: boolean;
  /** Adds two columns: the rows' stable ids and commit versions. */
  readonly rowIds?: boolean;
  /** The top-level columns that `where` reads. */
  readonly whereColumns?: readonly string[];
  readonly signal?: AbortSignal;
}

/** Rows of one file: the columns asked for, and where each row stands in its file. */
export interface FileRows {
  readonly file: ScanFile;
  readonly table: Table;
  readonly positions: Uint32Array;
}

/** Reads live rows of data files with their positions, file after file, in ascending positions. Errors as `scanBatches`. */
export async function* readFileRows(
  table: TableContext,
  state: State,
  files: readonly ScanFile[],
  options: FileReadOptions,
): AsyncGenerator<FileRows> {
  if (files.length === 0) return;
  const position: StructField = {
    name: unusedName(state.schema),
    dataType: { type: 'long' },
    nullable: false,
    metadata: {},
  };
  const ids = options.rowIds ? rowIdColumns(state) : [];
  const fields = [...options.fields, ...ids.map(({ field }) => field)];
  const schema: StructType = { type: 'struct', fields: [...fields, position] };
  const plan = filePlan(state, files, schema, options, [...ids, { from: 'position', field: position }]);
  const reading = { signal: options.signal, pool: table.pool };
  const asked: StructType = { type: 'struct', fields };
  for await (const { file, batch } of scanFiles(table.store, table.ctx, plan, reading)) {
    yield { file, table: tableOf(batch, asked), positions: positionsOf(batch, fields.length) };
  }
}

/** Reads whole rows of files that no snapshot mentions yet. */
export async function* readStagedRows(
  table: TableContext,
  state: State,
  files: readonly ScanFile[],
  signal?: AbortSignal,
): AsyncGenerator<RecordBatch> {
  if (files.length === 0) return;
  const plan = filePlan(state, files, state.schema, { fields: state.schema.fields }, []);
  for await (const { batch } of scanFiles(table.store, table.ctx, plan, { signal, pool: table.pool }))
    yield batch;
}

/** The live files of ids as scans want them. */
export function filesOf(state: State, ids: Int32Array, signal?: AbortSignal): Promise<ScanFile[]> {
  return planFiles(state, ids, { signal, rowIds: tracksRows(state.metadata) });
}

/** What tells a live file from every other, its deletion vector included. */
export function identityOf(path: string, vector: ScanFile['deletionVector']): string {
  const id = vectorId(vector);
  return id === undefined ? path : `${path}\n${id}`;
}

function filePlan(
  state: State,
  files: readonly ScanFile[],
  schema: StructType,
  { fields, where, isLax, whereColumns = [] }: FileReadOptions,
  extra: readonly PlannedColumn[],
): ScanPlan {
  const mapping = columnMappingMode(state.metadata, state.protocol);
  const hidden = state.schema.fields.filter(
    (field) => whereColumns.includes(field.name) && !fields.some(({ name }) => name === field.name),
  );
  const planned = (field: StructField) => plannedColumn(state, mapping, field);
  return {
    version: state.version,
    schema,
    columns: [...fields.map(planned), ...extra, ...hidden.map(planned)],
    readsAllColumns: fields.length + hidden.length >= state.schema.fields.length,
    mapping,
    files,
    filesTotal: files.length,
    where,
    isLax,
    limit: undefined,
    allowExternalFiles: false,
    legacyTimestampZone: undefined,
  };
}

function unusedName(schema: StructType): string {
  let name = '_position';
  while (schema.fields.some((field) => field.name.toLowerCase() === name)) name = `_${name}`;
  return name;
}

function positionsOf(batch: RecordBatch, column: number): Uint32Array {
  const values = batch.data.children[column]!.values as BigInt64Array;
  // The lower halves: no file has 2^32 rows.
  const words = new Uint32Array(values.buffer, values.byteOffset, batch.numRows * 2);
  const positions = new Uint32Array(batch.numRows);
  for (let row = 0; row < positions.length; row++) positions[row] = words[row * 2]!;
  return positions;
}
