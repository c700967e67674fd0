import type { Leaf } from './footer.js';

/** Byte arrays side by side in one slab; a length of -1 is null. */
export interface ByteValues {
  readonly slab: Uint8Array;
  readonly starts: Int32Array;
  readonly lengths: Int32Array;
}

/**
 * The values of a chunk, one place for each entry (or, in a dense column, for each entry that is there); places of null entries hold 0 (-1 in `codes` and
 * in `lengths`).
 * `bytes`: BYTE_ARRAY. `codes`: BYTE_ARRAY of which every page is dictionary-coded. `fixed`: FIXED_LEN_BYTE_ARRAY and INT96, `width` bytes each.
 */
export type FlatValues =
  | ({ readonly kind: 'bytes' } & ByteValues)
  | { readonly kind: 'codes'; readonly codes: Int32Array; readonly dictionary: ByteValues }
  | { readonly kind: 'fixed'; readonly slab: Uint8Array; readonly width: number }
  | { readonly kind: 'int32'; readonly values: Int32Array }
  | { readonly kind: 'int64'; readonly values: BigInt64Array }
  | { readonly kind: 'float'; readonly values: Float32Array }
  | { readonly kind: 'double'; readonly values: Float64Array }
  | { readonly kind: 'boolean'; readonly values: Uint8Array };

/**
 * One leaf of one row group, decoded. An entry is a row, or, below a repeated node, one place of a list (an empty or null list has one entry too).
 * `definition` and `repetition` hold one level an entry; undefined stands for "all at the maximum" and "all 0".
 */
export interface FlatColumn {
  readonly leaf: Leaf;
  readonly entries: number;
  /** Entries that are not null. */
  readonly present: number;
  /** True where `values` has a place for each present entry only, in their order; all places below mean those then. */
  readonly dense: boolean;
  readonly definition: Uint8Array | undefined;
  readonly repetition: Uint8Array | undefined;
  readonly values: FlatValues;
}

const utf8 = new TextDecoder();

/** True where the entry holds a value. */
export function isPresent(column: FlatColumn, entry: number): boolean {
  return column.definition === undefined || column.definition[entry] === column.leaf.maxDefinition;
}

/** The bytes at a place of a BYTE_ARRAY, FIXED_LEN_BYTE_ARRAY or INT96 column, or undefined where it is null. */
export function bytesAt(column: FlatColumn, place: number): Uint8Array | undefined {
  const { values } = column;
  if (values.kind === 'fixed') {
    if (!column.dense && !isPresent(column, place)) return undefined;
    return values.slab.subarray(place * values.width, (place + 1) * values.width);
  }
  if (values.kind === 'codes') {
    const code = values.codes[place] as number;
    return code < 0 ? undefined : slice(values.dictionary, code);
  }
  return values.kind === 'bytes' ? slice(values, place) : undefined;
}

/** The text at a place of a BYTE_ARRAY column, or undefined where it is null. */
export function textAt(column: FlatColumn, place: number): string | undefined {
  const bytes = bytesAt(column, place);
  return bytes === undefined ? undefined : utf8.decode(bytes);
}

function slice(values: ByteValues, index: number): Uint8Array | undefined {
  const length = values.lengths[index] as number;
  if (length < 0) return undefined;
  const start = values.starts[index] as number;
  return values.slab.subarray(start, start + length);
}

/**
 * The places of an INT32 or INT64 column as doubles, exact up to 2^53 on either side; null places hold 0. Free of BigInt, which would cost an allocation
 * a value.
 */
export function numbersOf(column: FlatColumn): Float64Array {
  const { values } = column;
  if (values.kind === 'int32') return Float64Array.from(values.values);
  if (values.kind !== 'int64') return new Float64Array(0);
  const words = new Int32Array(values.values.buffer, values.values.byteOffset, values.values.length * 2);
  const out = new Float64Array(values.values.length);
  for (let i = 0, w = 0; i < out.length; i++, w += 2) {
    out[i] = (words[w + 1] as number) * 4294967296 + ((words[w] as number) >>> 0);
  }
  return out;
}
