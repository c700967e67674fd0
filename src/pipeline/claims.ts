import { isTableError } from '../errors.js';
import type { Interval } from '../interval/interval.js';
import { instantText } from '../interval/interval.js';
import type { Job } from './job.js';
import { encodeName } from './ledger.js';

/** How long a claim counts that is not renewed. */
const LEASE_MS = 30_000;
const RENEW_MS = 10_000;

/**
 * Hints among workers that know nothing of each other, so that two seldom produce the same interval: `_intervale/claims/...`, put if absent, with the time in it.
 * Nothing depends on them: what counts is decided by the commit. A worker that finds itself alone leaves none.
 */
export class Claims {
  readonly #job: Job;
  readonly #owner: string;
  readonly #own = new Set<string>();

  constructor(job: Job) {
    this.#job = job;
    this.#owner = job.table.ctx.ids.uuid();
  }

  /** True when another worker is at an interval of the pipeline now. One listing, and a request for each claim of others up to the first that counts. */
  async others(): Promise<boolean> {
    const { store, ctx } = this.#job.table;
    try {
      for await (const page of store.list(this.#root)) {
        for (const { key } of page) {
          if (this.#own.has(key)) continue;
          if (ctx.clock.now() - (await this.#heldAt(key)).at < LEASE_MS) return true;
        }
      }
    } catch (error) {
      if (isTableError(error, 'ABORTED')) throw error;
    }
    return false;
  }

  /** False when another worker is at the interval now. Faults of the store are no reason to stand still: then it is taken. */
  async take(interval: Interval, attempt: number): Promise<boolean> {
    const { store, ctx } = this.#job.table;
    const key = this.#key(interval, attempt);
    try {
      const put = await store.putIfAbsent(key, this.#bytes());
      if (put.outcome !== 'exists') return true;
      const held = await this.#heldAt(key);
      if (held.owner === this.#owner) return true;
      if (ctx.clock.now() - held.at < LEASE_MS) return false;
      await store.put(key, this.#bytes());
      return true;
    } catch (error) {
      if (isTableError(error, 'ABORTED')) throw error;
      return true;
    }
  }

  /** Keeps a claim alive while `task` runs, and takes it back afterwards. */
  async during<T>(interval: Interval, attempt: number, task: () => Promise<T>): Promise<T> {
    const { store, ctx } = this.#job.table;
    const key = this.#key(interval, attempt);
    const done = new AbortController();
    this.#own.add(key);
    const renewing = this.#renew(key, done.signal);
    try {
      return await task();
    } finally {
      done.abort();
      await renewing;
      this.#own.delete(key);
      await store.delete(key).catch((error: unknown) => {
        ctx.emit({
          type: 'warning',
          message: `A claim could not be taken back: ${String(error)}`,
          file: key,
        });
      });
    }
  }

  async #renew(key: string, signal: AbortSignal): Promise<void> {
    const { store, ctx } = this.#job.table;
    while (!signal.aborted) {
      try {
        await ctx.clock.sleep(RENEW_MS, signal);
        await store.put(key, this.#bytes());
      } catch {
        // The task is done, or the claim runs out, which costs another worker's time at the worst.
        return;
      }
    }
  }

  #key({ startMs, endMs }: Interval, attempt: number): string {
    const span = `${instantText(startMs)}-${instantText(endMs)}`.replaceAll(':', '');
    return `${this.#root}${span}/${attempt + 1}`;
  }

  get #root(): string {
    return `_intervale/claims/${encodeName(this.#job.definition.name)}/`;
  }

  async #heldAt(key: string): Promise<{ readonly owner: string; readonly at: number }> {
    const bytes = await this.#job.table.store.get(key);
    return JSON.parse(new TextDecoder().decode(bytes)) as { owner: string; at: number };
  }

  #bytes(): Uint8Array {
    const claim = { owner: this.#owner, at: this.#job.table.ctx.clock.now() };
    return new TextEncoder().encode(JSON.stringify(claim));
  }
}
