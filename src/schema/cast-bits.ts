import { type ArrowDataLike, isValid, nullsIn } from './arrow-shape.js';

/** The NULLs of a column whose values are being rewritten: the bitmap starting at its first row, and how many. */
export interface NullBits {
  readonly bitmap: Uint8Array | undefined;
  readonly nulls: number;
}

/** The NULLs of `data` as a column that starts at bit 0 has them; shares memory where the bits are aligned. */
export function nullBits(data: ArrowDataLike): NullBits {
  const nulls = nullsIn(data);
  if (nulls === 0 || !data.nullBitmap) return { bitmap: undefined, nulls: 0 };
  return { bitmap: bitsFrom(data.nullBitmap, data.offset, data.length), nulls };
}

/** `length` bits from bit `offset` on, moved to bit 0. */
export function bitsFrom(bits: Uint8Array, offset: number, length: number): Uint8Array {
  const first = offset >> 3;
  const shift = offset & 7;
  const bytes = (length + 7) >> 3;
  if (shift === 0) return bits.subarray(first, first + bytes);
  const moved = new Uint8Array(((length + 63) >> 6) << 3);
  for (let i = 0; i < bytes; i++)
    moved[i] = (bits[first + i]! >> shift) | ((bits[first + i + 1] ?? 0) << (8 - shift));
  return moved;
}

/** The bitmap of the rows that `valid` says are not NULL. */
export function bitsOf(length: number, valid: (i: number) => boolean): NullBits {
  const bitmap = new Uint8Array(((length + 63) >> 6) << 3);
  let nulls = 0;
  for (let i = 0; i < length; i++) {
    if (valid(i)) bitmap[i >> 3]! |= 1 << (i & 7);
    else nulls++;
  }
  return nulls === 0 ? { bitmap: undefined, nulls } : { bitmap, nulls };
}

/** The structs around a column, inmost first: below a NULL one, a column may be NULL whatever its field says. */
export interface Parents {
  readonly data: ArrowDataLike;
  readonly up: Parents | undefined;
}

/** The first row that is NULL and not below a NULL parent, or -1. */
export function firstNull(data: ArrowDataLike, parents: Parents | undefined): number {
  if (nullsIn(data) === 0) return -1;
  for (let i = 0; i < data.length; i++) {
    if (!isValid(data, i) && !belowNull(parents, i)) return i;
  }
  return -1;
}

function belowNull(parents: Parents | undefined, i: number): boolean {
  for (let parent = parents; parent !== undefined; parent = parent.up) {
    if (!isValid(parent.data, i)) return true;
  }
  return false;
}

/** 64-bit values as signed bigints, whatever view a copy of apache-arrow has over them. */
export function signed64(values: unknown): BigInt64Array {
  if (values instanceof BigInt64Array) return values;
  const view = values as ArrayBufferView;
  if (view.byteOffset % 8 === 0)
    return new BigInt64Array(view.buffer as ArrayBuffer, view.byteOffset, view.byteLength >> 3);
  const copy = new Uint8Array(view.byteLength);
  copy.set(new Uint8Array(view.buffer, view.byteOffset, view.byteLength));
  return new BigInt64Array(copy.buffer);
}
