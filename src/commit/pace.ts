import type { Context } from '../runtime/context.js';

const CONTENTION_MEMORY_MS = 2_000;
const IMPATIENT_MS = 400;
const FIRST_GUESS_MS = 20;
const LONGEST_WAIT_MS = 1_000;
const MOST_RIVALS = 32;

/**
 * How a writer of one table spaces its tries among writers in other processes, none of which it knows. What it sees is the log: the versions that others put
 * between two of its own tell how many they are, and its next turn is when each of them has had one. So every version is tried by few, whoever has waited long
 * is due before who has just won, and a writer whose estimate is wrong is soon set right by finding that nobody came, or that others did.
 */
export class Pace {
  readonly #ctx: Context;
  #lastLossAt = Number.NEGATIVE_INFINITY;
  /** Milliseconds from a put to the knowledge that it lost: what a try costs. */
  #tryMs = FIRST_GUESS_MS;
  /** Milliseconds between two versions. */
  #intervalMs = FIRST_GUESS_MS;
  /** When the log was last looked at. */
  #seenAt = Number.NEGATIVE_INFINITY;
  /** The version after which a turn is waited for: the last one of its own. */
  #after = -1;
  /** How many versions there are from one of its own to the next. */
  #round = 1;

  constructor(ctx: Context) {
    this.#ctx = ctx;
  }

  /** True when another process won a version here a moment ago. */
  contended(): boolean {
    return this.#ctx.clock.monotonic() - this.#lastLossAt < CONTENTION_MEMORY_MS;
  }

  /** A commit begins where no others were seen lately; `version` is the newest known. */
  beginAlone(version: number): void {
    this.#after = version;
    this.#round = 1;
  }

  /** Records a look at the log that found `count` versions of others. */
  saw(count: number): void {
    const now = this.#ctx.clock.monotonic();
    const elapsed = Math.min(now - this.#seenAt, LONGEST_WAIT_MS);
    if (count > 0) this.#intervalMs = mixed(this.#intervalMs, elapsed / count);
    this.#seenAt = now;
  }

  /** Records that another has won `version`, which was put at the monotonic instant `putAt`. */
  lost(version: number, putAt: number): void {
    const now = this.#ctx.clock.monotonic();
    this.#lastLossAt = now;
    this.#tryMs = mixed(this.#tryMs, Math.min(now - putAt, LONGEST_WAIT_MS));
    this.saw(1);
    this.#round = Math.min(Math.max(this.#round, version - this.#after), MOST_RIVALS);
  }

  /** Records that this writer has won `version`, which was put at the monotonic instant `putAt`. */
  won(version: number, putAt: number): void {
    if (this.contended()) this.#round = Math.min(mixed(this.#round, version - this.#after), MOST_RIVALS);
    this.#after = version;
    this.#seenAt = (putAt + this.#ctx.clock.monotonic()) / 2;
  }

  /** How many versions others are likely to have put since the last look; infinite where a listing tells cheaper than guesses. */
  expected(): number {
    const likely = Math.round((this.#ctx.clock.monotonic() - this.#seenAt) / this.#step());
    return likely > this.#round + 2 ? Number.POSITIVE_INFINITY : likely;
  }

  /**
   * Milliseconds after which to look whether it is this writer's turn, when `version` is the newest; 0 where it is. `waitedMs` is how long this commit has been
   * trying.
   */
  untilTurn(version: number, waitedMs: number): number {
    const ahead = (this.#after + Math.round(this.#round) - (version + 1)) / impatience(waitedMs);
    if (ahead < 0.5) return 0;
    // The next look comes when the next version may be there, long before all of those ahead are: a version that nobody tries is lost to all.
    const since = this.#ctx.clock.monotonic() - this.#seenAt;
    return Math.max(1, this.#step() * (0.5 + 0.1 * ahead * this.#ctx.ids.random()) - since);
  }

  /** Milliseconds to stand back after a loss, so that those who lost together do not come back together. */
  backOff(waitedMs: number): number {
    const longest = (this.#step() / 2) * Math.max(1, this.#round / 2);
    return (Math.min(longest, LONGEST_WAIT_MS) * this.#ctx.ids.random()) / impatience(waitedMs);
  }

  /** Milliseconds that one version takes. Those of a slow round say little of the next: nobody waits for long by them. */
  #step(): number {
    return Math.max(1, Math.min(this.#intervalMs, 1.25 * this.#tryMs));
  }
}

/** Who has waited for long hardly waits any more, so that whoever has not lets it pass. */
function impatience(waitedMs: number): number {
  return 1 + (waitedMs / IMPATIENT_MS) ** 2;
}

function mixed(before: number, now: number): number {
  return 0.7 * before + 0.3 * now;
}
