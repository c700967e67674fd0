import { bitAt, type Column } from './encode-columns.js';

/** The least and the greatest value of a column of bytes, whole. */
export interface TextBounds {
  readonly min: Uint8Array;
  readonly max: Uint8Array;
}

/** Longer bounds are cut in footers, which readers load whole. */
const FOOTER_BYTES = 64;

/**
 * The bounds of strings by their bytes, of rows [from, to); undefined where every row is NULL. `isNull` says more rows to leave out than are NULL in the column itself.
 * Most rows are settled by their first eight bytes, read as two numbers.
 */
export function textBounds(
  column: Column,
  isNull?: (row: number) => boolean,
  from = 0,
  to = column.length,
): TextBounds | undefined {
  const { valid, bit } = column;
  const offsets = column.offsets!;
  const bytes = column.values!;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const whole = bytes.byteLength - 8;
  let min = -1;
  let max = -1;
  let minHigh = 0;
  let minLow = 0;
  let maxHigh = 0;
  let maxLow = 0;
  for (let row = from; row < to; row++) {
    if ((valid && !bitAt(valid, bit + row)) || isNull?.(row)) continue;
    const start = offsets[row]!;
    const length = offsets[row + 1]! - start;
    let high: number;
    let low: number;
    if (length >= 8 && start <= whole) {
      high = view.getUint32(start);
      low = view.getUint32(start + 4);
    } else {
      high = beginning(bytes, start, length);
      low = length > 4 ? beginning(bytes, start + 4, length - 4) : 0;
    }
    if (min < 0) {
      min = max = row;
      minHigh = maxHigh = high;
      minLow = maxLow = low;
      continue;
    }
    if (
      high < minHigh ||
      (high === minHigh && (low < minLow || (low === minLow && isLess(bytes, offsets, row, min))))
    ) {
      min = row;
      minHigh = high;
      minLow = low;
    } else if (
      high > maxHigh ||
      (high === maxHigh && (low > maxLow || (low === maxLow && isLess(bytes, offsets, max, row))))
    ) {
      max = row;
      maxHigh = high;
      maxLow = low;
    }
  }
  if (min < 0) return undefined;
  const value = (row: number): Uint8Array => bytes.slice(offsets[row]!, offsets[row + 1]!);
  return { min: value(min), max: value(max) };
}

/** Whether there is a NaN, NULL aside, among the floats or doubles of a column. */
export function hasNaN({ values, length, valid, bit }: Column, isDouble: boolean): boolean {
  const { buffer, byteOffset } = values!;
  const numbers = isDouble
    ? new Float64Array(buffer, byteOffset, length)
    : new Float32Array(buffer, byteOffset, length);
  for (let row = 0; row < length; row++) {
    if (Number.isNaN(numbers[row]!) && (!valid || bitAt(valid, bit + row))) return true;
  }
  return false;
}

/** The bounds as a footer has them: short ones whole, a long minimum cut, a long maximum cut and raised; undefined where it cannot be raised. */
export function footerBounds({ min, max }: TextBounds): {
  min: Uint8Array;
  minExact: boolean;
  max?: Uint8Array;
  maxExact: boolean;
} {
  const minExact = min.length <= FOOTER_BYTES;
  const maxExact = max.length <= FOOTER_BYTES;
  return {
    min: minExact ? min : min.slice(0, characterEnd(min)),
    minExact,
    max: maxExact ? max : raised(max.slice(0, characterEnd(max))),
    maxExact,
  };
}

function beginning(bytes: Uint8Array, start: number, length: number): number {
  let value = 0;
  for (let i = 0; i < 4; i++) value = value * 256 + (i < length ? bytes[start + i]! : 0);
  return value;
}

function isLess(bytes: Uint8Array, offsets: Int32Array, a: number, b: number): boolean {
  const startA = offsets[a]!;
  const startB = offsets[b]!;
  const lengthA = offsets[a + 1]! - startA;
  const lengthB = offsets[b + 1]! - startB;
  const shorter = Math.min(lengthA, lengthB);
  for (let i = 0; i < shorter; i++) {
    const difference = bytes[startA + i]! - bytes[startB + i]!;
    if (difference !== 0) return difference < 0;
  }
  return lengthA < lengthB;
}

/** Where the last character ends that ends within what a footer takes. */
function characterEnd(bytes: Uint8Array): number {
  let end = FOOTER_BYTES;
  while (end > 0 && (bytes[end]! & 0xc0) === 0x80) end--;
  return end;
}

/** The least text of whole characters, no longer than `prefix`, above everything that begins with it. */
function raised(prefix: Uint8Array): Uint8Array | undefined {
  const characters = [...new TextDecoder('utf-8', { ignoreBOM: true }).decode(prefix)];
  for (let last = characters.pop(); last !== undefined; last = characters.pop()) {
    const next = last.codePointAt(0)! + 1;
    if (next <= 0x10ffff) {
      const character = String.fromCodePoint(next >= 0xd800 && next < 0xe000 ? 0xe000 : next);
      return new TextEncoder().encode(characters.join('') + character);
    }
  }
  return undefined;
}
