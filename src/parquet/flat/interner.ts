import { decodeUtf8, encodeUtf8, equalBytes, HASH_SEED, hashBytes } from './byte-text.js';

/**
 * Gives each distinct byte string a small integer, without making a string of it more than once. Code 0 is NULL. It only grows, so codes handed out
 * stay valid for every state that shares it.
 */
export class Interner {
  readonly #values: (string | null)[] = [null];
  #slab = new Uint8Array(256);
  #used = 0;
  #starts = new Int32Array(16);
  #lengths = new Int32Array(16);
  #hashes = new Int32Array(16);
  #table = new Int32Array(32);
  #last = 0;

  /** The distinct values by code; the first is NULL. Grows as values are interned. */
  get values(): readonly (string | null)[] {
    return this.#values;
  }

  intern(bytes: Uint8Array, start: number, length: number): number {
    // Neighbours mostly share their partition.
    const last = this.#last;
    if (
      last > 0 &&
      this.#lengths[last] === length &&
      equalBytes(this.#slab, this.#starts[last] as number, bytes, start, length)
    )
      return last;
    const hash = length === 0 ? HASH_SEED : hashBytes(bytes, start, length);
    const mask = this.#table.length - 1;
    let slot = (hash ^ (hash >>> 15)) & mask;
    for (;;) {
      const code = this.#table[slot] as number;
      if (code === 0) break;
      if (
        this.#hashes[code] === hash &&
        this.#lengths[code] === length &&
        equalBytes(this.#slab, this.#starts[code] as number, bytes, start, length)
      ) {
        this.#last = code;
        return code;
      }
      slot = (slot + 1) & mask;
    }
    return this.#add(bytes, start, length, hash, slot);
  }

  internText(text: string): number {
    const bytes = encodeUtf8(text);
    return this.intern(bytes, 0, bytes.length);
  }

  #add(bytes: Uint8Array, start: number, length: number, hash: number, slot: number): number {
    const code = this.#values.length;
    this.#values.push(decodeUtf8(bytes, start, start + length));
    if (this.#used + length > this.#slab.length) {
      const slab = new Uint8Array(Math.max(this.#slab.length * 2, this.#used + length));
      slab.set(this.#slab.subarray(0, this.#used));
      this.#slab = slab;
    }
    this.#slab.set(bytes.subarray(start, start + length), this.#used);
    if (code >= this.#starts.length) {
      this.#starts = doubled(this.#starts);
      this.#lengths = doubled(this.#lengths);
      this.#hashes = doubled(this.#hashes);
    }
    this.#starts[code] = this.#used;
    this.#lengths[code] = length;
    this.#hashes[code] = hash;
    this.#used += length;
    this.#last = code;
    if (code * 2 > this.#table.length) this.#rehash(code);
    else this.#table[slot] = code;
    return code;
  }

  #rehash(newest: number): void {
    const table = new Int32Array(this.#table.length * 2);
    const mask = table.length - 1;
    for (let code = 1; code <= newest; code++) {
      const hash = this.#hashes[code] as number;
      let slot = (hash ^ (hash >>> 15)) & mask;
      while (table[slot] !== 0) slot = (slot + 1) & mask;
      table[slot] = code;
    }
    this.#table = table;
  }
}

function doubled(array: Int32Array): Int32Array<ArrayBuffer> {
  const out = new Int32Array(array.length * 2);
  out.set(array);
  return out;
}
