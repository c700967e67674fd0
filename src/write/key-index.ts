import type { ColumnData } from '../parquet/column/assemble.js';
import { equalBytes, hashBytes } from '../parquet/flat/byte-text.js';
import type { DataType } from '../schema/types.js';

/** The keys of rows, `width` words each; 1 for each row with a text that the index has never seen. */
interface Keys {
  readonly words: Int32Array;
  readonly unknown: Uint8Array | undefined;
}

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
    const { words } = this.#encode(columns, rows, true);
    for (let row = 0, at = 0; row < rows; row++, at += this.#width) {
      if (words[at] !== 0 && !nulls) continue;
      const slot = this.#slot(words, at);
      const entry = this.#table[slot]! - 1;
      if (entry >= 0) this.#rows[entry] = onDuplicate(this.#rows[entry]!, firstRow + row);
      else this.#insert(words.subarray(at, at + this.#width), firstRow + row, slot);
    }
  }

  /** For each row the number of the row added with the same key, or -1. */
  find(columns: readonly ColumnData[], rows: number, nulls: boolean): Int32Array {
    const found = new Int32Array(rows).fill(-1);
    if (this.#count === 0) return found;
    if (this.#isOneLong && columns[0]!.nullCount === 0) return this.#findLongs(columns[0]!, rows, found);
    const { words, unknown } = this.#encode(columns, rows, false);
    for (let row = 0, at = 0; row < rows; row++, at += this.#width) {
      if (unknown?.[row] === 1 || (words[at] !== 0 && !nulls)) continue;
      const entry = this.#table[this.#slot(words, at)]! - 1;
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

  /** Column by column, since a call for each value costs more than the work. */
  #encode(columns: readonly ColumnData[], rows: number, adds: boolean): Keys {
    const width = this.#width;
    const words = new Int32Array(rows * width);
    let unknown: Uint8Array | undefined;
    columns.forEach((column, i) => {
      const start = this.#starts[i]!;
      const valid = column.nullCount > 0 ? column.validity : undefined;
      const texts = this.#texts[i];
      if (texts) {
        for (let row = 0, at = start; row < rows; row++, at += width) {
          if (valid !== undefined && (valid[row >> 3]! & (1 << (row & 7))) === 0) continue;
          const from = column.offsets![row]!;
          const length = column.offsets![row + 1]! - from;
          words[at] = adds
            ? texts.intern(column.values!, from, length)
            : texts.find(column.values!, from, length);
          if (words[at] !== 0) continue;
          unknown ??= new Uint8Array(rows);
          unknown[row] = 1;
        }
      } else putFixed(this.#types[i]!, column.values, rows, { words, start, width });
      if (valid === undefined) return;
      const end = this.#starts[i + 1] ?? width;
      for (let row = 0, at = 0; row < rows; row++, at += width) {
        if ((valid[row >> 3]! & (1 << (row & 7))) !== 0) continue;
        words[at]! |= 1 << i;
        words.fill(0, at + start, at + end);
      }
    });
    return { words, unknown };
  }

  /** The slot of a key: of its entry, or the empty one where it would go. */
  #slot(keys: Int32Array, at: number): number {
    const width = this.#width;
    const words = this.#words;
    const mask = this.#table.length - 1;
    let hash = 0;
    for (let i = 0; i < width; i++) {
      hash = Math.imul(hash ^ keys[at + i]!, MIX);
      hash ^= hash >>> 15;
    }
    for (let slot = hash & mask; ; slot = (slot + 1) & mask) {
      const entry = this.#table[slot]! - 1;
      if (entry < 0) return slot;
      let same = 0;
      const start = entry * width;
      while (same < width && words[start + same] === keys[at + same]) same++;
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
      this.#table[this.#slot(this.#words, entry * width)] = entry + 1;
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

interface Place {
  readonly words: Int32Array;
  readonly start: number;
  readonly width: number;
}

/** Puts the words of a column of fixed width into the keys of rows. */
function putFixed(type: DataType, bytes: Uint8Array | undefined, rows: number, place: Place): void {
  // A column of NULL alone may have no memory.
  if (bytes === undefined) return;
  const { buffer, byteOffset, length } = bytes;
  switch (type.type) {
    case 'boolean': {
      const { words, start, width } = place;
      for (let row = 0, at = start; row < rows; row++, at += width) {
        words[at] = (bytes[row >> 3]! >> (row & 7)) & 1;
      }
      break;
    }
    case 'byte':
      putNumbers(new Int8Array(buffer, byteOffset, length), rows, place);
      break;
    case 'short':
      putNumbers(new Int16Array(buffer, byteOffset, length >> 1), rows, place);
      break;
    case 'float':
      putWords(bytes, 1, rows, place);
      canonicalise(new Float32Array(buffer, byteOffset, length >> 2), 1, CANONICAL_NAN_FLOAT, rows, place);
      break;
    case 'double':
      putWords(bytes, 2, rows, place);
      canonicalise(new Float64Array(buffer, byteOffset, length >> 3), 2, CANONICAL_NAN, rows, place);
      break;
    default:
      putWords(bytes, wordsOf(type), rows, place);
  }
}

function putNumbers(values: Int8Array | Int16Array, rows: number, { words, start, width }: Place): void {
  for (let row = 0, at = start; row < rows; row++, at += width) words[at] = values[row]!;
}

function putWords(bytes: Uint8Array, count: number, rows: number, { words, start, width }: Place): void {
  const from = new Int32Array(bytes.buffer, bytes.byteOffset, bytes.length >> 2);
  for (let word = 0; word < count; word++) {
    for (let row = 0, at = start + word; row < rows; row++, at += width)
      words[at] = from[row * count + word]!;
  }
}

/** One form for both zeros, and one for every NaN. */
function canonicalise(
  values: Float32Array | Float64Array,
  count: number,
  nan: number,
  rows: number,
  { words, start, width }: Place,
): void {
  for (let row = 0, at = start; row < rows; row++, at += width) {
    const value = values[row]!;
    if (value !== 0 && !Number.isNaN(value)) continue;
    words.fill(0, at, at + count);
    if (value !== 0) words[at + count - 1] = nan;
  }
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
