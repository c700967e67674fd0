import type { DataType, Datum } from '../schema/types.js';
import type { BoundOperator } from './bind-tree.js';
import { ARROW, type ArrowData } from './evaluate-arrow.js';

const FALSE = 0;
const TRUE = 2;
const MICROSECOND = 2;

/**
 * Compares every value of a plain Arrow column with a literal; rows that are NULL get an outcome without meaning. Undefined where the layout has no loop here.
 */
export function compareColumn(
  data: ArrowData,
  type: DataType,
  op: BoundOperator,
  domain: DataType,
  literal: Datum,
  rows: number,
): Uint8Array | undefined {
  const { typeId, bitWidth, unit, scale } = data.type;
  switch (typeId) {
    case ARROW.int:
      if (typeof literal === 'number' && bitWidth !== 64)
        return compareNumbers(data.values as Int32Array, op, literal, rows);
      return bitWidth === 64 && domain.type === 'long'
        ? compareWords(data.values, 2, op, literal, rows)
        : undefined;
    case ARROW.float:
      return compareNumbers(data.values as Float64Array, op, literal as number, rows);
    case ARROW.date:
      if (unit !== 0 || type.type !== 'date') return undefined;
      return compareNumbers(data.values as Int32Array, op, literal as number, rows);
    case ARROW.timestamp:
      return unit === MICROSECOND && type.type !== 'date'
        ? compareWords(data.values, 2, op, literal, rows)
        : undefined;
    case ARROW.decimal:
      if (domain.type !== 'decimal' || scale !== domain.scale) return undefined;
      return compareWords(data.values, (bitWidth ?? 128) / 32, op, literal, rows);
    case ARROW.utf8:
      return type.type === 'string' ? compareText(data, op, literal as string, rows) : undefined;
    default:
      return undefined;
  }
}

/** NaN equals NaN and is greater than every other number, so `>` is written as not `<=`. */
function compareNumbers(
  values: ArrayLike<number>,
  op: BoundOperator,
  literal: number,
  rows: number,
): Uint8Array | undefined {
  const result = new Uint8Array(rows);
  if (Number.isNaN(literal)) return undefined;
  switch (op) {
    case '=':
      for (let i = 0; i < rows; i++) result[i] = values[i]! === literal ? TRUE : FALSE;
      return result;
    case '<':
      for (let i = 0; i < rows; i++) result[i] = values[i]! < literal ? TRUE : FALSE;
      return result;
    case '<=':
      for (let i = 0; i < rows; i++) result[i] = values[i]! <= literal ? TRUE : FALSE;
      return result;
    case '>':
      for (let i = 0; i < rows; i++) result[i] = values[i]! <= literal ? FALSE : TRUE;
      return result;
    case '>=':
      for (let i = 0; i < rows; i++) result[i] = values[i]! < literal ? FALSE : TRUE;
      return result;
    default:
      return undefined;
  }
}

/** For which signs of value minus literal an operator holds: below, equal, above. */
const HOLDS: Readonly<Record<BoundOperator, readonly [number, number, number]>> = {
  '=': [FALSE, TRUE, FALSE],
  '<=>': [FALSE, TRUE, FALSE],
  '<': [TRUE, FALSE, FALSE],
  '<=': [TRUE, TRUE, FALSE],
  '>': [FALSE, FALSE, TRUE],
  '>=': [FALSE, TRUE, TRUE],
};

/** Signed little-endian integers of two, four or eight 32-bit words, compared word by word: no bigint is made for a row. */
function compareWords(
  values: unknown,
  stride: number,
  op: BoundOperator,
  literal: Datum,
  rows: number,
): Uint8Array {
  const { buffer, byteOffset } = values as Uint8Array;
  const words = new Uint32Array(buffer, byteOffset, rows * stride);
  const wanted = Array.from({ length: stride }, (_, i) =>
    Number(((literal as bigint) >> BigInt(32 * i)) & 0xffff_ffffn),
  );
  const top = stride - 1;
  const high = wanted[top]! | 0;
  const low = wanted[0]!;
  const [below, equal, above] = HOLDS[op];
  const result = new Uint8Array(rows);
  if (stride === 2) {
    for (let row = 0, at = 0; row < rows; row++, at += 2) {
      const upper = words[at + 1]! | 0;
      const lower = words[at]!;
      result[row] =
        upper < high ? below : upper > high ? above : lower < low ? below : lower > low ? above : equal;
    }
    return result;
  }
  for (let row = 0; row < rows; row++) {
    const at = row * stride;
    const upper = words[at + top]! | 0;
    let outcome = upper < high ? below : upper > high ? above : -1;
    for (let i = top - 1; outcome < 0 && i >= 0; i--) {
      const word = words[at + i]!;
      if (word !== wanted[i]) outcome = word < wanted[i]! ? below : above;
    }
    result[row] = outcome < 0 ? equal : outcome;
  }
  return result;
}

/** UTF-8 bytes order as code points do, so nothing is decoded. */
function compareText(data: ArrowData, op: BoundOperator, literal: string, rows: number): Uint8Array {
  const bytes = data.values as Uint8Array;
  const offsets = data.valueOffsets as Int32Array;
  const wanted = new TextEncoder().encode(literal);
  if (op === '=') return equalText(bytes, offsets, wanted, rows);
  const [below, equal, above] = HOLDS[op];
  const result = new Uint8Array(rows);
  for (let row = 0; row < rows; row++) {
    const start = offsets[row]!;
    const length = offsets[row + 1]! - start;
    const shared = Math.min(length, wanted.length);
    let i = 0;
    while (i < shared && bytes[start + i] === wanted[i]) i++;
    if (i < shared) result[row] = bytes[start + i]! < wanted[i]! ? below : above;
    else result[row] = length < wanted.length ? below : length > wanted.length ? above : equal;
  }
  return result;
}

/** From the end: keys often begin alike. */
function equalText(bytes: Uint8Array, offsets: Int32Array, wanted: Uint8Array, rows: number): Uint8Array {
  const result = new Uint8Array(rows);
  const { length } = wanted;
  for (let row = 0; row < rows; row++) {
    const start = offsets[row]!;
    if (offsets[row + 1]! - start !== length) continue;
    let i = length - 1;
    while (i >= 0 && bytes[start + i] === wanted[i]) i--;
    if (i < 0) result[row] = TRUE;
  }
  return result;
}

/** Whether text starts with, or with `whole` is, `prefix`. */
export function startsColumn(
  data: ArrowData,
  prefix: string,
  whole: boolean,
  rows: number,
): Uint8Array | undefined {
  if (data.type.typeId !== ARROW.utf8) return undefined;
  const bytes = data.values as Uint8Array;
  const offsets = data.valueOffsets as Int32Array;
  const wanted = new TextEncoder().encode(prefix);
  if (whole) return equalText(bytes, offsets, wanted, rows);
  const result = new Uint8Array(rows);
  for (let row = 0; row < rows; row++) {
    const start = offsets[row]!;
    if (offsets[row + 1]! - start < wanted.length) continue;
    let i = 0;
    while (i < wanted.length && bytes[start + i] === wanted[i]) i++;
    if (i === wanted.length) result[row] = TRUE;
  }
  return result;
}
