import type { ColumnData } from '../parquet/column/assemble.js';
import { equalBytes, hashBytes } from '../parquet/flat/byte-text.js';
import type { DataType } from '../schema/types.js';

/** Writes the 32-bit words of a key column's value in a row; false where it is a text that the index has never seen. */
type Encode = (row: number, into: Int32Array, at: number) => boolean;

const MIX = 0x9e3779b1;
const CANONICAL_NAN = 0x7ff80000;
const CANONICAL_NAN_FLOAT = 0x7fc00000;

/**
 * A hash table from exact, typed keys to numbers of rows. A key is a fixed number of 32-bit words: which columns are NULL, then each column's bits; texts
 * stand as small integers given to distinct byte strings. -0 is 0 and NaN is NaN, as everywhere; nothing is rounded or joined.
 */
export class KeyIndex {
  readonly #types: readonly DataType[];
  readonly #starts: readonly number[];
  readonly #width: number;
  readonly #texts: readonly (ByteIndex | undefined)[];
  #words: Int32Array;
  #rows = new Int32Array(1024);
  #table = new Int32Array(2048);
  #count = 0;

  constructor(types: readonly DataType[]) {
    this.#types = types;
    const starts: number[] = [];
    let width = 1;
    for (const type of types) {
      starts.push(width);
      width += wordsOf(type);
    }
    this.#starts = starts;
    this.#width = width;
    this.#words = new Int32Array(1024 * width);
    this.#texts = types.map(({ type }) =>
      type === 'string' || type === 'binary' ? new ByteIndex() : undefined,
    );
  }

  /** The number of distinct keys. */
  get size(): number {
    return this.#count;
  }

  /**
   * Adds the keys of rows `firstRow` and on. Where a key is there already, `onDuplicate(kept, row)` says which of the two rows stands for it. Rows with a
   * NULL in their key are left out unless `nulls`.
   */
  add(
    columns: readonly ColumnData[],
    rows: number,
    firstRow: number,
    nulls: boolean,
    onDuplicate: (kept: number, row: number) => number,
  ): void {
    const encoders = columns.map((column, i) => this.#encoder(column, i, true));
    const validity = columns.map(nullTest);
    const key = new Int32Array(this.#width);
    for (let row = 0; row < rows; row++) {
      if (!this.#encode(row, encoders, validity, key) || (key[0] !== 0 && !nulls)) continue;
      const slot = this.#slot(key);
      const entry = this.#table[slot]! - 1;
      if (entry >= 0) this.#rows[entry] = onDuplicate(this.#rows[entry]!, firstRow + row);
      else this.#insert(key, firstRow + row, slot);
    }
  }

  /** For each row the number of the row added with the same key, or -1. */
  find(columns: readonly ColumnData[], rows: number, nulls: boolean): Int32Array {
    const found = new Int32Array(rows).fill(-1);
    if (this.#count === 0) return found;
    if (this.#isOneLong && columns[0]!.nullCount === 0) return this.#findLongs(columns[0]!, rows, found);
    const encoders = columns.map((column, i) => this.#encoder(column, i, false));
    const validity = columns.map(nullTest);
    const key = new Int32Array(this.#width);
    for (let row = 0; row < rows; row++) {
      if (!this.#encode(row, encoders, validity, key) || (key[0] !== 0 && !nulls)) continue;
      const entry = this.#table[this.#slot(key)]! - 1;
      if (entry >= 0) found[row] = this.#rows[entry]!;
    }
    return found;
  }

  get #isOneLong(): boolean {
    return this.#width === 3 && this.#types.length === 1 && this.#types[0]!.type !== 'double';
  }

  /** `find` for the most usual key, without a call a row. */
  #findLongs({ values }: ColumnData, rows: number, found: Int32Array): Int32Array {
    const keys = new Int32Array(values!.buffer, values!.byteOffset, rows * 2);
    const words = this.#words;
    const table = this.#table;
    const mask = table.length - 1;
    for (let row = 0; row < rows; row++) {
      const low = keys[row * 2]!;
      const high = keys[row * 2 + 1]!;
      let hash = Math.imul(low, MIX);
      hash = Math.imul(hash ^ (hash >>> 15) ^ high, MIX);
      hash ^= hash >>> 15;
      for (let slot = hash & mask; ; slot = (slot + 1) & mask) {
        const entry = table[slot]! - 1;
        if (entry < 0) break;
        const start = entry * 3;
        if (words[start + 1] === low && words[start + 2] === high && words[start] === 0) {
          found[row] = this.#rows[entry]!;
          break;
        }
      }
    }
    return found;
  }

  #encode(
    row: number,
    encoders: readonly Encode[],
    validity: readonly (Uint8Array | undefined)[],
    key: Int32Array,
  ): boolean {
    key[0] = 0;
    for (let i = 0; i < encoders.length; i++) {
      const bits = validity[i];
      if (bits !== undefined && (bits[row >> 3]! & (1 << (row & 7))) === 0) {
        key[0] = key[0]! | (1 << i);
        key.fill(0, this.#starts[i]!, this.#starts[i + 1] ?? this.#width);
      } else if (!encoders[i]!(row, key, this.#starts[i]!)) return false;
    }
    return true;
  }

  /** The slot of a key: of its entry, or the empty one where it would go. */
  #slot(key: Int32Array): number {
    const width = this.#width;
    const words = this.#words;
    const mask = this.#table.length - 1;
    let hash = 0;
    for (let i = 0; i < width; i++) {
      hash = Math.imul(hash ^ key[i]!, MIX);
      hash ^= hash >>> 15;
    }
    for (let slot = hash & mask; ; slot = (slot + 1) & mask) {
      const entry = this.#table[slot]! - 1;
      if (entry < 0) return slot;
      let same = 0;
      const start = entry * width;
      while (same < width && words[start + same] === key[same]) same++;
      if (same === width) return slot;
    }
  }

  #insert(key: Int32Array, row: number, slot: number): void {
    const entry = this.#count++;
    if (entry === this.#rows.length) {
      this.#rows = grown(this.#rows);
      this.#words = grown(this.#words);
    }
    this.#words.set(key, entry * this.#width);
    this.#rows[entry] = row;
    this.#table[slot] = entry + 1;
    if (this.#count * 2 > this.#table.length) this.#rehash();
  }

  #rehash(): void {
    this.#table = new Int32Array(this.#table.length * 2);
    const width = this.#width;
    for (let entry = 0; entry < this.#count; entry++) {
      const key = this.#words.subarray(entry * width, (entry + 1) * width);
      this.#table[this.#slot(key)] = entry + 1;
    }
  }

  #encoder(column: ColumnData, index: number, adds: boolean): Encode {
    const type = this.#types[index]!;
    const texts = this.#texts[index];
    const { values, offsets } = column;
    if (texts) {
      return (row, into, at) => {
        const start = offsets![row]!;
        const length = offsets![row + 1]! - start;
        const code = adds ? texts.intern(values!, start, length) : texts.find(values!, start, length);
        into[at] = code;
        return code > 0;
      };
    }
    switch (type.type) {
      case 'boolean':
        return (row, into, at) => {
          into[at] = (values![row >> 3]! >> (row & 7)) & 1;
          return true;
        };
      case 'byte':
        return oneWord(new Int8Array(values!.buffer, values!.byteOffset, values!.length));
      case 'short':
        return oneWord(new Int16Array(values!.buffer, values!.byteOffset, values!.length >> 1));
      case 'float': {
        const floats = new Float32Array(values!.buffer, values!.byteOffset, values!.length >> 2);
        return withCanonicalZeros(floats, wordsAt(values!, 1), CANONICAL_NAN_FLOAT, 1);
      }
      case 'double': {
        const doubles = new Float64Array(values!.buffer, values!.byteOffset, values!.length >> 3);
        return withCanonicalZeros(doubles, wordsAt(values!, 2), CANONICAL_NAN, 2);
      }
      default:
        return wordsAt(values!, wordsOf(type));
    }
  }
}

function wordsOf(type: DataType): number {
  switch (type.type) {
    case 'decimal':
      return 4;
    case 'long':
    case 'double':
    case 'timestamp':
    case 'timestamp_ntz':
      return 2;
    default:
      return 1;
  }
}

function oneWord(values: ArrayLike<number>): Encode {
  return (row, into, at) => {
    into[at] = values[row]!;
    return true;
  };
}

function wordsAt(bytes: Uint8Array, width: number): Encode {
  const words = new Int32Array(bytes.buffer, bytes.byteOffset, bytes.length >> 2);
  if (width === 1) return oneWord(words);
  return (row, into, at) => {
    for (let i = 0; i < width; i++) into[at + i] = words[row * width + i]!;
    return true;
  };
}

function withCanonicalZeros(
  values: Float32Array | Float64Array,
  words: Encode,
  nan: number,
  width: number,
): Encode {
  return (row, into, at) => {
    const value = values[row]!;
    if (value !== 0 && !Number.isNaN(value)) return words(row, into, at);
    into.fill(0, at, at + width);
    if (value !== 0) into[at + width - 1] = nan;
    return true;
  };
}

function nullTest({ nullCount, validity }: ColumnData): Uint8Array | undefined {
  return nullCount > 0 ? validity : undefined;
}

function grown(array: Int32Array): Int32Array<ArrayBuffer> {
  const larger = new Int32Array(array.length * 2);
  larger.set(array);
  return larger;
}

/** Gives distinct byte strings the integers from 1 on. */
class ByteIndex {
  #slab = new Uint8Array(1024);
  #used = 0;
  #ends = new Int32Array(256);
  #table = new Int32Array(512);
  #count = 0;

  /** The integer of a byte string, a new one where it has none. */
  intern(bytes: Uint8Array, start: number, length: number): number {
    const slot = this.#slot(bytes, start, length);
    const known = this.#table[slot]!;
    return known > 0 ? known : this.#add(bytes, start, length, slot);
  }

  /** The integer of a byte string, or 0. */
  find(bytes: Uint8Array, start: number, length: number): number {
    return this.#table[this.#slot(bytes, start, length)]!;
  }

  #slot(bytes: Uint8Array, start: number, length: number): number {
    const mask = this.#table.length - 1;
    const hash = hashBytes(bytes, start, length);
    for (let slot = (hash ^ (hash >>> 15)) & mask; ; slot = (slot + 1) & mask) {
      const code = this.#table[slot]!;
      if (code === 0) return slot;
      const from = this.#ends[code - 1]!;
      if (this.#ends[code]! - from === length && equalBytes(this.#slab, from, bytes, start, length))
        return slot;
    }
  }

  #add(bytes: Uint8Array, start: number, length: number, slot: number): number {
    const code = ++this.#count;
    if (this.#used + length > this.#slab.length) {
      const slab = new Uint8Array(Math.max(this.#slab.length * 2, this.#used + length));
      slab.set(this.#slab);
      this.#slab = slab;
    }
    this.#slab.set(bytes.subarray(start, start + length), this.#used);
    this.#used += length;
    if (code === this.#ends.length) this.#ends = grown(this.#ends);
    this.#ends[code] = this.#used;
    this.#table[slot] = code;
    if (this.#count * 2 > this.#table.length) {
      this.#table = new Int32Array(this.#table.length * 2);
      for (let each = 1; each <= this.#count; each++) {
        const from = this.#ends[each - 1]!;
        this.#table[this.#slot(this.#slab, from, this.#ends[each]! - from)] = each;
      }
    }
    return code;
  }
}
