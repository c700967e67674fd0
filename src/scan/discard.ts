import { MessageChannel, type MessagePort } from 'node:worker_threads';

let closed: MessagePort | undefined;

/**
 * Frees memory at once rather than at the next garbage collection, which large short-lived buffers bring about again and again. The buffer and all views of
 * it have length 0 afterwards: it must be its owner's alone.
 */
export function discard(buffer: ArrayBuffer): void {
  if (closed === undefined) {
    closed = new MessageChannel().port1;
    closed.close();
  }
  // Handed over to a port that leads nowhere.
  closed.postMessage(undefined, [buffer]);
}
