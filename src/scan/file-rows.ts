import { type RecordBatch, Schema } from 'apache-arrow';
import { toRecordBatch } from '../parquet/arrow-data.js';
import type { ColumnData } from '../parquet/column/assemble.js';
import { toArrowField, toArrowSchema } from '../schema/arrow.js';
import { parsePartitionValue } from '../schema/partition-value.js';
import type { StructType } from '../schema/types.js';
import { type BoundPredicate, bindPredicate } from './bind.js';
import { compileFilter, selectedRows } from './evaluate.js';
import { type OpenFile, type RowGroup, runsOf } from './open-file.js';
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
  const dead = deadRows(open, group);
  if (dead === undefined) return undefined;
  let count = 0;
  for (const flag of dead) count += flag;
  if (count === 0) return undefined;
  const live = new Int32Array(group.rows - count);
  let at = 0;
  for (let row = 0; row < dead.length; row++) if (dead[row] === 0) live[at++] = row;
  return live;
}

/** A 1 for each wanted row that the vectors take out, or undefined where there are no vectors. */
export function deadRows(open: OpenFile, group: RowGroup): Uint8Array | undefined {
  if (open.deleted === undefined && open.only === undefined) return undefined;
  const runs = runsOf(group);
  const first = runs[0]!;
  // Vectors are asked once for everything between the first row and the last.
  const all = new Uint8Array(runs.at(-1)! - first);
  if (open.only) {
    all.fill(1);
    open.only.mark(group.start + first, all, 0);
  }
  open.deleted?.mark(group.start + first, all, 1);
  if (runs.length === 2) return all;
  const dead = new Uint8Array(group.rows);
  eachRun(group, (position, at, rows) => {
    const from = position - group.start - first;
    dead.set(all.subarray(from, from + rows), at);
  });
  return dead;
}

/** Visits the wanted rows of a row group, run by run: the position of the first in the file, and how many came before. */
function eachRun(group: RowGroup, visit: (position: number, at: number, rows: number) => void): void {
  const runs = runsOf(group);
  let at = 0;
  for (let i = 0; i < runs.length; i += 2) {
    const length = runs[i + 1]! - runs[i]!;
    visit(group.start + runs[i]!, at, length);
    at += length;
  }
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

/** A column of the plan for the wanted rows of a row group; `stored` is what was decoded of it, if the file has it. */
export function columnOf(
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
  if (column.from === 'position') return positions(group);
  const { baseRowId, defaultRowCommitVersion } = open.file;
  return column.from === 'rowId'
    ? defaultedLongs(stored, baseRowId ?? null, group, 1n)
    : defaultedLongs(stored, defaultRowCommitVersion ?? null, group, 0n);
}

/** Where in the file the rows are, as longs; they stay below 2^32, as no file has more rows. */
function positions(group: RowGroup): ColumnData {
  const words = new Uint32Array(group.rows * 2);
  eachRun(group, (position, at, rows) => {
    for (let i = 0; i < rows; i++) words[(at + i) * 2] = position + i;
  });
  return { length: group.rows, nullCount: 0, values: new Uint8Array(words.buffer) };
}

/** The stored values, and where there is none `base + step * position`, or null without a base (protocol: Row Tracking). */
function defaultedLongs(
  stored: ColumnData | undefined,
  base: bigint | null,
  group: RowGroup,
  step: bigint,
): ColumnData {
  const { rows } = group;
  if (stored !== undefined && (stored.nullCount === 0 || base === null)) return stored;
  if (base === null) return constantColumn({ type: 'long' }, null, rows);
  const values = new BigInt64Array(rows);
  const own = stored && new BigInt64Array(stored.values!.buffer, stored.values!.byteOffset, rows);
  eachRun(group, (position, at, length) => {
    for (let row = at; row < at + length; row++) {
      const isStored = own !== undefined && (stored!.validity![row >> 3]! & (1 << (row & 7))) !== 0;
      values[row] = isStored ? own[row]! : base + step * BigInt(position + row - at);
    }
  });
  return { length: rows, nullCount: 0, values: new Uint8Array(values.buffer) };
}
