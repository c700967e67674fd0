import { corrupt } from './fault.js';

/** Decompresses one raw LZ4 block (Parquet's LZ4_RAW) into `out[start, end)`, which it must fill exactly. */
export function unlz4(input: Uint8Array, out: Uint8Array, start: number, end: number): void {
  const limit = input.length;
  let at = 0;
  let to = start;
  const extended = (base: number): number => {
    let size = base;
    if (base === 15) {
      for (;;) {
        const byte = input[at++];
        if (byte === undefined) throw corrupt('lz4 length runs past the end');
        size += byte;
        if (byte !== 255) break;
      }
    }
    return size;
  };
  while (at < limit) {
    const token = input[at++] as number;
    const literal = extended(token >>> 4);
    if (literal > limit - at || literal > end - to) throw corrupt('lz4 literal runs past the end');
    out.set(input.subarray(at, at + literal), to);
    at += literal;
    to += literal;
    if (at === limit) break;
    const distance = (input[at] ?? 0) | ((input[at + 1] ?? 0) << 8);
    at += 2;
    const size = extended(token & 15) + 4;
    if (at > limit || distance === 0 || distance > to - start || size > end - to)
      throw corrupt('lz4 copy points outside its block');
    let from = to - distance;
    for (const stop = to + size; to < stop; ) out[to++] = out[from++] as number;
  }
  if (to !== end) throw corrupt('lz4 block ends early');
}

/**
 * Decompresses Parquet's older LZ4, which Hadoop frames: before each block its size and its compressed size, four bytes each, the most significant
 * first. Some writers left the frame out; then it is the raw form.
 */
export function unlz4Hadoop(input: Uint8Array, out: Uint8Array, start: number, end: number): void {
  const view = new DataView(input.buffer, input.byteOffset, input.byteLength);
  let at = 0;
  let to = start;
  while (at + 8 <= input.length) {
    const size = view.getUint32(at);
    const compressed = view.getUint32(at + 4);
    if (size > end - to || compressed > input.length - at - 8) break;
    unlz4(input.subarray(at + 8, at + 8 + compressed), out, to, to + size);
    at += 8 + compressed;
    to += size;
  }
  if (at !== input.length || to !== end) unlz4(input, out, start, end);
}
