import { randomUUID } from 'node:crypto';
import { TableError } from '../errors.js';
import type { Clock, Ids } from './context.js';

/** The machine's own clock. */
export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  sleep: (ms, signal) =>
    new Promise((resolve, reject) => {
      if (signal?.aborted) {
        reject(abortError(signal));
        return;
      }
      const onAbort = (): void => {
        clearTimeout(timer);
        reject(abortError(signal!));
      };
      const timer = setTimeout(() => {
        signal?.removeEventListener('abort', onAbort);
        resolve();
      }, ms);
      signal?.addEventListener('abort', onAbort, { once: true });
    }),
};

/** Ids and chance from the machine's random source. */
export const systemIds: Ids = { uuid: () => randomUUID(), random: () => Math.random() };

/** The error of an operation whose signal fired; its cause is the signal's reason. */
export function abortError(signal: AbortSignal): TableError {
  return new TableError('ABORTED', 'The operation was aborted by its signal.', {}, signal.reason);
}
