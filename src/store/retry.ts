import type { Context } from '../runtime/context.js';
import type { StoreOperation } from '../runtime/events.js';
import { abortedError } from './keys.js';

/** What to do about an error: give up with what `error` holds, or wait and try again. */
export type Verdict =
  | { readonly again: false; readonly error: unknown }
  | {
      readonly again: true;
      /** For the event. */
      readonly reason: string;
      /** What to throw when the time is used up. */
      readonly error: unknown;
      /** `none` tries at once, `slow` stands back further: the server asked for it. */
      readonly pause?: 'none' | 'slow';
      /** A shorter limit than the operation's, in milliseconds. */
      readonly withinMs?: number;
    };

export interface RetryScope {
  readonly ctx: Context;
  readonly operation: StoreOperation;
  readonly key: string;
  /** Milliseconds from the first try after which no further one starts. */
  readonly retryForMs: number;
  readonly signal?: AbortSignal;
}

const FIRST_MS = 50;
const FIRST_SLOW_MS = 300;
const LONGEST_MS = 5_000;

/**
 * Tries until an attempt succeeds, the judge gives up, or the time is used up; the last error is then thrown. Waits are random between half
 * and all of a doubling span, so that clients that failed together do not return together. Emits a `retry` event before each wait. An abort
 * ends a wait, and is never tried again.
 */
export async function retrying<T>(
  scope: RetryScope,
  attempt: () => Promise<T>,
  judge: (error: unknown) => Verdict | Promise<Verdict>,
): Promise<T> {
  const { ctx, operation, key, retryForMs, signal } = scope;
  const started = ctx.clock.monotonic();
  for (let tries = 1; ; tries++) {
    try {
      return await attempt();
    } catch (thrown) {
      const verdict = await judge(thrown);
      if (signal?.aborted) throw abortedError(signal);
      if (!verdict.again) throw verdict.error;
      const delayMs = waitBefore(tries, verdict.pause, ctx.ids.random());
      const limit = Math.min(retryForMs, verdict.withinMs ?? retryForMs);
      if (ctx.clock.monotonic() - started + delayMs > limit) throw verdict.error;
      ctx.emit({ type: 'retry', operation, key, attempt: tries, delayMs, reason: verdict.reason });
      if (delayMs > 0) await ctx.clock.sleep(delayMs, signal);
    }
  }
}

function waitBefore(tries: number, pause: 'none' | 'slow' | undefined, random: number): number {
  if (pause === 'none') return 0;
  const span = Math.min(LONGEST_MS, (pause === 'slow' ? FIRST_SLOW_MS : FIRST_MS) * 2 ** (tries - 1));
  return Math.round(span / 2 + (random * span) / 2);
}
