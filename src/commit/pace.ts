import type { Context } from '../runtime/context.js';

const CONTENTION_MEMORY_MS = 1_000;
const IMPATIENT_MS = 1_000;
const FIRST_GUESS_MS = 20;
const LONGEST_WAIT_MS = 1_000;

/**
 * How a writer of one table spaces its tries among writers in other processes. Everyone waits a random part of a window as wide as one commit of each
 * contender takes; who has waited long takes a narrower one, and who has just won against others stands back a little, so that nobody starves.
 */
export class Pace {
  readonly #ctx: Context;
  #putMs = FIRST_GUESS_MS;
  #contenders = 1;
  #lastLossAt = Number.NEGATIVE_INFINITY;

  constructor(ctx: Context) {
    this.#ctx = ctx;
  }

  /** True when another process won a version here a moment ago: then listing first is cheaper than a put that is bound to fail. */
  contended(): boolean {
    return this.#ctx.clock.monotonic() - this.#lastLossAt < CONTENTION_MEMORY_MS;
  }

  /** Records how long a put took, in milliseconds. */
  measured(putMs: number): void {
    this.#putMs = 0.7 * this.#putMs + 0.3 * Math.min(putMs, LONGEST_WAIT_MS);
  }

  /** Records how many versions of others came between two looks at the log. */
  seen(foreignCommits: number): void {
    this.#contenders = 0.5 * this.#contenders + 0.5 * Math.min(Math.max(foreignCommits, 1), 32);
  }

  /** After a lost version: waits before the log is looked at again. `waitedMs` is how long this commit has been trying. */
  async afterLoss(waitedMs: number, signal?: AbortSignal): Promise<void> {
    this.#lastLossAt = this.#ctx.clock.monotonic();
    await this.#pause(this.#window() / (1 + Math.floor(waitedMs / IMPATIENT_MS)), signal);
  }

  /** Before the first try of a commit: nothing, unless others are at work on the table. */
  async beforeFirst(signal?: AbortSignal): Promise<void> {
    if (this.contended()) await this.#pause(this.#window(), signal);
  }

  #window(): number {
    return Math.min(this.#putMs * (1 + this.#contenders), LONGEST_WAIT_MS);
  }

  async #pause(window: number, signal?: AbortSignal): Promise<void> {
    await this.#ctx.clock.sleep(window * this.#ctx.ids.random(), signal);
  }
}
