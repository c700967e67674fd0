import type * as arrow from 'apache-arrow';
import type { DataType } from '../schema/types.js';

/** How the values of a column lie in memory: Arrow's layouts, as far as Delta's types need them. */
export type Shape =
  | { readonly kind: 'fixed'; readonly width: number }
  | { readonly kind: 'bits' }
  | { readonly kind: 'bytes' }
  | { readonly kind: 'list'; readonly children: readonly [Shape] }
  | { readonly kind: 'struct'; readonly children: readonly Shape[] }
  | { readonly kind: 'void' };

/**
 * A column as raw memory. `valid` and the values of `bits` are bitmaps whose first bit is at `bit`; `valid` is null where nothing is NULL.
 * Offsets of `bytes` and `list` need not start at 0. Children of a struct start at its first row.
 */
export interface Column {
  readonly shape: Shape;
  readonly length: number;
  readonly nulls: number;
  readonly bit: number;
  readonly valid: Uint8Array | null;
  readonly values: Uint8Array | null;
  readonly offsets: Int32Array | null;
  readonly children: readonly Column[];
}

/** Rows [start, start + length) of a column. */
export interface Range {
  readonly column: Column;
  readonly start: number;
  readonly length: number;
}

/** Hands out memory: `bytes` long, aligned to 8. What it holds is not zero. */
export type Allocate = (bytes: number) => Uint8Array;

const FIXED: Readonly<Record<string, number>> = {
  long: 8,
  integer: 4,
  short: 2,
  byte: 1,
  float: 4,
  double: 8,
  date: 4,
  timestamp: 8,
  timestamp_ntz: 8,
  decimal: 16,
};

export function shapeOf(type: DataType): Shape {
  const width = FIXED[type.type];
  if (width !== undefined) return { kind: 'fixed', width };
  switch (type.type) {
    case 'boolean':
      return { kind: 'bits' };
    case 'void':
      return { kind: 'void' };
    case 'struct':
      return { kind: 'struct', children: type.fields.map((field) => shapeOf(field.dataType)) };
    case 'variant':
      return { kind: 'struct', children: [{ kind: 'bytes' }, { kind: 'bytes' }] };
    case 'array':
      return { kind: 'list', children: [shapeOf(type.elementType)] };
    case 'map':
      return {
        kind: 'list',
        children: [{ kind: 'struct', children: [shapeOf(type.keyType), shapeOf(type.valueType)] }],
      };
    default:
      return { kind: 'bytes' };
  }
}

/** The shape of the Arrow types that files are encoded from. Types by their numbers in the Arrow format. */
export function shapeOfArrow(type: arrow.DataType): Shape {
  const children = ((type.children ?? []) as arrow.Field[]).map((field) => shapeOfArrow(field.type));
  switch (type.typeId as number) {
    case 1:
      return { kind: 'void' };
    case 4:
    case 5:
      return { kind: 'bytes' };
    case 6:
      return { kind: 'bits' };
    case 12:
    case 17:
      return { kind: 'list', children: [children[0]!] };
    case 13:
      return { kind: 'struct', children };
    default: {
      const { BYTES_PER_ELEMENT: width } = type.ArrayType as { BYTES_PER_ELEMENT: number };
      return { kind: 'fixed', width: (type.typeId as number) === 7 ? 16 : width };
    }
  }
}

/** True where a column, or one inside of it, has no place in a file. */
export function holdsVoid(shape: Shape): boolean {
  return shape.kind === 'void' || ('children' in shape && shape.children.some(holdsVoid));
}

/** The column without those inside of it that have no place in a file; undefined when nothing is left. */
export function withoutVoid(column: Column): Column | undefined {
  const { shape } = column;
  if (shape.kind === 'void') return undefined;
  if (!('children' in shape)) return column;
  const children = column.children.flatMap((child) => withoutVoid(child) ?? []);
  if (children.length === 0) return undefined;
  return {
    ...column,
    shape: { ...shape, children: children.map((child) => child.shape) } as Shape,
    children,
  };
}

/** The memory of an Arrow array of a table's own types, not copied. */
export function columnOf(data: arrow.Data, shape: Shape): Column {
  const valid = data.nullBitmap;
  const nulls = shape.kind === 'void' ? data.length : data.nullCount;
  return {
    shape,
    length: data.length,
    nulls,
    bit: data.offset,
    valid: nulls > 0 && valid && valid.length > 0 && shape.kind !== 'void' ? valid : null,
    values:
      shape.kind === 'fixed' || shape.kind === 'bits' || shape.kind === 'bytes' ? asBytes(data.values) : null,
    offsets: shape.kind === 'bytes' || shape.kind === 'list' ? (data.valueOffsets as Int32Array) : null,
    children: 'children' in shape ? shape.children.map((child, i) => columnOf(data.children[i]!, child)) : [],
  };
}

/** Bytes that these ranges take when copied together, padding included. */
export function measure(shape: Shape, ranges: readonly Range[]): number {
  const rows = ranges.reduce((sum, range) => sum + range.length, 0);
  const valid = ranges.some(({ column }) => column.nulls > 0) ? padded((rows + 7) >> 3) : 0;
  switch (shape.kind) {
    case 'void':
      return 0;
    case 'fixed':
      return valid + padded(rows * shape.width);
    case 'bits':
      return valid + padded((rows + 7) >> 3);
    case 'bytes':
      return valid + padded((rows + 1) * 4) + padded(ranges.reduce((sum, range) => sum + span(range)[1], 0));
    case 'list':
      return valid + padded((rows + 1) * 4) + measure(shape.children[0], ranges.map(itemsOf));
    case 'struct':
      return shape.children.reduce(
        (sum, child, i) =>
          sum +
          measure(
            child,
            ranges.map((range) => childOf(range, i)),
          ),
        valid,
      );
  }
}

/** The ranges one behind the other, as one column in new memory. */
export function concatenate(shape: Shape, ranges: readonly Range[], allocate: Allocate): Column {
  const length = ranges.reduce((sum, range) => sum + range.length, 0);
  const { valid, nulls } =
    shape.kind === 'void' ? { valid: null, nulls: length } : concatenateValid(ranges, length, allocate);
  const base = { shape, length, nulls, bit: 0, valid, values: null, offsets: null, children: [] };
  switch (shape.kind) {
    case 'void':
      return base;
    case 'fixed': {
      const values = allocate(length * shape.width);
      let at = 0;
      for (const { column, start, length: rows } of ranges) {
        values.set(column.values!.subarray(start * shape.width, (start + rows) * shape.width), at);
        at += rows * shape.width;
      }
      return { ...base, values };
    }
    case 'bits': {
      const values = allocate((length + 7) >> 3).fill(0);
      let at = 0;
      for (const { column, start, length: rows } of ranges) {
        copyBits(column.values!, column.bit + start, rows, values, at);
        at += rows;
      }
      return { ...base, values };
    }
    case 'bytes': {
      const offsets = concatenateOffsets(ranges, length, allocate);
      const values = allocate(offsets[length]!);
      let at = 0;
      for (const range of ranges) {
        const [from, bytes] = span(range);
        values.set(range.column.values!.subarray(from, from + bytes), at);
        at += bytes;
      }
      return { ...base, offsets, values };
    }
    case 'list': {
      const offsets = concatenateOffsets(ranges, length, allocate);
      return { ...base, offsets, children: [concatenate(shape.children[0], ranges.map(itemsOf), allocate)] };
    }
    case 'struct':
      return {
        ...base,
        children: shape.children.map((child, i) =>
          concatenate(
            child,
            ranges.map((range) => childOf(range, i)),
            allocate,
          ),
        ),
      };
  }
}

/** Rows [start, start + length) of the items of a list column that belong to the rows of the range. */
function itemsOf(range: Range): Range {
  const [start, length] = span(range);
  return { column: range.column.children[0]!, start, length };
}

function childOf({ column, start, length }: Range, child: number): Range {
  return { column: column.children[child]!, start, length };
}

/** First offset and length of what the range's rows hold. */
function span({ column, start, length }: Range): [number, number] {
  if (length === 0) return [0, 0];
  const from = column.offsets![start]!;
  return [from, column.offsets![start + length]! - from];
}

function concatenateOffsets(ranges: readonly Range[], length: number, allocate: Allocate): Int32Array {
  const offsets = int32(allocate((length + 1) * 4));
  offsets[0] = 0;
  let at = 0;
  let base = 0;
  for (const { column, start, length: rows } of ranges) {
    if (rows === 0) continue;
    const source = column.offsets!;
    const shift = base - source[start]!;
    for (let i = 1; i <= rows; i++) offsets[at + i] = source[start + i]! + shift;
    at += rows;
    base = offsets[at]!;
  }
  return offsets;
}

function concatenateValid(
  ranges: readonly Range[],
  length: number,
  allocate: Allocate,
): { valid: Uint8Array | null; nulls: number } {
  let nulls = 0;
  for (const { column, start, length: rows } of ranges) {
    if (column.nulls > 0) nulls += rows - countBits(column.valid!, column.bit + start, rows);
  }
  if (nulls === 0) return { valid: null, nulls };
  const valid = allocate((length + 7) >> 3).fill(0);
  let at = 0;
  for (const { column, start, length: rows } of ranges) {
    if (column.valid) copyBits(column.valid, column.bit + start, rows, valid, at);
    else setBits(valid, at, rows);
    at += rows;
  }
  return { valid, nulls };
}

export function padded(bytes: number): number {
  return (bytes + 7) & ~7;
}

export function int32(bytes: Uint8Array): Int32Array {
  return new Int32Array(bytes.buffer, bytes.byteOffset, bytes.byteLength >> 2);
}

export function bitAt(bits: Uint8Array, i: number): number {
  return (bits[i >> 3]! >> (i & 7)) & 1;
}

function asBytes(values: ArrayBufferView | null | undefined): Uint8Array {
  if (!values) return new Uint8Array(0);
  return new Uint8Array(values.buffer as ArrayBuffer, values.byteOffset, values.byteLength);
}

/** Copies bits into a bitmap that is 0 where they go. */
function copyBits(from: Uint8Array, start: number, length: number, to: Uint8Array, at: number): void {
  if ((start & 7) === 0 && (at & 7) === 0) {
    const whole = length >> 3;
    to.set(from.subarray(start >> 3, (start >> 3) + whole), at >> 3);
    for (let i = whole << 3; i < length; i++)
      if (bitAt(from, start + i)) to[(at + i) >> 3]! |= 1 << ((at + i) & 7);
    return;
  }
  for (let i = 0; i < length; i++) if (bitAt(from, start + i)) to[(at + i) >> 3]! |= 1 << ((at + i) & 7);
}

function setBits(to: Uint8Array, at: number, length: number): void {
  let i = at;
  const end = at + length;
  for (; i < end && (i & 7) !== 0; i++) to[i >> 3]! |= 1 << (i & 7);
  to.fill(255, i >> 3, end >> 3);
  for (i = Math.max(i, (end >> 3) << 3); i < end; i++) to[i >> 3]! |= 1 << (i & 7);
}

function countBits(bits: Uint8Array, start: number, length: number): number {
  let count = 0;
  let i = start;
  const end = start + length;
  for (; i < end && (i & 7) !== 0; i++) count += bitAt(bits, i);
  for (; i + 8 <= end; i += 8) {
    let b = bits[i >> 3]!;
    b -= (b >> 1) & 0x55;
    b = (b & 0x33) + ((b >> 2) & 0x33);
    count += (b + (b >> 4)) & 15;
  }
  for (; i < end; i++) count += bitAt(bits, i);
  return count;
}
