import { decodeUtf8, equalBytes } from '../parquet/flat/byte-text.js';
import { Interner } from '../parquet/flat/interner.js';

/** The interners of a table's partition columns by physical name, shared by all states that descend from one load. */
export class PartitionValues {
  readonly #columns = new Map<string, number>();
  readonly #names: Uint8Array[] = [];
  readonly interners: Interner[] = [];

  /** The number of a column, made when the name is new. */
  column(bytes: Uint8Array, start: number, length: number): number {
    for (let i = 0; i < this.#names.length; i++) {
      const name = this.#names[i] as Uint8Array;
      if (name.length === length && equalBytes(name, 0, bytes, start, length)) return i;
    }
    const text = decodeUtf8(bytes, start, start + length);
    const number = this.#names.length;
    this.#names.push(bytes.slice(start, start + length));
    this.interners.push(new Interner());
    this.#columns.set(text, number);
    return number;
  }

  /** The number of a column, or undefined where no file has ever named it. */
  find(name: string): number | undefined {
    return this.#columns.get(name);
  }

  get size(): number {
    return this.interners.length;
  }
}
