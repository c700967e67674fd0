import { isTableError } from '../errors.js';
import type { Context } from '../runtime/context.js';
import type { RequestEvent, StoreOperation } from '../runtime/events.js';

/** What one request moved and how it ended; the operation fills it in while it runs. Sizes are of bodies, in bytes. */
export interface Tally {
  sent: number;
  received: number;
  outcome?: RequestEvent['outcome'];
  /** Set where the operation ended before anything went over the wire: no event then. */
  unsent?: boolean;
}

/**
 * Runs one request and emits exactly one `request` event for it, however it ends. The outcome is what `run` put into the tally, else `ok`,
 * or for an error `missing` (NOT_FOUND) or `failed`. Answers and errors pass through.
 */
export async function observe<T>(
  ctx: Context,
  store: string,
  operation: StoreOperation,
  key: string,
  run: (tally: Tally) => Promise<T>,
): Promise<T> {
  const tally: Tally = { sent: 0, received: 0 };
  const started = ctx.clock.monotonic();
  let outcome: RequestEvent['outcome'] = 'ok';
  try {
    return await run(tally);
  } catch (error) {
    outcome = isTableError(error, 'NOT_FOUND') ? 'missing' : 'failed';
    throw error;
  } finally {
    const { sent, received } = tally;
    const ms = ctx.clock.monotonic() - started;
    if (!tally.unsent)
      ctx.emit({
        type: 'request',
        store,
        operation,
        key,
        received,
        sent,
        ms,
        outcome: tally.outcome ?? outcome,
      });
  }
}
