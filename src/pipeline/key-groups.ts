import type { Context } from '../runtime/context.js';
import { SpillFile } from '../stage/spill.js';

/** Four words of a key's hash and the number of its group. */
const WIDTH = 5;
const BUCKET_BITS = 6;
const FIRST_ROWS = 256;

/** A key that stands in several groups: its hash and the numbers of the groups. */
export interface RepeatedKey {
  readonly hash: readonly number[];
  readonly groups: ReadonlySet<number>;
}

/**
 * Finds keys that stand in more than one group, by their 128-bit hashes. Takes any number of rows: beyond `memory` bytes they wait on the local disk, in
 * buckets by their hash, of which one at a time is looked at. Close it when done; a process that ends before leaves nothing behind.
 */
export class KeyGroups {
  readonly #ctx: Context;
  readonly #memory: number;
  readonly #buckets = Array.from({ length: 1 << BUCKET_BITS }, () => new Bucket());
  #bytes = 0;
  #file: SpillFile | undefined;

  constructor(ctx: Context, memory: number) {
    this.#ctx = ctx;
    this.#memory = memory;
  }

  /** Takes rows: four words of hash each, and the group of each; rows of group -1 are left out. */
  async add(hashes: Int32Array, groups: Int32Array): Promise<void> {
    for (let row = 0; row < groups.length; row++) {
      if (groups[row]! < 0) continue;
      const bucket = this.#buckets[hashes[row * 4]! >>> (32 - BUCKET_BITS)]!;
      bucket.push(hashes, row * 4, groups[row]!);
      this.#bytes += WIDTH * 4;
    }
    if (this.#bytes > this.#memory) await this.#spill();
  }

  /** How many keys stand in several groups, and the first `limit` that come up. */
  async repeated(
    limit: number,
  ): Promise<{ readonly count: number; readonly examples: readonly RepeatedKey[] }> {
    let count = 0;
    const examples: RepeatedKey[] = [];
    for (const bucket of this.#buckets) {
      const words = await bucket.read(this.#file);
      count += repeatedIn(words, limit - examples.length, examples);
    }
    return { count, examples };
  }

  async close(): Promise<void> {
    await this.#file?.close();
  }

  async #spill(): Promise<void> {
    this.#file ??= await SpillFile.create();
    for (const bucket of this.#buckets) await bucket.spill(this.#file);
    this.#ctx.emit({ type: 'spilled', bytes: this.#bytes });
    this.#bytes = 0;
  }
}

class Bucket {
  #words = new Int32Array(FIRST_ROWS * WIDTH);
  #used = 0;
  readonly #spilled: { readonly at: number; readonly bytes: number }[] = [];

  push(hashes: Int32Array, at: number, group: number): void {
    if (this.#used === this.#words.length) {
      const larger = new Int32Array(this.#words.length * 2);
      larger.set(this.#words);
      this.#words = larger;
    }
    const [words, used] = [this.#words, this.#used];
    for (let i = 0; i < 4; i++) words[used + i] = hashes[at + i]!;
    words[used + 4] = group;
    this.#used += WIDTH;
  }

  async spill(file: SpillFile): Promise<void> {
    if (this.#used === 0) return;
    const bytes = this.#used * 4;
    this.#spilled.push({ at: await file.write(new Uint8Array(this.#words.buffer, 0, bytes)), bytes });
    this.#used = 0;
  }

  async read(file: SpillFile | undefined): Promise<Int32Array> {
    const own = this.#words.subarray(0, this.#used);
    if (!file || this.#spilled.length === 0) return own;
    const spilled = this.#spilled.reduce((sum, { bytes }) => sum + bytes, 0);
    const words = new Int32Array(spilled / 4 + own.length);
    let to = 0;
    for (const { at, bytes } of this.#spilled) {
      await file.readInto(at, new Uint8Array(words.buffer, to, bytes));
      to += bytes;
    }
    words.set(own, to / 4);
    return words;
  }
}

/** Counts the keys of a bucket that stand in several groups, and adds up to `limit` of them to `examples`. */
function repeatedIn(words: Int32Array, limit: number, examples: RepeatedKey[]): number {
  const rows = words.length / WIDTH;
  let size = 2;
  while (size < rows * 2) size *= 2;
  /** The first row of each key, from 1. */
  const table = new Int32Array(size);
  const isRepeated = new Uint8Array(rows);
  const shown = new Map<number, Set<number>>();
  let count = 0;
  for (let row = 0; row < rows; row++) {
    const at = row * WIDTH;
    // The highest bits chose the bucket; these are of another word.
    let slot = words[at + 1]! & (size - 1);
    while (table[slot]! !== 0 && !isSameKey(words, (table[slot]! - 1) * WIDTH, at))
      slot = (slot + 1) & (size - 1);
    if (table[slot] === 0) {
      table[slot] = row + 1;
      continue;
    }
    const first = table[slot]! - 1;
    const [group, known] = [words[at + 4]!, words[first * WIDTH + 4]!];
    if (group === known) continue;
    if (isRepeated[first] === 0) {
      isRepeated[first] = 1;
      count++;
      if (shown.size < limit) shown.set(first, new Set([known]));
    }
    shown.get(first)?.add(group);
  }
  for (const [first, groups] of shown)
    examples.push({ hash: Array.from(words.subarray(first * WIDTH, first * WIDTH + 4)), groups });
  return count;
}

function isSameKey(words: Int32Array, a: number, b: number): boolean {
  return (
    words[a] === words[b] &&
    words[a + 1] === words[b + 1] &&
    words[a + 2] === words[b + 2] &&
    words[a + 3] === words[b + 3]
  );
}
