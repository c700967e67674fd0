import type * as arrow from 'apache-arrow';
import { abortError } from '../runtime/system.js';
import type { BatchSource } from './feed.js';

/** What runs beside the caller on behalf of one write. It fails once: the first error stops everything and is what the caller gets. */
export class Work {
  readonly #stop = new AbortController();
  readonly #signal: AbortSignal | undefined;
  readonly #onAbort = (): void => this.fail(abortError(this.#signal!));
  readonly #waiters: (() => void)[] = [];
  #error: { readonly value: unknown } | undefined;
  #running = 0;
  #interrupt: (() => void) | undefined;

  constructor(signal: AbortSignal | undefined) {
    this.#signal = signal;
    if (signal?.aborted) this.#onAbort();
    signal?.addEventListener('abort', this.#onAbort, { once: true });
  }

  /** Fires when the write has failed. */
  get signal(): AbortSignal {
    return this.#stop.signal;
  }

  get running(): number {
    return this.#running;
  }

  /** Counts work that runs by itself; its failure is the write's. Never rejects. */
  async track(work: Promise<void>): Promise<void> {
    this.#running++;
    try {
      await work;
    } catch (error) {
      this.fail(error);
    } finally {
      this.#running--;
      this.wake();
    }
  }

  /** Does `step` for each of the items, `lanes` of them at a time. Throws the write's error. */
  async each<T>(items: Iterable<T>, lanes: number, step: (item: T) => Promise<void>): Promise<void> {
    const waiting = [...items].reverse();
    const lane = async (): Promise<void> => {
      for (let item = waiting.pop(); item !== undefined; item = waiting.pop()) {
        this.check();
        await step(item);
      }
    };
    await Promise.all(Array.from({ length: lanes }, () => this.track(lane())));
    this.check();
  }

  /** Resolves when something has come to an end, memory was given back, or the write has failed. */
  progress(): Promise<void> {
    return new Promise((resolve) => this.#waiters.push(resolve));
  }

  wake(): void {
    for (const wake of this.#waiters.splice(0)) wake();
  }

  /** Waits for all that runs. Throws the write's error. */
  async settled(): Promise<void> {
    while (this.#running > 0) await this.progress();
    this.check();
  }

  fail(error: unknown): void {
    if (this.#error) return;
    this.#error = { value: error };
    this.#stop.abort(error);
    this.#interrupt?.();
    this.wake();
  }

  check(): void {
    if (this.#error) throw this.#error.value;
  }

  /** Fails the write, waits for what still runs, and gives the error to throw. */
  async abandon(error: unknown): Promise<unknown> {
    this.fail(error);
    while (this.#running > 0) await this.progress();
    return this.#error!.value;
  }

  close(): void {
    this.#signal?.removeEventListener('abort', this.#onAbort);
  }

  /** A source's batches, until the write fails; a source that is slow to answer then is not waited for. */
  async *guard(source: BatchSource): AsyncGenerator<arrow.RecordBatch> {
    const iterator =
      Symbol.asyncIterator in source ? source[Symbol.asyncIterator]() : source[Symbol.iterator]();
    let ended = false;
    try {
      for (;;) {
        this.check();
        // Not a race against one promise for all batches: that would hold on to each of them.
        const next = await new Promise<IteratorResult<arrow.RecordBatch> | undefined>((resolve, reject) => {
          this.#interrupt = () => resolve(undefined);
          Promise.resolve(iterator.next()).then(resolve, reject);
        });
        this.check();
        if (next?.done) {
          ended = true;
          return;
        }
        yield next!.value;
      }
    } finally {
      // A source that stands still would let the caller wait for its end as well.
      if (!ended) void (async () => iterator.return?.())().catch(() => {});
    }
  }
}
