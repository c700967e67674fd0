import { tailOf } from '../parquet/encode-join.js';
import type { Context } from '../runtime/context.js';
import { type Hold, type Memory, SLAB_BYTES, type Slice, sliceInput } from './memory.js';
import type { Partition } from './partition-rows.js';
import type { StagePlan } from './plan.js';
import type { Pool } from './pool.js';
import { SpillFile } from './spill.js';
import type { Work } from './work.js';

/** What one write has on the local disk because memory would not do. */
export class Overflow {
  readonly #ctx: Context;
  readonly #pool: Pool;
  readonly #plan: StagePlan;
  readonly #work: Work;
  readonly #memory: Memory;
  #file: Promise<SpillFile> | undefined;

  constructor(ctx: Context, pool: Pool, plan: StagePlan, work: Work, memory: Memory) {
    this.#ctx = ctx;
    this.#pool = pool;
    this.#plan = plan;
    this.#work = work;
    this.#memory = memory;
  }

  /** Moves the row groups of open files to the disk. */
  async spillParts(partitions: Iterable<Partition>): Promise<void> {
    const file = await this.#open();
    for (const partition of partitions) {
      for (const [i, part] of partition.parts.entries()) {
        const { bytes } = part;
        if (!(bytes instanceof Uint8Array)) continue;
        const at = await this.#write(file, bytes);
        partition.parts[i] = { ...part, bytes: { spill: file, at }, tail: tailOf(bytes) };
        this.#memory.encoded -= bytes.length;
      }
    }
  }

  /** Moves the rows that partitions have in memory to the disk, each partition's together. */
  async spillRows(partitions: readonly Partition[]): Promise<void> {
    const loads: Partition[][] = [];
    let bytes = Number.POSITIVE_INFINITY;
    for (const partition of partitions) {
      bytes += partition.bytes;
      if (bytes > SLAB_BYTES * 0.9) {
        loads.push([]);
        bytes = partition.bytes;
      }
      loads.at(-1)!.push(partition);
    }
    await this.#work.each(loads, this.#pool.size, async (load) => {
      for (let rest = load; rest.length > 0; ) rest = await this.#pack(rest);
    });
  }

  /** The oldest of a partition's rows on the disk, about `bytes` of them, in memory. */
  async readBack(partition: Partition, bytes: number): Promise<Slice[]> {
    const file = await this.#open();
    const slices: Slice[] = [];
    let hold: Hold | undefined;
    let end = 0;
    for (let total = 0; partition.pieces.length > 0 && total < bytes; ) {
      const piece = partition.pieces.shift()!;
      if (!hold || end + piece.bytes > hold.memory.byteLength) {
        if (hold) this.#memory.letGo(hold);
        hold = { memory: this.#memory.take(Math.max(piece.bytes, SLAB_BYTES)), whole: false, users: 1 };
        end = 0;
      }
      await file.readInto(piece.at, new Uint8Array(hold.memory, end, piece.bytes));
      hold.users++;
      slices.push({ hold, at: end, start: 0, rows: piece.rows, bytes: piece.bytes });
      end += piece.bytes;
      total += piece.bytes;
    }
    if (hold) this.#memory.letGo(hold);
    return slices;
  }

  async close(): Promise<void> {
    const file = await this.#file?.catch(() => undefined);
    await file?.close();
  }

  /** Spills as many of the partitions as fit into one slab and gives back the others. */
  async #pack(partitions: readonly Partition[]): Promise<Partition[]> {
    const file = await this.#open();
    const groups = partitions.map(({ slices }) => slices.map(sliceInput));
    for (let size = SLAB_BYTES; ; size *= 2) {
      const target = this.#memory.take(size);
      try {
        const input = { plan: this.#plan, groups, target };
        const { starts } = await this.#pool.run('pack', input, { signal: this.#work.signal });
        const packed = starts.length - 1;
        // The first alone is larger than was thought.
        if (packed === 0) continue;
        const at = await this.#write(file, new Uint8Array(target, 0, starts[packed]!));
        for (const [i, partition] of partitions.slice(0, packed).entries()) {
          const rows = partition.slices.reduce((sum, slice) => sum + slice.rows, 0);
          partition.pieces.push({ at: at + starts[i]!, bytes: starts[i + 1]! - starts[i]!, rows });
          for (const { hold } of partition.slices) this.#memory.letGo(hold);
          partition.slices = [];
          partition.bytes = 0;
        }
        return partitions.slice(packed);
      } finally {
        this.#memory.give(target);
      }
    }
  }

  async #write(file: SpillFile, bytes: Uint8Array): Promise<number> {
    this.#work.check();
    const at = await file.write(bytes);
    this.#ctx.emit({ type: 'spilled', bytes: bytes.length });
    return at;
  }

  #open(): Promise<SpillFile> {
    this.#file ??= SpillFile.create();
    return this.#file;
  }
}
