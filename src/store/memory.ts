import type { Context } from '../runtime/context.js';
import type { StoreOperation } from '../runtime/events.js';
import { assertKey, assertNotAborted, assertRange, compareKeys, notFound } from './keys.js';
import { observe, type Tally } from './observe.js';
import type { ObjectMeta, PutIfAbsentResult, RequestOptions, Store } from './store.js';

const PAGE = 1000;

/** The objects of one memory location; several `MemoryStore`s, each with a clock of its own, may stand on one. */
export class MemoryObjects {
  readonly #objects = new Map<string, { bytes: Uint8Array; modifiedAt: number }>();
  #sorted: string[] | undefined;

  get(key: string): { bytes: Uint8Array; modifiedAt: number } | undefined {
    return this.#objects.get(key);
  }

  set(key: string, bytes: Uint8Array, modifiedAt: number): void {
    if (!this.#objects.has(key)) this.#sorted = undefined;
    this.#objects.set(key, { bytes, modifiedAt });
  }

  delete(key: string): void {
    if (this.#objects.delete(key)) this.#sorted = undefined;
  }

  /** Every key by UTF-8 bytes. */
  keys(): readonly string[] {
    this.#sorted ??= [...this.#objects.keys()].sort(compareKeys);
    return this.#sorted;
  }
}

/** A store in this process's memory, for tests, simulation and trials. Nothing outlives the process. */
export class MemoryStore implements Store {
  readonly ordered = true;
  readonly #ctx: Context;
  readonly #objects: MemoryObjects;

  constructor(
    ctx: Context,
    readonly url: string = 'memory://table',
    objects: MemoryObjects = new MemoryObjects(),
  ) {
    this.#ctx = ctx;
    this.#objects = objects;
  }

  get(key: string, options?: RequestOptions): Promise<Uint8Array> {
    return this.#run('get', key, options, (tally) => {
      const bytes = this.#read(key).bytes.slice();
      tally.received = bytes.length;
      return bytes;
    });
  }

  getRange(key: string, start: number, end: number, options?: RequestOptions): Promise<Uint8Array> {
    return this.#run('getRange', key, options, (tally) => {
      assertRange(key, start, end);
      const bytes = this.#read(key).bytes.slice(start, end);
      tally.received = bytes.length;
      return bytes;
    });
  }

  getTail(
    key: string,
    length: number,
    options?: RequestOptions,
  ): Promise<{ bytes: Uint8Array; size: number }> {
    return this.#run('getRange', key, options, (tally) => {
      assertRange(key, 0, length);
      const whole = this.#read(key).bytes;
      const bytes = whole.slice(Math.max(0, whole.length - length));
      tally.received = bytes.length;
      return { bytes, size: whole.length };
    });
  }

  head(key: string, options?: RequestOptions): Promise<ObjectMeta | undefined> {
    return this.#run('head', key, options, (tally) => {
      const found = this.#objects.get(key);
      if (found) return { key, size: found.bytes.length, modifiedAt: found.modifiedAt };
      tally.outcome = 'missing';
      return undefined;
    });
  }

  put(key: string, bytes: Uint8Array, options?: RequestOptions): Promise<void> {
    return this.#run('put', key, options, (tally) => {
      this.#write(key, bytes.slice(), tally);
    });
  }

  async putStream(key: string, chunks: AsyncIterable<Uint8Array>, options?: RequestOptions): Promise<number> {
    const parts: Uint8Array[] = [];
    for await (const chunk of chunks) {
      assertNotAborted(options?.signal);
      parts.push(chunk.slice());
    }
    return this.#run('put', key, options, (tally) => {
      const whole = new Uint8Array(Buffer.concat(parts));
      this.#write(key, whole, tally);
      return whole.length;
    });
  }

  putIfAbsent(key: string, bytes: Uint8Array, options?: RequestOptions): Promise<PutIfAbsentResult> {
    return this.#run('putIfAbsent', key, options, (tally) => {
      if (this.#objects.get(key)) {
        tally.outcome = 'exists';
        return { outcome: 'exists' };
      }
      this.#write(key, bytes.slice(), tally);
      return { outcome: 'created' };
    });
  }

  async *list(
    prefix: string,
    options?: RequestOptions & { readonly after?: string },
  ): AsyncGenerator<readonly ObjectMeta[]> {
    const after = options?.after ?? '';
    for (let last = after; ; ) {
      const page = await this.#run('list', prefix, options, () => this.#page(prefix, last));
      if (page.length > 0) yield page;
      const end = page.at(-1);
      if (!end || page.length < PAGE) return;
      last = end.key;
    }
  }

  delete(key: string, options?: RequestOptions): Promise<void> {
    return this.#run('delete', key, options, () => {
      this.#objects.delete(key);
    });
  }

  #read(key: string): { bytes: Uint8Array; modifiedAt: number } {
    const found = this.#objects.get(key);
    if (!found) throw notFound(this.url, key);
    return found;
  }

  #write(key: string, bytes: Uint8Array, tally: Tally): void {
    assertKey(key);
    this.#objects.set(key, bytes, this.#ctx.clock.now());
    tally.sent = bytes.length;
  }

  #page(prefix: string, after: string): ObjectMeta[] {
    const keys = this.#objects.keys();
    const page: ObjectMeta[] = [];
    for (let i = firstAfter(keys, after, prefix); i < keys.length && page.length < PAGE; i++) {
      const key = keys[i] as string;
      if (!key.startsWith(prefix)) break;
      const object = this.#read(key);
      page.push({ key, size: object.bytes.length, modifiedAt: object.modifiedAt });
    }
    return page;
  }

  async #run<T>(
    operation: StoreOperation,
    key: string,
    options: RequestOptions | undefined,
    run: (tally: Tally) => T,
  ): Promise<T> {
    assertNotAborted(options?.signal);
    return observe(this.#ctx, this.url, operation, key, async (tally) => run(tally));
  }
}

/** The index of the first key that is greater than `after` and not less than `prefix`. */
function firstAfter(keys: readonly string[], after: string, prefix: string): number {
  let low = 0;
  let high = keys.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    const key = keys[middle] as string;
    if (compareKeys(key, after) <= 0 || compareKeys(key, prefix) < 0) low = middle + 1;
    else high = middle;
  }
  return low;
}
