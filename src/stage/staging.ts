import { isSmall } from '../parquet/encode-small.js';
import type { Context } from '../runtime/context.js';
import { partitionKey } from '../schema/partition-value.js';
import type { Gathering } from './feed.js';
import { type Hold, type Memory, SLAB_BYTES, type Slice, shareSlices, sliceInput } from './memory.js';
import { Overflow } from './overflow.js';
import { newPartition, type Partition } from './partition-rows.js';
import type { planStage, StageSpec } from './plan.js';
import type { Pool } from './pool.js';
import type { TaskOutput } from './protocol.js';
import type { StagedFile } from './staged.js';
import { encode, split } from './tasks.js';
import type { Uploads } from './uploads.js';
import type { Work } from './work.js';

const DEFAULT_TARGET = 128 * 2 ** 20;
/** Bytes of rows that become a row group at most; what the engine uses for one is several times this. */
const GROUP_BYTES = 24 * 2 ** 20;
const SMALLEST_GROUP_BYTES = 2 ** 20;
/** When memory is short, a partition with less than this goes to the disk rather than into a row group too small to be of use. */
const SPILL_BELOW_BYTES = 2 * 2 ** 20;
/** Fewer rows are split sooner than a thread is asked. */
const INLINE_ROWS = 4096;
/** So few rows are encoded sooner than a thread is asked. */
const INLINE_ENCODE_ROWS = 32;

/** The last rows of a partition become a row group for each thread that has nothing else to do, of so many rows at least. */
const SHARED_ROWS = 2 ** 16;

/** The rows of one write between source and files: split by partition, kept until they are worth a row group, encoded. */
export class Staging {
  readonly #ctx: Context;
  readonly #pool: Pool;
  readonly #plan: ReturnType<typeof planStage>;
  readonly #work: Work;
  readonly #memory: Memory;
  readonly #overflow: Overflow;
  readonly #uploads: Uploads;
  readonly #target: number;
  readonly #groupBytes: number;
  readonly #partitions = new Map<string, Partition>();
  /** The same by the raw values, which spares most rows' values the reading. */
  readonly #byRaws = new Map<string, Partition>();
  #splitting = 0;
  #distributed: Promise<void> = Promise.resolve();

  constructor(
    ctx: Context,
    pool: Pool,
    plan: ReturnType<typeof planStage>,
    spec: StageSpec,
    work: Work,
    memory: Memory,
    uploads: Uploads,
  ) {
    this.#ctx = ctx;
    this.#pool = pool;
    this.#plan = plan;
    this.#work = work;
    this.#memory = memory;
    this.#uploads = uploads;
    this.#overflow = new Overflow(ctx, pool, plan, work, memory);
    this.#target = spec.targetFileSize ?? DEFAULT_TARGET;
    this.#groupBytes = Math.min(GROUP_BYTES, Math.max(SMALLEST_GROUP_BYTES, this.#target * 2));
  }

  /** Copies the rows gathered and sends them on their way, when there is room for them. */
  async accept(gathering: Gathering): Promise<void> {
    const alone = this.#plan.partition.length === 0;
    await this.#uploads.keepUp();
    await this.#memory.room(alone ? SLAB_BYTES : SLAB_BYTES * 2, () => this.#relieve());
    const memory = this.#memory.take(gathering.bytes);
    const { rows, bytes } = gathering.take(memory);
    this.#ctx.emit({ type: 'rowsStaged', rows });
    const hold: Hold = { memory, whole: true, users: 1 };
    if (alone) {
      this.#distribute([[]], Int32Array.of(0, rows), hold, bytes);
      return;
    }
    const done = this.#split(hold, rows, bytes);
    const turn = this.#distributed;
    const distribute = async (): Promise<void> => {
      const [sorted] = await Promise.all([done, turn]);
      this.#distribute(sorted.groups, sorted.starts, sorted.hold, bytes);
    };
    this.#distributed = this.#work.track(distribute());
    while (this.#splitting > this.#pool.size + 1) await this.#work.progress();
  }

  /** Brings every partition to its files. */
  async finish(): Promise<StagedFile[]> {
    await this.#distributed;
    this.#work.check();
    await this.#work.each(this.#partitions.values(), this.#pool.size * 2, (partition) =>
      this.#finish(partition),
    );
    await this.#work.settled();
    return this.#uploads.files;
  }

  async close(): Promise<void> {
    await this.#overflow.close();
    this.#pool.slabs.trim();
  }

  async #split(
    hold: Hold,
    rows: number,
    bytes: number,
  ): Promise<{ groups: TaskOutput<'split'>['groups']; starts: Int32Array; hold: Hold }> {
    const target = this.#memory.take(bytes);
    const input = { plan: this.#plan, memory: hold.memory, rows, target };
    this.#splitting++;
    try {
      const output =
        rows <= INLINE_ROWS
          ? split(input).output
          : await this.#pool.run('split', input, { signal: this.#work.signal });
      const { groups, starts } = output;
      const moved = output.bytes > 0;
      this.#memory.give(moved ? hold.memory : target);
      return { groups, starts, hold: moved ? { memory: target, whole: false, users: 1 } : hold };
    } finally {
      this.#splitting--;
    }
  }

  /** Gives each partition its rows of a sorted chunk. */
  #distribute(groups: TaskOutput<'split'>['groups'], starts: Int32Array, hold: Hold, bytes: number): void {
    const total = starts[starts.length - 1]!;
    groups.forEach((raws, i) => {
      const partition = this.#partition(raws);
      const rows = starts[i + 1]! - starts[i]!;
      const slice = { hold, at: 0, start: starts[i]!, rows, bytes: Math.ceil((bytes * rows) / total) };
      hold.users++;
      partition.slices.push(slice);
      partition.bytes += slice.bytes;
      if (partition.bytes >= this.#groupBytes) this.#encode(partition);
    });
    this.#memory.letGo(hold);
  }

  #partition(raws: readonly (string | null)[]): Partition {
    const text = JSON.stringify(raws);
    const known = this.#byRaws.get(text);
    if (known) return known;
    const types = this.#plan.partition.map((i) => this.#plan.types[i]!);
    const key = partitionKey(types, raws);
    const partition = this.#partitions.get(key) ?? newPartition(this.#partitions.size, raws);
    this.#partitions.set(key, partition);
    this.#byRaws.set(text, partition);
    return partition;
  }

  /** Sends a partition's rows in memory to be encoded as a row group. */
  #encode(partition: Partition, slices: readonly Slice[] = partition.slices.splice(0)): void {
    partition.bytes = partition.slices.reduce((sum, slice) => sum + slice.bytes, 0);
    const turn = partition.encoded;
    const encode = async (): Promise<void> => {
      const part = await this.#encoded(slices).finally(() => {
        for (const { hold } of slices) this.#memory.letGo(hold);
      });
      this.#memory.encoded += part.bytes.length;
      await turn;
      await this.#append(partition, part);
    };
    partition.encoded = this.#work.track(encode());
  }

  async #encoded(slices: readonly Slice[]): Promise<TaskOutput<'encode'>> {
    const input = { plan: this.#plan, slices: slices.map(sliceInput) };
    const rows = slices.reduce((sum, slice) => sum + slice.rows, 0);
    if (rows <= INLINE_ENCODE_ROWS && isSmall(this.#plan.file, rows)) return (await encode(input)).output;
    return this.#pool.run('encode', input, { signal: this.#work.signal });
  }

  async #append(partition: Partition, { bytes, rows, statistics }: TaskOutput<'encode'>): Promise<void> {
    partition.parts.push({ bytes, size: bytes.length, tail: bytes, rows, statistics });
    partition.partBytes += bytes.length;
    // Closed at the row group after which the size comes closest to the target.
    if (partition.partBytes + bytes.length / 2 > this.#target) await this.#closeFile(partition);
  }

  async #closeFile(partition: Partition): Promise<void> {
    const { parts } = partition;
    partition.parts = [];
    partition.partBytes = 0;
    await this.#uploads.begin(partition, parts);
  }

  async #finish(partition: Partition): Promise<void> {
    while (partition.pieces.length > 0) {
      const slices = await this.#overflow.readBack(partition, this.#groupBytes);
      if (partition.pieces.length === 0) slices.push(...partition.slices.splice(0));
      this.#encode(partition, slices);
      await partition.encoded;
    }
    if (partition.slices.length > 0) this.#encodeLast(partition);
    await partition.encoded;
    this.#work.check();
    if (partition.parts.length > 0) await this.#closeFile(partition);
  }

  #encodeLast(partition: Partition): void {
    const slices = partition.slices.splice(0);
    const rows = slices.reduce((sum, slice) => sum + slice.rows, 0);
    const threads = Math.floor(this.#pool.size / this.#partitions.size);
    const count = Math.max(1, Math.min(threads, Math.floor(rows / SHARED_ROWS)));
    for (const share of shareSlices(slices, count)) this.#encode(partition, share);
  }

  /** Encodes what is worth it, and moves the rest, and row groups of open files, to the disk. False where there is nothing in memory. */
  async #relieve(): Promise<boolean> {
    const live = [...this.#partitions.values()].filter((partition) => partition.slices.length > 0);
    for (const partition of live) if (partition.bytes >= SPILL_BELOW_BYTES) this.#encode(partition);
    const parts = this.#memory.encoded > this.#memory.limit / 4;
    if (parts) await this.#overflow.spillParts(this.#partitions.values());
    await this.#overflow.spillRows(live.filter((partition) => partition.slices.length > 0));
    return live.length > 0 || parts;
  }
}
