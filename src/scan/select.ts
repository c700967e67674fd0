import { type ColumnData, fixedWidth, nullColumn } from '../parquet/column/assemble.js';
import type { DataType, Datum, StructType } from '../schema/types.js';

/** Numbers of rows. */
export type Rows = Int32Array | Uint32Array;

/** The rows of a column at `rows`, in that order. */
export function takeRows(type: DataType, column: ColumnData, rows: Rows): ColumnData {
  const { length } = rows;
  if (type.type === 'void') return { length, nullCount: length };
  const { validity, nullCount } = takeValidity(column, rows);
  const base = { length, nullCount, validity };
  switch (type.type) {
    case 'struct':
      return { ...base, children: takeFields(type, column, rows) };
    case 'variant':
      return {
        ...base,
        children: column.children!.map((child) => takeRows({ type: 'binary' }, child, rows)),
      };
    case 'array':
      return {
        ...base,
        ...takeLists(column, rows, (child, items) => takeRows(type.elementType, child, items)),
      };
    case 'map': {
      const entry: StructType = entryType(type.keyType, type.valueType);
      return { ...base, ...takeLists(column, rows, (child, items) => takeRows(entry, child, items)) };
    }
    case 'string':
    case 'binary':
      return { ...base, ...takeText(column, rows) };
    case 'boolean':
      return { ...base, values: takeBits(column.values!, rows) };
    default:
      return { ...base, values: takeFixed(column.values!, fixedWidth(type), rows) };
  }
}

/** A column that has the same value in each row. */
export function constantColumn(type: DataType, value: Datum, length: number): ColumnData {
  if (value === null) return nullColumn(type, length);
  const column = { length, nullCount: 0 };
  switch (type.type) {
    case 'string':
    case 'binary':
      return {
        ...column,
        ...repeatBytes(typeof value === 'string' ? UTF8.encode(value) : (value as Uint8Array), length),
      };
    case 'boolean':
      return { ...column, values: new Uint8Array((length + 7) >> 3).fill(value === true ? 255 : 0) };
    case 'byte':
      return { ...column, values: raw(new Int8Array(length).fill(Number(value))) };
    case 'short':
      return { ...column, values: raw(new Int16Array(length).fill(Number(value))) };
    case 'integer':
    case 'date':
      return { ...column, values: raw(new Int32Array(length).fill(Number(value))) };
    case 'float':
      return { ...column, values: raw(new Float32Array(length).fill(Number(value))) };
    case 'double':
      return { ...column, values: raw(new Float64Array(length).fill(Number(value))) };
    case 'decimal': {
      const halves = new BigInt64Array(length * 2);
      for (let i = 0; i < length; i++) {
        halves[2 * i] = BigInt.asIntN(64, value as bigint);
        halves[2 * i + 1] = (value as bigint) >> 64n;
      }
      return { ...column, values: raw(halves) };
    }
    default:
      return { ...column, values: raw(new BigInt64Array(length).fill(value as bigint)) };
  }
}

const UTF8 = new TextEncoder();

/** What the entries of a map are below its offsets. */
export function entryType(key: DataType, value: DataType): StructType {
  return {
    type: 'struct',
    fields: [
      { name: 'key', dataType: key, nullable: false, metadata: {} },
      { name: 'value', dataType: value, nullable: true, metadata: {} },
    ],
  };
}

function raw(array: ArrayBufferView): Uint8Array {
  return new Uint8Array(array.buffer, array.byteOffset, array.byteLength);
}

function repeatBytes(bytes: Uint8Array, length: number): { offsets: Int32Array; values: Uint8Array } {
  const values = new Uint8Array(bytes.length * length);
  const offsets = new Int32Array(length + 1);
  if (length > 0) values.set(bytes);
  for (let filled = bytes.length; filled > 0 && filled < values.length; filled *= 2) {
    values.copyWithin(filled, 0, Math.min(filled, values.length - filled));
  }
  for (let i = 1; i <= length; i++) offsets[i] = i * bytes.length;
  return { offsets, values };
}

function takeFields(type: StructType, column: ColumnData, rows: Rows): ColumnData[] {
  return type.fields.map((field, i) => takeRows(field.dataType, column.children![i]!, rows));
}

function takeValidity(column: ColumnData, rows: Rows): { validity?: Uint8Array; nullCount: number } {
  const { validity } = column;
  if (validity === undefined) return { nullCount: 0 };
  const bits = new Uint8Array((rows.length + 7) >> 3);
  let valid = 0;
  for (let i = 0; i < rows.length; i++) {
    const row = rows[i]!;
    if (validity[row >> 3]! & (1 << (row & 7))) {
      bits[i >> 3]! |= 1 << (i & 7);
      valid++;
    }
  }
  return valid === rows.length ? { nullCount: 0 } : { validity: bits, nullCount: rows.length - valid };
}

function takeLists(
  column: ColumnData,
  rows: Rows,
  takeChild: (child: ColumnData, items: Rows) => ColumnData,
): { offsets: Int32Array; children: ColumnData[] } {
  const from = column.offsets!;
  const offsets = new Int32Array(rows.length + 1);
  for (let i = 0; i < rows.length; i++) offsets[i + 1] = offsets[i]! + from[rows[i]! + 1]! - from[rows[i]!]!;
  const items = new Int32Array(offsets[rows.length]!);
  let at = 0;
  for (let i = 0; i < rows.length; i++) {
    for (let item = from[rows[i]!]!; item < from[rows[i]! + 1]!; item++) items[at++] = item;
  }
  return { offsets, children: [takeChild(column.children![0]!, items)] };
}

function takeText(column: ColumnData, rows: Rows): { offsets: Int32Array; values: Uint8Array } {
  const from = column.offsets!;
  const bytes = column.values!;
  const offsets = new Int32Array(rows.length + 1);
  for (let i = 0; i < rows.length; i++) offsets[i + 1] = offsets[i]! + from[rows[i]! + 1]! - from[rows[i]!]!;
  const values = new Uint8Array(offsets[rows.length]!);
  // Neighbours in the source stay neighbours: whole runs are copied at once.
  for (let i = 0; i < rows.length; ) {
    let last = i + 1;
    while (last < rows.length && rows[last] === rows[last - 1]! + 1) last++;
    values.set(bytes.subarray(from[rows[i]!]!, from[rows[last - 1]! + 1]!), offsets[i]!);
    i = last;
  }
  return { offsets, values };
}

function takeBits(bits: Uint8Array, rows: Rows): Uint8Array {
  const taken = new Uint8Array((rows.length + 7) >> 3);
  for (let i = 0; i < rows.length; i++) {
    const row = rows[i]!;
    if (bits[row >> 3]! & (1 << (row & 7))) taken[i >> 3]! |= 1 << (i & 7);
  }
  return taken;
}

function takeFixed(bytes: Uint8Array, width: number, rows: Rows): Uint8Array {
  const taken = new Uint8Array(rows.length * width);
  if (width < 4) {
    for (let i = 0; i < rows.length; i++) {
      for (let b = 0; b < width; b++) taken[i * width + b] = bytes[rows[i]! * width + b]!;
    }
    return taken;
  }
  const words = width / 4;
  const from = new Int32Array(bytes.buffer, bytes.byteOffset, bytes.length / 4);
  const to = new Int32Array(taken.buffer);
  if (words === 1) for (let i = 0; i < rows.length; i++) to[i] = from[rows[i]!]!;
  else if (words === 2) {
    for (let i = 0; i < rows.length; i++) {
      const at = rows[i]! * 2;
      to[2 * i] = from[at]!;
      to[2 * i + 1] = from[at + 1]!;
    }
  } else {
    for (let i = 0; i < rows.length; i++) {
      for (let w = 0; w < words; w++) to[i * words + w] = from[rows[i]! * words + w]!;
    }
  }
  return taken;
}
