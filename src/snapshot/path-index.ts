import { equalBytes, hashBytes, powerOfTwo } from '../parquet/flat/byte-text.js';
import type { ByteValues } from '../parquet/flat/column.js';

/** Spans of byte strings by row. */
export interface PathSpans {
  readonly count: number;
  readonly values: ByteValues;
  /** The place of a row's span; undefined stands for "at the row". */
  readonly places: Int32Array | undefined;
}

/** A hash index from path to rows, of paths that do not change. */
export class PathIndex {
  readonly #spans: PathSpans;
  readonly #hashes: Int32Array;
  readonly #table: Int32Array;

  constructor(spans: PathSpans) {
    this.#spans = spans;
    const { count, values, places } = spans;
    this.#hashes = new Int32Array(count);
    this.#table = new Int32Array(powerOfTwo(count * 2));
    const mask = this.#table.length - 1;
    for (let row = 0; row < count; row++) {
      const place = places === undefined ? row : (places[row] as number);
      const hash = hashBytes(values.slab, values.starts[place] as number, values.lengths[place] as number);
      this.#hashes[row] = hash;
      let slot = (hash ^ (hash >>> 15)) & mask;
      while (this.#table[slot] !== 0) slot = (slot + 1) & mask;
      this.#table[slot] = row + 1;
    }
  }

  rowsOf(bytes: Uint8Array, start: number, length: number, hash: number, onRow: (row: number) => void): void {
    const { values, places } = this.#spans;
    const mask = this.#table.length - 1;
    for (let slot = (hash ^ (hash >>> 15)) & mask; ; slot = (slot + 1) & mask) {
      const row = (this.#table[slot] as number) - 1;
      if (row < 0) return;
      if (this.#hashes[row] !== hash) continue;
      const place = places === undefined ? row : (places[row] as number);
      if (
        values.lengths[place] === length &&
        equalBytes(values.slab, values.starts[place] as number, bytes, start, length)
      )
        onRow(row);
    }
  }
}
