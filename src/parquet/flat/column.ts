import type { Leaf } from './footer.js';

/** Byte arrays side by side in one slab; a length of -1 is null. */
export interface ByteValues {
  readonly slab: Uint8Array;
  readonly starts: Int32Array;
  readonly lengths: Int32Array;
}

/**
 * The values of a chunk, one place for each entry; places of null entries hold 0 (-1 in `codes` and in `lengths`).
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
  readonly definition: Uint8Array | undefined;
  readonly repetition: Uint8Array | undefined;
  readonly values: FlatValues;
}

/** True where the entry holds a value. */
export function isPresent(column: FlatColumn, entry: number): boolean {
  return column.definition === undefined || column.definition[entry] === column.leaf.maxDefinition;
}

const utf8 = new TextDecoder();

/** The bytes of an entry of a BYTE_ARRAY column, or undefined where it is null. */
export function bytesAt(column: FlatColumn, entry: number): Uint8Array | undefined {
  const { values } = column;
  if (values.kind === 'fixed') {
    if (!isPresent(column, entry)) return undefined;
    return values.slab.subarray(entry * values.width, (entry + 1) * values.width);
  }
  if (values.kind === 'codes') {
    const code = values.codes[entry] as number;
    return code < 0 ? undefined : slice(values.dictionary, code);
  }
  return values.kind === 'bytes' ? slice(values, entry) : undefined;
}

/** The text of an entry of a BYTE_ARRAY column, or undefined where it is null. */
export function textAt(column: FlatColumn, entry: number): string | undefined {
  const bytes = bytesAt(column, entry);
  return bytes === undefined ? undefined : utf8.decode(bytes);
}

function slice(values: ByteValues, index: number): Uint8Array | undefined {
  const length = values.lengths[index] as number;
  if (length < 0) return undefined;
  const start = values.starts[index] as number;
  return values.slab.subarray(start, start + length);
}

/**
 * An INT64 column as doubles, exact up to 2^53 on either side; null places hold `whenNull`. Free of BigInt, which would cost an allocation a value.
 */
export function int64AsNumbers(column: FlatColumn, whenNull = 0): Float64Array {
  const out = new Float64Array(column.entries);
  const { values, leaf, definition } = { ...column };
  if (values.kind === 'int32') {
    for (let i = 0; i < out.length; i++) out[i] = values.values[i] as number;
  } else if (values.kind === 'int64') {
    const words = new Int32Array(values.values.buffer, values.values.byteOffset, values.values.length * 2);
    for (let i = 0, w = 0; i < out.length; i++, w += 2)
      out[i] = (words[w + 1] as number) * 4294967296 + ((words[w] as number) >>> 0);
  }
  if (definition !== undefined) {
    for (let i = 0; i < out.length; i++) if (definition[i] !== leaf.maxDefinition) out[i] = whenNull;
  }
  return out;
}
