import { abortError } from './system.js';

/** What `running` comes to, or `ABORTED` as soon as the signal fires; then nobody waits for it any more. */
export function untilAborted<T>(running: T | Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const aborted = (): void => reject(abortError(signal));
    signal.addEventListener('abort', aborted, { once: true });
    if (signal.aborted) aborted();
    Promise.resolve(running)
      .then(resolve, reject)
      .finally(() => signal.removeEventListener('abort', aborted));
  });
}

/** The items as they come, and `ABORTED` as soon as the signal fires, even while the next one does not come; its source is told to end, and not waited for. */
export async function* itemsUntilAborted<T>(items: AsyncIterable<T>, signal: AbortSignal): AsyncGenerator<T> {
  const source = items[Symbol.asyncIterator]();
  let isDone = false;
  try {
    for (;;) {
      const next = await untilAborted(source.next(), signal);
      isDone = next.done === true;
      if (next.done) return;
      yield next.value;
    }
  } finally {
    const ended = isDone ? undefined : source.return?.(undefined);
    if (signal.aborted) ended?.catch(() => undefined);
    else await ended;
  }
}
