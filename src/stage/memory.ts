import type { SliceInput } from './tasks.js';
import type { Work } from './work.js';

/** The usual size of memory that holds rows: large enough to be worth a message between threads, small enough that both cores soon have work. */
export const SLAB_BYTES = 8 * 2 ** 20;

/** Below this, memory of its own is cheaper than a slab. */
const SMALL_BYTES = 256 * 1024;

/** Slabs that are kept for the next write. */
const KEPT = 4;

/** Shared memory for rows, used again rather than left to the garbage collector, which does not count it and would let it pile up. */
export class Slabs {
  readonly #free: SharedArrayBuffer[] = [];

  /** Memory of at least so many bytes; what it holds is not zero. */
  take(bytes: number): SharedArrayBuffer {
    if (bytes <= SMALL_BYTES || bytes > SLAB_BYTES) return new SharedArrayBuffer((bytes + 7) & ~7);
    return this.#free.pop() ?? new SharedArrayBuffer(SLAB_BYTES);
  }

  /** Gives memory back; no thread may use it any more. */
  give(memory: SharedArrayBuffer): void {
    if (memory.byteLength === SLAB_BYTES) this.#free.push(memory);
  }

  /** Lets go of what is more than the next write needs at once. */
  trim(): void {
    this.#free.length = Math.min(this.#free.length, KEPT);
  }
}

/** Shared memory with rows, given back when the last of its users has let go. */
export interface Hold {
  readonly memory: SharedArrayBuffer;
  /** Its chunk has every column of the table, not only those that stand in files. */
  readonly whole: boolean;
  users: number;
}

/** Rows of one partition in a chunk. */
export interface Slice {
  readonly hold: Hold;
  /** Where the chunk starts in the memory. */
  readonly at: number;
  readonly start: number;
  readonly rows: number;
  /** About how many bytes are this slice's. */
  readonly bytes: number;
}

export function sliceInput({ hold, at, start, rows }: Slice): SliceInput {
  return { memory: hold.memory, at, whole: hold.whole, start, rows };
}

/** The same slices in `count` lists of about as many rows, in order; cut slices share their hold. */
export function shareSlices(slices: readonly Slice[], count: number): Slice[][] {
  const total = slices.reduce((sum, { rows }) => sum + rows, 0);
  const lists: Slice[][] = Array.from({ length: count }, () => []);
  let before = 0;
  for (const { rows, ...slice } of slices) {
    let cuts = 0;
    for (let done = 0; done < rows; cuts++) {
      const list = Math.floor(((before + done) * count) / total);
      const end = Math.ceil(((list + 1) * total) / count);
      const taken = Math.min(rows - done, end - before - done);
      const bytes = Math.ceil((slice.bytes * taken) / rows);
      lists[list]!.push({ ...slice, start: slice.start + done, rows: taken, bytes });
      done += taken;
    }
    slice.hold.users += cuts - 1;
    before += rows;
  }
  return lists;
}

/** The memory of one write: slabs, and encoded row groups that wait for their file. */
export class Memory {
  readonly limit: number;
  /** Bytes of encoded row groups. */
  encoded = 0;
  readonly #slabs: Slabs;
  readonly #work: Work;
  #rows = 0;

  constructor(slabs: Slabs, limit: number, work: Work) {
    this.#slabs = slabs;
    this.limit = limit;
    this.#work = work;
  }

  get used(): number {
    return this.#rows + this.encoded;
  }

  take(bytes: number): SharedArrayBuffer {
    const memory = this.#slabs.take(bytes);
    this.#rows += memory.byteLength;
    return memory;
  }

  give(memory: SharedArrayBuffer): void {
    this.#rows -= memory.byteLength;
    this.#slabs.give(memory);
    this.#work.wake();
  }

  letGo(hold: Hold): void {
    if (--hold.users === 0) this.give(hold.memory);
  }

  /** Waits until so many bytes more may be used; asks `relieve` to make room where nothing that runs will. It says false when it can do nothing. */
  async room(bytes: number, relieve: () => Promise<boolean>): Promise<void> {
    for (;;) {
      this.#work.check();
      if (this.used + bytes <= this.limit) return;
      if (this.#work.running > 0) await this.#work.progress();
      else if (!(await relieve())) return;
    }
  }
}
