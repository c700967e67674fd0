import { type RecordBatch, Schema } from 'apache-arrow';
import { toRecordBatch } from '../parquet/arrow-data.js';
import type { ColumnData } from '../parquet/column/assemble.js';
import { toArrowField, toArrowSchema } from '../schema/arrow.js';
import { parsePartitionValue } from '../schema/partition-value.js';
import type { StructType } from '../schema/types.js';
import { type BoundPredicate, bindPredicate } from './bind.js';
import { compileFilter, selectedRows } from './evaluate.js';
import type { OpenFile, RowGroup } from './open-file.js';
import type { PlannedColumn, ScanPlan } from './plan.js';
import { constantColumn, type Rows, takeRows } from './select.js';
import { sliceRows } from './slice.js';

/** Rows of a scan, before they become a batch: a column for each of the plan's schema. Plain data. */
export interface RowsPart {
  readonly columns: readonly ColumnData[];
  readonly rows: number;
}

/** The Arrow batch of a part. */
export function batchOf(plan: ScanPlan, { columns, rows }: RowsPart): RecordBatch {
  return toRecordBatch(toArrowSchema(plan.schema), columns, rows);
}

/** Rows of a batch at the most; a multiple of 8. */
const BATCH_ROWS = 1 << 16;

/** Tells which rows of a batch a predicate keeps. The batch has every column of the plan, under its logical name. */
export type RowFilter = (batch: RecordBatch) => Rows;

/** The predicate of a plan, bound to its columns. */
export function boundOf(plan: ScanPlan): BoundPredicate | undefined {
  if (plan.where === undefined) return undefined;
  const schema: StructType = { type: 'struct', fields: plan.columns.map(({ field }) => field) };
  return bindPredicate(plan.where, schema);
}

/** The filter of a predicate, or undefined where every row is wanted. */
export function filterOf(where: BoundPredicate | undefined): RowFilter | undefined {
  if (where === undefined) return undefined;
  const filter = compileFilter(where);
  return (batch) => selectedRows(filter(batch));
}

/**
 * Makes the plan's rows of one row group from its decoded columns: constants for partition columns, row ids, rows that a deletion vector or the filter
 * takes out left away. `limit` bounds the rows given. Comes in batches of a size that can be turned into objects.
 */
export function* rowsOf(
  plan: ScanPlan,
  open: OpenFile,
  group: RowGroup,
  decoded: readonly ColumnData[],
  filter: RowFilter | undefined,
  limit: number,
): Generator<RowsPart, void, undefined> {
  let next = 0;
  const live = liveRows(open, group);
  const rows = live?.length ?? group.rows;
  if (rows === 0) return;
  const columns = plan.columns.map((column, i) => {
    const stored = open.nodes[i] === undefined ? undefined : decoded[next++]!;
    const full = columnOf(plan, open, group, column, stored);
    return live === undefined ? full : takeRows(column.field.dataType, full, live);
  });
  const kept = keptRows(plan, columns, rows, filter, limit);
  const given = plan.schema.fields.map(({ dataType }, i) =>
    kept === undefined ? columns[i]! : takeRows(dataType, columns[i]!, kept),
  );
  const count = kept?.length ?? rows;
  for (let start = 0; start < count; start += BATCH_ROWS) {
    const length = Math.min(BATCH_ROWS, count - start);
    const columns = given.map((column, i) =>
      sliceRows(plan.schema.fields[i]!.dataType, column, start, length),
    );
    yield { columns, rows: length };
  }
}

/** The rows that the vectors leave, or undefined for all of them. */
function liveRows(open: OpenFile, group: RowGroup): Rows | undefined {
  if (open.deleted === undefined && open.only === undefined) return undefined;
  const gone = new Uint8Array(group.rows);
  if (open.only) {
    gone.fill(1);
    open.only.mark(group.start, gone, 0);
  }
  open.deleted?.mark(group.start, gone, 1);
  let count = 0;
  for (const flag of gone) count += flag;
  if (count === 0) return undefined;
  const live = new Int32Array(group.rows - count);
  let at = 0;
  for (let row = 0; row < gone.length; row++) if (gone[row] === 0) live[at++] = row;
  return live;
}

function keptRows(
  plan: ScanPlan,
  columns: readonly ColumnData[],
  rows: number,
  filter: RowFilter | undefined,
  limit: number,
): Rows | undefined {
  const kept = filter?.(toRecordBatch(filterSchema(plan), columns, rows));
  // All rows kept are given as they are, not copied.
  if ((kept?.length ?? rows) <= limit) return kept?.length === rows ? undefined : kept;
  return kept?.subarray(0, limit) ?? Int32Array.from({ length: limit }, (_, i) => i);
}

const filterSchemas = new WeakMap<ScanPlan, Schema>();

function filterSchema(plan: ScanPlan): Schema {
  let schema = filterSchemas.get(plan);
  if (schema === undefined) {
    schema = new Schema(plan.columns.map(({ field }) => toArrowField(field)));
    filterSchemas.set(plan, schema);
  }
  return schema;
}

function columnOf(
  plan: ScanPlan,
  open: OpenFile,
  group: RowGroup,
  column: PlannedColumn,
  stored: ColumnData | undefined,
): ColumnData {
  if (column.from === 'file') return stored!;
  if (column.from === 'change') {
    const { dataType, name } = column.field;
    return stored ?? constantColumn(dataType, open.file.constants![name]!, group.rows);
  }
  if (column.from === 'partition') {
    const { dataType } = column.field;
    const raw = open.file.partitionValues[column.physical] ?? null;
    const value = parsePartitionValue(dataType, raw, { legacyTimestampZone: plan.legacyTimestampZone });
    return constantColumn(dataType, value, group.rows);
  }
  if (column.from === 'position') return countedLongs(group.start, group.rows);
  const { baseRowId, defaultRowCommitVersion } = open.file;
  return column.from === 'rowId'
    ? defaultedLongs(stored, baseRowId ?? null, BigInt(group.start), 1n, group.rows)
    : defaultedLongs(stored, defaultRowCommitVersion ?? null, 0n, 0n, group.rows);
}

/** Longs that count up from `start`, which with `rows` stays below 2^32, as no file has more rows. */
function countedLongs(start: number, rows: number): ColumnData {
  const words = new Uint32Array(rows * 2);
  for (let row = 0; row < rows; row++) words[row * 2] = start + row;
  return { length: rows, nullCount: 0, values: new Uint8Array(words.buffer) };
}

/** The stored values, and where there is none `base + offset + step * row`, or null without a base (protocol: Row Tracking). */
function defaultedLongs(
  stored: ColumnData | undefined,
  base: bigint | null,
  offset: bigint,
  step: bigint,
  rows: number,
): ColumnData {
  if (stored !== undefined && (stored.nullCount === 0 || base === null)) return stored;
  if (base === null) return constantColumn({ type: 'long' }, null, rows);
  const values = new BigInt64Array(rows);
  const own = stored && new BigInt64Array(stored.values!.buffer, stored.values!.byteOffset, rows);
  for (let row = 0; row < rows; row++) {
    const isStored = own !== undefined && (stored!.validity![row >> 3]! & (1 << (row & 7))) !== 0;
    values[row] = isStored ? own[row]! : base + offset + step * BigInt(row);
  }
  return { length: rows, nullCount: 0, values: new Uint8Array(values.buffer) };
}
