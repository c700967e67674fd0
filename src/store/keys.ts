import { TableError } from '../errors.js';

/**
 * Compares two keys by their UTF-8 bytes, which is the order S3 lists in. JavaScript's own order is by UTF-16 units and differs where
 * one key has a character beyond U+FFFF and the other one in U+E000..U+FFFF.
 */
export function compareKeys(a: string, b: string): number {
  const length = Math.min(a.length, b.length);
  for (let i = 0; i < length; i++) {
    const x = a.charCodeAt(i);
    const y = b.charCodeAt(i);
    if (x === y) continue;
    if (x >= 0xd800 && y >= 0xd800) return rankHighUnit(x) - rankHighUnit(y);
    return x - y;
  }
  return a.length - b.length;
}

/** Surrogates stand for characters above every single unit, so they rank after U+E000..U+FFFF. */
function rankHighUnit(unit: number): number {
  return unit < 0xe000 ? unit + 0x2000 : unit - 0x800;
}

/** The key's folder with its trailing slash, or '' for a key at the root. */
export function folderOf(key: string): string {
  return key.slice(0, key.lastIndexOf('/') + 1);
}

/** Throws `INVALID_INPUT` for a key that no store can hold: an empty one, or one that starts with `/`. */
export function assertKey(key: string): void {
  if (key === '' || key.startsWith('/'))
    throw new TableError('INVALID_INPUT', `'${key}' is not the key of an object.`, { key });
}

/** Throws `INVALID_INPUT` unless 0 <= start <= end, both safe integers. */
export function assertRange(key: string, start: number, end: number): void {
  if (Number.isSafeInteger(start) && Number.isSafeInteger(end) && start >= 0 && start <= end) return;
  throw new TableError('INVALID_INPUT', `Bytes ${start} to ${end} of '${key}' are not a range.`, {
    key,
    start,
    end,
  });
}

/** Throws `ABORTED` with the signal's reason as cause once the signal has fired. */
export function assertNotAborted(signal: AbortSignal | undefined): void {
  if (signal?.aborted) throw abortedError(signal);
}

/** The `ABORTED` error for a signal that has fired. */
export function abortedError(signal: AbortSignal): TableError {
  return new TableError('ABORTED', 'The operation was aborted by its signal.', {}, signal.reason);
}

/** The `NOT_FOUND` error of every store. */
export function notFound(store: string, key: string, cause?: unknown): TableError {
  return new TableError('NOT_FOUND', `There is no object '${key}' in ${store}.`, { store, key }, cause);
}
