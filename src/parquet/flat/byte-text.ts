/** The hash that path indexes and interners share (FNV-1a, 32 bits), of `bytes[start, start + length)`. */
export function hashBytes(bytes: Uint8Array, start: number, length: number): number {
  let hash = HASH_SEED;
  for (let i = start, end = start + length; i < end; i++)
    hash = Math.imul(hash ^ (bytes[i] as number), 16777619);
  return hash;
}

export const HASH_SEED = 0x811c9dc5 | 0;

export function equalBytes(
  a: Uint8Array,
  aStart: number,
  b: Uint8Array,
  bStart: number,
  length: number,
): boolean {
  // From the back: paths of one table start alike.
  for (let i = length - 1; i >= 0; i--) if (a[aStart + i] !== b[bStart + i]) return false;
  return true;
}

/** The text of `bytes[start, end)`. Node's own decoder is several times faster than TextDecoder on the short strings of a log. */
export function decodeUtf8(bytes: Uint8Array, start: number, end: number): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8', start, end);
}

export function encodeUtf8(text: string): Uint8Array {
  return Buffer.from(text, 'utf8');
}

/** The next power of two at or above `value`. */
export function powerOfTwo(value: number): number {
  return value <= 1 ? 1 : 2 ** (32 - Math.clz32(value - 1));
}
