/** The usual size of memory that holds rows: large enough to be worth a message between threads, small enough that both cores soon have work. */
export const SLAB_BYTES = 8 * 2 ** 20;

/** Below this, memory of its own is cheaper than a slab. */
const SMALL_BYTES = 256 * 1024;

/** Slabs that are kept for the next write. */
const KEPT = 8;

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
