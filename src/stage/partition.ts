import { bitAt, type Column, int32 } from '../parquet/encode-columns.js';
import { datumAt } from '../parquet/encode-value.js';
import type { DataType, Datum } from '../schema/types.js';

/** The rows of a chunk by their partition: `codes[row]` is an index into `groups`, which hold one value for each partition column. */
export interface Partitioning {
  readonly codes: Int32Array;
  readonly groups: readonly (readonly Datum[])[];
}

/** Sorts rows into the distinct combinations of values of their partition columns, in order of first appearance. NULL is a value like others. */
export function partitionRows(
  columns: readonly Column[],
  types: readonly DataType[],
  rows: number,
): Partitioning {
  let codes: Int32Array = new Int32Array(rows);
  let groups: Datum[][] = rows === 0 ? [] : [[]];
  columns.forEach((column, i) => {
    const next = codesOf(column, rows);
    const values = next.firsts.map((row) => datumAt(types[i]!, column, row));
    if (i === 0) {
      codes = next.codes;
      groups = values.map((value) => [value]);
    } else {
      groups = combine(codes, groups, next.codes, values);
    }
  });
  return { codes, groups };
}

/** The order that puts rows of one code together, codes ascending and rows of a code as they were, and where each code's rows start. */
export function orderByCode(codes: Int32Array, groups: number): { order: Int32Array; starts: Int32Array } {
  const starts = new Int32Array(groups + 1);
  for (let row = 0; row < codes.length; row++) starts[codes[row]! + 1]!++;
  for (let code = 0; code < groups; code++) starts[code + 1]! += starts[code]!;
  const next = starts.slice();
  const order = new Int32Array(codes.length);
  for (let row = 0; row < codes.length; row++) order[next[codes[row]!]!++] = row;
  return { order, starts };
}

interface Codes {
  readonly codes: Int32Array;
  /** The first row of each code. */
  readonly firsts: number[];
}

function codesOf(column: Column, rows: number): Codes {
  const { shape, valid, bit } = column;
  if (shape.kind === 'void') return { codes: new Int32Array(rows), firsts: rows > 0 ? [0] : [] };
  if (shape.kind === 'bits') {
    return coded(rows, valid, bit, (row) => bitAt(column.values!, bit + row));
  }
  if (shape.kind === 'fixed' && shape.width <= 4) {
    const values = narrow(column.values!, shape.width);
    return coded(rows, valid, bit, (row) => values[row]!);
  }
  return shape.kind === 'fixed'
    ? codedBytes(rows, column, (row) => row * shape.width, shape.width)
    : codedBytes(rows, column, (row) => column.offsets![row]!, -1);
}

/** Small numbers by a map, with a look at the row before first: rows of one value often come together. */
function coded(rows: number, valid: Uint8Array | null, bit: number, key: (row: number) => number): Codes {
  const codes = new Int32Array(rows);
  const firsts: number[] = [];
  const known = new Map<number, number>();
  let nullCode = -1;
  let lastKey = Number.NaN;
  let lastCode = -1;
  for (let row = 0; row < rows; row++) {
    if (valid && !bitAt(valid, bit + row)) {
      if (nullCode < 0) nullCode = firsts.push(row) - 1;
      codes[row] = nullCode;
      continue;
    }
    const value = key(row);
    if (value !== lastKey) {
      let code = known.get(value);
      if (code === undefined) {
        code = firsts.push(row) - 1;
        known.set(value, code);
      }
      lastKey = value;
      lastCode = code;
    }
    codes[row] = lastCode;
  }
  return { codes, firsts };
}

/** Wide values and strings by an open hash table over their bytes, so that no value of a row becomes an object. */
function codedBytes(rows: number, column: Column, startOf: (row: number) => number, width: number): Codes {
  const codes = new Int32Array(rows);
  const firsts: number[] = [];
  const { valid, bit, offsets } = column;
  const bytes = column.values!;
  let slots = new Int32Array(1024).fill(-1);
  let hashes = new Int32Array(1024);
  let nullCode = -1;
  for (let row = 0; row < rows; row++) {
    if (valid && !bitAt(valid, bit + row)) {
      if (nullCode < 0) nullCode = firsts.push(row) - 1;
      codes[row] = nullCode;
      continue;
    }
    const start = startOf(row);
    const length = width < 0 ? offsets![row + 1]! - start : width;
    if (row > 0 && codes[row - 1] !== nullCode) {
      const before = startOf(row - 1);
      if ((width >= 0 || start - before === length) && sameBytes(bytes, start, before, length)) {
        codes[row] = codes[row - 1]!;
        continue;
      }
    }
    let hash = length;
    for (let i = start; i < start + length; i++) hash = Math.imul(hash ^ bytes[i]!, 0x01000193);
    hash ^= hash >>> 15;
    let slot = hash & (slots.length - 1);
    for (; ; slot = (slot + 1) & (slots.length - 1)) {
      const code = slots[slot]!;
      if (code < 0) break;
      const first = startOf(firsts[code]!);
      const firstLength = width < 0 ? offsets![firsts[code]! + 1]! - first : width;
      if (hashes[slot] === hash && firstLength === length && sameBytes(bytes, start, first, length)) break;
    }
    if (slots[slot]! < 0) {
      slots[slot] = firsts.push(row) - 1;
      hashes[slot] = hash;
      codes[row] = firsts.length - 1;
      if (firsts.length * 2 > slots.length) [slots, hashes] = grown(slots, hashes);
    } else {
      codes[row] = slots[slot]!;
    }
  }
  return { codes, firsts };
}

function grown(slots: Int32Array, hashes: Int32Array): [Int32Array<ArrayBuffer>, Int32Array<ArrayBuffer>] {
  const size = slots.length * 2;
  const moved = new Int32Array(size).fill(-1);
  const movedHashes = new Int32Array(size);
  for (let old = 0; old < slots.length; old++) {
    if (slots[old]! < 0) continue;
    let slot = hashes[old]! & (size - 1);
    while (moved[slot]! >= 0) slot = (slot + 1) & (size - 1);
    moved[slot] = slots[old]!;
    movedHashes[slot] = hashes[old]!;
  }
  return [moved, movedHashes];
}

function sameBytes(bytes: Uint8Array, a: number, b: number, length: number): boolean {
  for (let i = 0; i < length; i++) if (bytes[a + i] !== bytes[b + i]) return false;
  return true;
}

function narrow(bytes: Uint8Array, width: number): Int8Array | Int16Array | Int32Array {
  if (width === 1) return new Int8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (width === 2) return new Int16Array(bytes.buffer, bytes.byteOffset, bytes.byteLength >> 1);
  return int32(bytes);
}

/** Replaces `codes` by codes of the pairs that occur, and gives their values. */
function combine(
  codes: Int32Array,
  groups: Datum[][],
  next: Int32Array,
  values: readonly Datum[],
): Datum[][] {
  const known = new Map<number, number>();
  const combined: Datum[][] = [];
  for (let row = 0; row < codes.length; row++) {
    const pair = codes[row]! * values.length + next[row]!;
    let code = known.get(pair);
    if (code === undefined) {
      code = combined.push([...groups[codes[row]!]!, values[next[row]!]!]) - 1;
      known.set(pair, code);
    }
    codes[row] = code;
  }
  return combined;
}
