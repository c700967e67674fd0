import type { Data, RecordBatch } from 'apache-arrow';
import { toRecordBatch } from '../parquet/arrow-data.js';
import type { ColumnData } from '../parquet/column/assemble.js';
import { fixedWidth, nullColumn } from '../parquet/column/assemble.js';
import { type Column, columnOf, concatenate, shapeOf } from '../parquet/encode-columns.js';
import { type Rows, takeRows } from '../scan/select.js';
import { toArrowSchema } from '../schema/arrow.js';
import type { DataType, Datum, StructType } from '../schema/types.js';

/** Rows as columns in the order of a schema: what verbs cut, join and compute. */
export interface Table {
  readonly rows: number;
  readonly columns: readonly ColumnData[];
}

/** The columns of a batch that has the schema's Arrow types; memory is shared where the batch starts at its first row. */
export function tableOf(batch: RecordBatch, schema: StructType): Table {
  const columns = schema.fields.map((field, i) => {
    const data = batch.data.children[i] as Data;
    const shape = shapeOf(field.dataType);
    const column = columnOf(data, shape);
    const isPlain = startsAtZero(column);
    return plainColumn(
      isPlain ? column : concatenate(shape, [{ column, start: 0, length: batch.numRows }], allocate),
    );
  });
  return { rows: batch.numRows, columns };
}

/** Rows of several batches as one. */
export function joinBatches(batches: readonly RecordBatch[], schema: StructType): Table {
  if (batches.length === 1) return tableOf(batches[0]!, schema);
  const columns = schema.fields.map((field, i) => {
    const shape = shapeOf(field.dataType);
    const ranges = batches.map((batch) => ({
      column: columnOf(batch.data.children[i] as Data, shape),
      start: 0,
      length: batch.numRows,
    }));
    return plainColumn(concatenate(shape, ranges, allocate));
  });
  return { rows: batches.reduce((sum, batch) => sum + batch.numRows, 0), columns };
}

/** A batch over the columns, without copying. */
export function batchOf(table: Table, schema: StructType): RecordBatch {
  return toRecordBatch(toArrowSchema(schema), table.columns, table.rows);
}

/** The rows at `rows`, in that order. */
export function pickRows(table: Table, schema: StructType, rows: Rows): Table {
  return {
    rows: rows.length,
    columns: table.columns.map((column, i) => takeRows(schema.fields[i]!.dataType, column, rows)),
  };
}

/** A column of values. */
export function columnOfValues(type: DataType, values: readonly Datum[]): ColumnData {
  const length = values.length;
  const nullCount = values.reduce<number>((sum, value) => sum + (value === null ? 1 : 0), 0);
  if (nullCount === length) return nullColumn(type, length);
  const base = { length, nullCount, ...(nullCount > 0 ? { validity: validityOf(values) } : {}) };
  switch (type.type) {
    case 'string':
    case 'binary':
      return { ...base, ...textOf(values) };
    case 'boolean': {
      const bits = new Uint8Array((length + 7) >> 3);
      for (let i = 0; i < length; i++) if (values[i] === true) bits[i >> 3]! |= 1 << (i & 7);
      return { ...base, values: bits };
    }
    default:
      return { ...base, values: fixedOf(type, values) };
  }
}

function fixedOf(type: DataType, values: readonly Datum[]): Uint8Array {
  const width = fixedWidth(type);
  const bytes = new Uint8Array(values.length * width);
  const view = new DataView(bytes.buffer);
  const put = setter(type, view);
  for (let i = 0; i < values.length; i++) {
    const value = values[i]!;
    if (value !== null) put(i * width, value);
  }
  return bytes;
}

function setter(type: DataType, view: DataView): (at: number, value: Datum) => void {
  switch (type.type) {
    case 'byte':
      return (at, value) => view.setInt8(at, value as number);
    case 'short':
      return (at, value) => view.setInt16(at, value as number, true);
    case 'integer':
    case 'date':
      return (at, value) => view.setInt32(at, value as number, true);
    case 'float':
      return (at, value) => view.setFloat32(at, value as number, true);
    case 'double':
      return (at, value) => view.setFloat64(at, value as number, true);
    case 'decimal':
      return (at, value) => {
        view.setBigInt64(at, BigInt.asIntN(64, value as bigint), true);
        view.setBigInt64(at + 8, (value as bigint) >> 64n, true);
      };
    default:
      return (at, value) => view.setBigInt64(at, value as bigint, true);
  }
}

const UTF8 = new TextEncoder();

function textOf(values: readonly Datum[]): { offsets: Int32Array; values: Uint8Array } {
  const parts = values.map((value) =>
    value === null ? undefined : typeof value === 'string' ? UTF8.encode(value) : (value as Uint8Array),
  );
  const offsets = new Int32Array(values.length + 1);
  parts.forEach((part, i) => {
    offsets[i + 1] = offsets[i]! + (part?.length ?? 0);
  });
  const bytes = new Uint8Array(offsets[values.length]!);
  parts.forEach((part, i) => {
    if (part) bytes.set(part, offsets[i]!);
  });
  return { offsets, values: bytes };
}

function validityOf(values: readonly Datum[]): Uint8Array {
  const bits = new Uint8Array((values.length + 7) >> 3);
  for (let i = 0; i < values.length; i++) if (values[i] !== null) bits[i >> 3]! |= 1 << (i & 7);
  return bits;
}

const allocate = (bytes: number): Uint8Array => new Uint8Array(bytes);

/** True where a column can be used without its own start: offsets need not begin at 0, bitmaps must. */
function startsAtZero({ bit, offsets, children, values, shape }: Column): boolean {
  if (bit !== 0 || (offsets !== null && offsets.byteOffset % 4 !== 0)) return false;
  if (shape.kind === 'fixed' && values !== null && values.byteOffset % 8 !== 0) return false;
  return children.every(startsAtZero);
}

/** The memory of a column that starts at its first row. */
export function plainColumn(column: Column): ColumnData {
  const { shape, length, nulls, valid, values, offsets, children } = column;
  return {
    length,
    nullCount: nulls,
    ...(valid === null ? {} : { validity: valid }),
    ...(values === null ? {} : { values }),
    ...(offsets === null ? {} : { offsets }),
    ...(shape.kind === 'struct' || shape.kind === 'list' ? { children: children.map(plainColumn) } : {}),
  };
}
