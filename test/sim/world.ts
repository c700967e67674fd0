import { TableError } from '../../src/errors.js';
import type { Definition } from '../../src/pipeline/definition.js';
import type { Job } from '../../src/pipeline/job.js';
import type { Clock, Ids } from '../../src/runtime/context.js';
import { createRuntime, type Runtime } from '../../src/runtime/runtime.js';
import { abortError } from '../../src/runtime/system.js';
import type { TableContext } from '../../src/runtime/table-context.js';
import { Latest } from '../../src/snapshot/latest.js';
import { Pool } from '../../src/stage/pool.js';
import { MemoryObjects, MemoryStore } from '../../src/store/memory.js';
import type { ObjectMeta, PutIfAbsentResult, RequestOptions, Store } from '../../src/store/store.js';

/** Numbers in [0, 1) from a seed. */
export function seeded(seed: number): () => number {
  let state = (seed * 2_654_435_761) >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), state | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

interface Sleeper {
  readonly at: number;
  readonly wake: () => void;
}

/** Time that passes only when nothing else can happen: then the earliest sleeper wakes. */
class SimClock implements Clock {
  #time: number;
  #sleepers: Sleeper[] = [];
  #ticking = false;

  constructor(start: number) {
    this.#time = start;
  }

  now(): number {
    return Math.floor(this.#time);
  }

  monotonic(): number {
    return this.#time;
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(abortError(signal));
      const onAbort = (): void => {
        this.#sleepers = this.#sleepers.filter((each) => each !== sleeper);
        reject(abortError(signal!));
      };
      const wake = (): void => {
        signal?.removeEventListener('abort', onAbort);
        resolve();
      };
      const sleeper = { at: this.#time + Math.max(0, ms), wake };
      signal?.addEventListener('abort', onAbort, { once: true });
      this.#sleepers.push(sleeper);
      this.#tick();
    });
  }

  #tick(): void {
    if (this.#ticking) return;
    this.#ticking = true;
    setImmediate(() => {
      this.#ticking = false;
      let next: Sleeper | undefined;
      for (const each of this.#sleepers) if (!next || each.at < next.at) next = each;
      if (!next) return;
      this.#sleepers = this.#sleepers.filter((each) => each !== next);
      this.#time = Math.max(this.#time, next.at);
      next.wake();
      if (this.#sleepers.length > 0) this.#tick();
    });
  }
}

/** How often what goes wrong, as chances of each store call. */
export interface Faults {
  /** The process dies, before or after the call has its effect. */
  readonly crash: number;
  /** The call has its effect and no reply comes. */
  readonly lostReply: number;
  /** The call fails without an effect. */
  readonly failure: number;
  /** A put-if-absent reaches the store twice, and the second answer is told. */
  readonly duplicate: number;
  /** A put-if-absent is told to be ambiguous and has its effect later. */
  readonly late: number;
}

export const NO_FAULTS: Faults = { crash: 0, lostReply: 0, failure: 0, duplicate: 0, late: 0 };

/** What a process that died is told by every call. */
export class Crashed extends Error {}

/** The store as one process sees it: each call takes a while, and some go wrong. */
export class FaultyStore implements Store {
  readonly ordered = true;
  isDead = false;
  /** How often it was called. */
  calls = 0;
  readonly #inner: Store;
  readonly #clock: Clock;
  readonly #random: () => number;
  readonly #faults: Faults;

  constructor(inner: Store, clock: Clock, random: () => number, faults: Faults) {
    this.#inner = inner;
    this.#clock = clock;
    this.#random = random;
    this.#faults = faults;
  }

  get url(): string {
    return this.#inner.url;
  }

  get = (key: string): Promise<Uint8Array> => this.#call(() => this.#inner.get(key));
  getRange = (key: string, start: number, end: number): Promise<Uint8Array> =>
    this.#call(() => this.#inner.getRange(key, start, end));
  getTail = (key: string, length: number): Promise<{ bytes: Uint8Array; size: number }> =>
    this.#call(() => this.#inner.getTail(key, length));
  head = (key: string): Promise<ObjectMeta | undefined> => this.#call(() => this.#inner.head(key));
  put = (key: string, bytes: Uint8Array): Promise<void> => this.#call(() => this.#inner.put(key, bytes));
  putStream = (key: string, chunks: AsyncIterable<Uint8Array>): Promise<number> =>
    this.#call(() => this.#inner.putStream(key, chunks));
  delete = (key: string): Promise<void> => this.#call(() => this.#inner.delete(key));

  async putIfAbsent(key: string, bytes: Uint8Array): Promise<PutIfAbsentResult> {
    const { duplicate, late } = this.#faults;
    const kept = bytes.slice();
    if (this.#random() < late && !this.isDead) {
      const delay = 1 + this.#random() * 500;
      void this.#clock.sleep(delay).then(() => this.#inner.putIfAbsent(key, kept));
      return { outcome: 'ambiguous', cause: new Error('no answer in time') };
    }
    try {
      return await this.#call(async () => {
        const first = await this.#inner.putIfAbsent(key, bytes);
        return this.#random() < duplicate ? this.#inner.putIfAbsent(key, bytes) : first;
      });
    } catch (error) {
      if (error instanceof TableError && error.code === 'STORE_TIMEOUT')
        return { outcome: 'ambiguous', cause: error };
      throw error;
    }
  }

  async *list(
    prefix: string,
    options?: RequestOptions & { readonly after?: string },
  ): AsyncGenerator<readonly ObjectMeta[]> {
    const pages = await this.#call(async () => {
      const found: (readonly ObjectMeta[])[] = [];
      for await (const page of this.#inner.list(prefix, { after: options?.after })) found.push(page);
      return found;
    });
    yield* pages;
  }

  async #call<T>(run: () => Promise<T>): Promise<T> {
    this.#assertAlive();
    this.calls++;
    await this.#clock.sleep(1 + this.#random() * 10);
    this.#assertAlive();
    const { crash, failure, lostReply } = this.#faults;
    if (this.#random() < crash / 2) this.#die();
    if (this.#random() < failure)
      throw new TableError('STORE_FAILED', 'The store failed, as it sometimes does.');
    const answer = await run();
    if (this.#random() < crash / 2) this.#die();
    if (this.#random() < lostReply) throw new TableError('STORE_TIMEOUT', 'No answer came.');
    await this.#clock.sleep(this.#random() * 10);
    this.#assertAlive();
    return answer;
  }

  #assertAlive(): void {
    if (this.isDead) throw new Crashed('This process is dead.');
  }

  #die(): never {
    this.isDead = true;
    throw new Crashed('This process died.');
  }
}

/** One store, one clock, and processes that come and go. */
export class World {
  readonly clock: Clock;
  readonly random: () => number;
  readonly #objects = new MemoryObjects();
  readonly #seed: number;
  #processes = 0;
  readonly #pool: Pool;

  constructor(seed: number, now: string, pool: Pool) {
    this.#seed = seed;
    this.random = seeded(seed);
    this.clock = new SimClock(Date.parse(now));
    this.#pool = pool;
  }

  /** A new process with a pipeline that works on the one table of the world. */
  process(definition: Definition, faults: Faults = NO_FAULTS): Job {
    const table = this.table(faults);
    return { definition, table, runtime: { table: () => table } as unknown as Runtime };
  }

  /** The one table of the world, as a new process sees it. */
  table(faults: Faults = NO_FAULTS): TableContext {
    const number = ++this.#processes;
    const random = seeded(this.#seed * 1000 + number);
    let uuids = 0;
    const ids: Ids = {
      uuid: () => `${String(number).padStart(8, '0')}-0000-4000-8000-${String(++uuids).padStart(12, '0')}`,
      random,
    };
    const runtime = createRuntime({ clock: this.clock, ids });
    const known = runtime.table('memory://world');
    const inner = new MemoryStore(known.ctx, known.url, this.#objects);
    const store = new FaultyStore(inner, this.clock, random, faults);
    return {
      ...known,
      store,
      latest: new Latest(store, known.ctx),
      pool: async () => this.#pool,
      assertSafe: async () => undefined,
    };
  }
}

/** Worker threads, which small tables never ask for. */
export function idlePool(): Pool {
  return new Pool({ emit: () => undefined }, { workers: 1 });
}
