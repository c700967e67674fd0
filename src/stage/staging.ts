import type * as arrow from 'apache-arrow';
import { tailOf } from '../parquet/encode-join.js';
import type { Context } from '../runtime/context.js';
import { abortError } from '../runtime/system.js';
import { partitionKey } from '../schema/partition-value.js';
import type { Store } from '../store/store.js';
import type { BatchSource, Gathering } from './feed.js';
import { type FilePlace, fileKey, type Part, storeFile } from './files.js';
import { SLAB_BYTES } from './memory.js';
import type { planStage, StageSpec } from './plan.js';
import type { Pool } from './pool.js';
import type { TaskOutput } from './protocol.js';
import { SpillFile } from './spill.js';
import type { StagedFile } from './staged.js';
import { type SliceInput, split } from './tasks.js';

const DEFAULT_TARGET = 128 * 2 ** 20;
/** Bytes of rows that become a row group at most; what the engine uses for one is several times this. */
const GROUP_BYTES = 24 * 2 ** 20;
/** When memory is short, a partition with less than this goes to the spill file rather than into a row group too small to be of use. */
const SMALL_GROUP_BYTES = 2 * 2 ** 20;
/** Fewer rows are split sooner than a thread is asked. */
const INLINE_ROWS = 4096;
/** Files that are stored at a time, and partitions that are brought to an end at a time. */
const UPLOADS = 8;
const FINISHING = 16;

/** Shared memory with rows, given back when the last of them has been encoded or spilled. */
interface Hold {
  readonly memory: SharedArrayBuffer;
  readonly whole: boolean;
  users: number;
}

interface Slice {
  readonly hold: Hold;
  /** Where its chunk starts in the memory. */
  readonly at: number;
  readonly start: number;
  readonly rows: number;
  /** About how many bytes of the memory are this slice's. */
  readonly bytes: number;
}

interface Piece {
  readonly at: number;
  readonly bytes: number;
  readonly rows: number;
}

interface Partition {
  readonly raws: readonly (string | null)[];
  slices: Slice[];
  bytes: number;
  /** Rows in the spill file, older than those in `slices`. */
  pieces: Piece[];
  parts: Part[];
  partBytes: number;
  /** Resolves when what was sent to be encoded has come back, in order. */
  encoded: Promise<void>;
}

/** One write on its way to the store. Fails once: the first error stops everything else and is what the caller gets. */
export class Staging {
  readonly plan: ReturnType<typeof planStage>;
  readonly #store: Store;
  readonly #ctx: Context;
  readonly #pool: Pool;
  readonly #spec: StageSpec;
  readonly #limit: number;
  readonly #target: number;
  readonly #stop = new AbortController();
  readonly #stopped = new Promise<undefined>((resolve) => {
    this.#stop.signal.addEventListener('abort', () => resolve(undefined), { once: true });
  });
  readonly #onAbort = (): void => this.#fail(abortError(this.#spec.signal!));
  readonly #partitions = new Map<string, Partition>();
  readonly #byRaws = new Map<string, Partition>();
  readonly #keys: string[] = [];
  readonly #files: { readonly number: number; readonly file: StagedFile }[] = [];
  readonly #waiters: (() => void)[] = [];
  #error: { readonly value: unknown } | undefined;
  /** Bytes of slabs in use and of encoded row groups in memory. */
  #used = 0;
  #partsInMemory = 0;
  #working = 0;
  #splitting = 0;
  #uploading = 0;
  #accepted: Promise<void> = Promise.resolve();
  #spill: SpillFile | undefined;

  constructor(store: Store, ctx: Context, pool: Pool, plan: ReturnType<typeof planStage>, spec: StageSpec) {
    this.plan = plan;
    this.#store = store;
    this.#ctx = ctx;
    this.#pool = pool;
    this.#spec = spec;
    this.#limit = spec.memory ?? pool.memory;
    this.#target = spec.targetFileSize ?? DEFAULT_TARGET;
    if (spec.signal?.aborted) this.#onAbort();
    spec.signal?.addEventListener('abort', this.#onAbort, { once: true });
  }

  /** The source's batches, until something here fails; a source that is slow to answer then is not waited for. */
  async *guard(source: BatchSource): AsyncGenerator<arrow.RecordBatch> {
    const iterator =
      Symbol.asyncIterator in source ? source[Symbol.asyncIterator]() : source[Symbol.iterator]();
    let ended = false;
    try {
      for (;;) {
        this.#check();
        const next = await Promise.race([iterator.next(), this.#stopped]);
        if (!next) break;
        if (next.done) {
          ended = true;
          return;
        }
        yield next.value;
      }
    } catch (error) {
      ended = true;
      throw error;
    } finally {
      if (!ended) void Promise.resolve(iterator.return?.()).catch(() => {});
    }
    this.#check();
  }

  /** Copies the rows gathered and sends them on their way, when there is room for them. */
  async accept(gathering: Gathering): Promise<void> {
    const alone = this.plan.partition.length === 0;
    const size = Math.max(gathering.bytes, gathering.bytes > SLAB_BYTES / 32 ? SLAB_BYTES : 0);
    await this.#room(alone ? size : size * 2);
    const memory = this.#take(gathering.bytes);
    const { rows, bytes } = gathering.take(memory);
    this.#ctx.emit({ type: 'rowsStaged', rows });
    const hold: Hold = { memory, whole: true, users: 1 };
    if (alone) {
      this.#distribute([[]], Int32Array.of(0, rows), hold, bytes);
      return;
    }
    const done = this.#split(hold, rows, bytes);
    const turn = this.#accepted;
    this.#accepted = this.#track(
      Promise.all([done, turn]).then(([{ groups, starts, hold: sorted }]) =>
        this.#distribute(groups, starts, sorted, bytes),
      ),
    );
    while (this.#splitting > this.#pool.size + 1) await this.#progress();
  }

  /** Brings every partition to its files. */
  async finish(): Promise<StagedFile[]> {
    await this.#accepted;
    this.#check();
    const waiting = [...this.#partitions.values()];
    const lane = async (): Promise<void> => {
      for (let partition = waiting.shift(); partition; partition = waiting.shift()) {
        this.#check();
        await this.#finishPartition(partition);
      }
    };
    await Promise.all(Array.from({ length: FINISHING }, () => this.#track(lane())));
    while (this.#working > 0) await this.#progress();
    this.#check();
    return this.#files.sort((a, b) => a.number - b.number).map(({ file }) => file);
  }

  /** Stops what still runs, waits for it, deletes what was stored. Gives the error to throw: the first, whatever `error` is. */
  async abandon(error: unknown): Promise<unknown> {
    this.#fail(error);
    while (this.#working > 0) await this.#progress();
    await Promise.all(
      this.#keys.map(async (key) => {
        try {
          await this.#store.delete(key);
        } catch (cause) {
          this.#ctx.emit({
            type: 'warning',
            message: `A staged file could not be deleted: ${String(cause)}`,
            file: key,
          });
        }
      }),
    );
    return this.#error!.value;
  }

  async close(): Promise<void> {
    this.#spec.signal?.removeEventListener('abort', this.#onAbort);
    await this.#spill?.close();
    this.#pool.slabs.trim();
  }

  async #split(
    hold: Hold,
    rows: number,
    bytes: number,
  ): Promise<{ groups: readonly (readonly (string | null)[])[]; starts: Int32Array; hold: Hold }> {
    const target = this.#take(bytes);
    const input = { plan: this.plan, memory: hold.memory, rows, target };
    this.#splitting++;
    try {
      const {
        groups,
        starts,
        bytes: sorted,
      } = rows <= INLINE_ROWS
        ? split(input).output
        : await this.#pool.run('split', input, { signal: this.#stop.signal });
      this.#give(sorted === 0 ? target : hold.memory);
      return { groups, starts, hold: sorted === 0 ? hold : { memory: target, whole: false, users: 1 } };
    } finally {
      this.#splitting--;
      this.#wake();
    }
  }

  /** Gives each partition its rows of a sorted chunk. */
  #distribute(
    groups: readonly (readonly (string | null)[])[],
    starts: Int32Array,
    hold: Hold,
    bytes: number,
  ): void {
    const rows = starts[starts.length - 1]!;
    groups.forEach((raws, i) => {
      const partition = this.#partition(raws);
      const own = starts[i + 1]! - starts[i]!;
      const slice = { hold, at: 0, start: starts[i]!, rows: own, bytes: Math.ceil((bytes * own) / rows) };
      hold.users++;
      partition.slices.push(slice);
      partition.bytes += slice.bytes;
      if (partition.bytes >= this.#groupBytes()) this.#encode(partition);
    });
    this.#letGo(hold);
  }

  #partition(raws: readonly (string | null)[]): Partition {
    const text = JSON.stringify(raws);
    let partition = this.#byRaws.get(text);
    if (partition) return partition;
    const key = partitionKey(
      this.plan.partition.map((i) => this.plan.types[i]!),
      raws,
    );
    partition = this.#partitions.get(key);
    if (!partition) {
      partition = {
        raws,
        slices: [],
        bytes: 0,
        pieces: [],
        parts: [],
        partBytes: 0,
        encoded: Promise.resolve(),
      };
      this.#partitions.set(key, partition);
    }
    this.#byRaws.set(text, partition);
    return partition;
  }

  /** Sends a partition's rows in memory to be encoded as a row group. */
  #encode(partition: Partition): void {
    const { slices } = partition;
    partition.slices = [];
    partition.bytes = 0;
    this.#encodeSlices(partition, slices);
  }

  #encodeSlices(partition: Partition, slices: readonly Slice[]): void {
    const input = { plan: this.plan, slices: slices.map(sliceInput) };
    const done = this.#pool.run('encode', input, { signal: this.#stop.signal }).finally(() => {
      for (const { hold } of slices) this.#letGo(hold);
    });
    partition.encoded = this.#track(
      Promise.all([done, partition.encoded]).then(([part]) => this.#append(partition, part)),
    );
  }

  async #append(partition: Partition, part: TaskOutput<'encode'>): Promise<void> {
    const { bytes, rows, statistics } = part;
    partition.parts.push({ bytes, size: bytes.length, tail: bytes, rows, statistics });
    partition.partBytes += bytes.length;
    this.#used += bytes.length;
    this.#partsInMemory += bytes.length;
    // Closed at the row group after which the size comes closest to the target.
    if (partition.partBytes + bytes.length / 2 > this.#target) await this.#storeFile(partition);
  }

  async #storeFile(partition: Partition): Promise<void> {
    const { parts, raws } = partition;
    partition.parts = [];
    partition.partBytes = 0;
    const place: FilePlace = {
      names: this.plan.names,
      raws,
      folder: this.#spec.dataFolder,
      number: this.#keys.length,
    };
    const key = fileKey(place, this.#ctx.ids.uuid());
    this.#keys.push(key);
    while (this.#uploading >= UPLOADS) await this.#progress();
    this.#check();
    this.#uploading++;
    try {
      const file = await storeFile(this.#store, this.#ctx, this.plan, place, key, parts, this.#stop.signal);
      this.#files.push({ number: place.number, file });
      this.#ctx.emit({ type: 'fileStaged', path: file.path, rows: file.rows, bytes: file.size });
    } finally {
      this.#uploading--;
      for (const { bytes } of parts) if (bytes instanceof Uint8Array) this.#partGone(bytes);
      this.#wake();
    }
  }

  async #finishPartition(partition: Partition): Promise<void> {
    while (partition.pieces.length > 0) {
      const slices = await this.#readBack(partition);
      if (partition.pieces.length === 0) slices.push(...partition.slices.splice(0));
      this.#encodeSlices(partition, slices);
      await partition.encoded;
    }
    if (partition.slices.length > 0) this.#encode(partition);
    await partition.encoded;
    this.#check();
    if (partition.parts.length > 0) await this.#storeFile(partition);
  }

  /** The oldest of a partition's spilled rows, as many as a row group takes. */
  async #readBack(partition: Partition): Promise<Slice[]> {
    const slices: Slice[] = [];
    let hold: Hold | undefined;
    let end = 0;
    for (let total = 0; partition.pieces.length > 0 && total < this.#groupBytes(); ) {
      const piece = partition.pieces.shift()!;
      if (!hold || end + piece.bytes > hold.memory.byteLength) {
        if (hold) this.#letGo(hold);
        hold = { memory: this.#take(Math.max(piece.bytes, SLAB_BYTES)), whole: false, users: 1 };
        end = 0;
      }
      await this.#spill!.readInto(piece.at, new Uint8Array(hold.memory, end, piece.bytes));
      hold.users++;
      slices.push({ hold, at: end, start: 0, rows: piece.rows, bytes: piece.bytes });
      end += piece.bytes;
      total += piece.bytes;
    }
    if (hold) this.#letGo(hold);
    return slices;
  }

  /** Waits until so many bytes more may be used; makes room where nothing that runs will. */
  async #room(bytes: number): Promise<void> {
    for (;;) {
      this.#check();
      if (this.#used + bytes <= this.#limit) return;
      if (this.#working > 0) await this.#progress();
      else if (!(await this.#relieve())) return;
    }
  }

  /** Encodes large partitions and spills small ones and row groups of open files. False where there is nothing in memory. */
  async #relieve(): Promise<boolean> {
    const live = [...this.#partitions.values()].filter((partition) => partition.slices.length > 0);
    const small = live.filter((partition) => partition.bytes < SMALL_GROUP_BYTES);
    for (const partition of live) if (partition.bytes >= SMALL_GROUP_BYTES) this.#encode(partition);
    const parts = this.#partsInMemory > this.#limit / 4;
    if (parts) await this.#spillParts();
    if (small.length > 0) await this.#spillRows(small);
    return live.length > 0 || parts;
  }

  async #spillParts(): Promise<void> {
    this.#spill ??= await SpillFile.create();
    for (const partition of this.#partitions.values()) {
      for (const [i, part] of partition.parts.entries()) {
        if (!(part.bytes instanceof Uint8Array)) continue;
        const at = await this.#spill.write(part.bytes);
        this.#ctx.emit({ type: 'spilled', bytes: part.bytes.length });
        partition.parts[i] = { ...part, bytes: { spill: this.#spill, at }, tail: tailOf(part.bytes) };
        this.#partGone(part.bytes);
      }
    }
  }

  /** Writes the rows of partitions, each partition's together, to the spill file. */
  async #spillRows(partitions: readonly Partition[]): Promise<void> {
    this.#spill ??= await SpillFile.create();
    const spill = this.#spill;
    const waiting = [...partitions];
    const lane = async (): Promise<void> => {
      while (waiting.length > 0) {
        this.#check();
        let bytes = 0;
        const mine: Partition[] = [];
        while (waiting.length > 0 && (bytes === 0 || bytes + waiting[0]!.bytes < SLAB_BYTES * 0.9)) {
          bytes += waiting[0]!.bytes;
          mine.push(waiting.shift()!);
        }
        waiting.unshift(...(await this.#pack(spill, mine)));
      }
    };
    await Promise.all(Array.from({ length: this.#pool.size }, () => this.#track(lane())));
    this.#check();
  }

  /** Spills as many of the partitions as fit into one slab and gives back the others. */
  async #pack(spill: SpillFile, partitions: readonly Partition[]): Promise<Partition[]> {
    const groups = partitions.map(({ slices }) => slices.map(sliceInput));
    for (let size = SLAB_BYTES; ; size *= 2) {
      const target = this.#take(size);
      try {
        const input = { plan: this.plan, groups, target };
        const { starts } = await this.#pool.run('pack', input, { signal: this.#stop.signal });
        const packed = starts.length - 1;
        if (packed === 0) continue;
        const at = await spill.write(new Uint8Array(target, 0, starts[packed]!));
        this.#ctx.emit({ type: 'spilled', bytes: starts[packed]! });
        partitions.slice(0, packed).forEach((partition, i) => {
          const rows = partition.slices.reduce((sum, slice) => sum + slice.rows, 0);
          partition.pieces.push({ at: at + starts[i]!, bytes: starts[i + 1]! - starts[i]!, rows });
          for (const { hold } of partition.slices) this.#letGo(hold);
          partition.slices = [];
          partition.bytes = 0;
        });
        return partitions.slice(packed);
      } finally {
        this.#give(target);
      }
    }
  }

  #groupBytes(): number {
    return Math.min(GROUP_BYTES, Math.max(SLAB_BYTES / 8, this.#target * 2));
  }

  #take(bytes: number): SharedArrayBuffer {
    const memory = this.#pool.slabs.take(bytes);
    this.#used += memory.byteLength;
    return memory;
  }

  #give(memory: SharedArrayBuffer): void {
    this.#used -= memory.byteLength;
    this.#pool.slabs.give(memory);
    this.#wake();
  }

  #letGo(hold: Hold): void {
    if (--hold.users === 0) this.#give(hold.memory);
  }

  #partGone(bytes: Uint8Array): void {
    this.#used -= bytes.length;
    this.#partsInMemory -= bytes.length;
  }

  /** Counts work that runs by itself; its failure is the write's. */
  async #track(work: Promise<void>): Promise<void> {
    this.#working++;
    try {
      await work;
    } catch (error) {
      this.#fail(error);
    } finally {
      this.#working--;
      this.#wake();
    }
  }

  /** Resolves when something that runs has come to an end. */
  #progress(): Promise<void> {
    return new Promise((resolve) => this.#waiters.push(resolve));
  }

  #wake(): void {
    for (const wake of this.#waiters.splice(0)) wake();
  }

  #fail(error: unknown): void {
    if (this.#error) return;
    this.#error = { value: error };
    this.#stop.abort(error);
    this.#wake();
  }

  #check(): void {
    if (this.#error) throw this.#error.value;
  }
}

function sliceInput({ hold, at, start, rows }: Slice): SliceInput {
  return { memory: hold.memory, at, whole: hold.whole, start, rows };
}
