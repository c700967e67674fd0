import { corrupt } from './fault.js';

/**
 * Decompresses one raw Snappy block into `out[start, end)`, which must be exactly as long as the block says it becomes.
 * Written over plain index arithmetic: this loop decides how fast a checkpoint opens.
 */
export function unsnappy(input: Uint8Array, out: Uint8Array, start: number, end: number): void {
  let at = 0;
  let length = 0;
  for (let shift = 0; ; shift += 7) {
    const byte = input[at++];
    if (byte === undefined || shift > 28) throw corrupt('snappy block without a length');
    length += (byte & 0x7f) * 2 ** shift;
    if (byte < 0x80) break;
  }
  if (length !== end - start) throw corrupt('snappy block of another length than its page says');
  let to = start;
  const limit = input.length;
  while (at < limit) {
    const tag = input[at++] as number;
    const kind = tag & 3;
    if (kind === 0) {
      let size = tag >>> 2;
      if (size >= 60) {
        const bytes = size - 59;
        if (at + bytes > limit) throw corrupt('snappy literal runs past the end');
        size = 0;
        for (let i = 0; i < bytes; i++) size += (input[at + i] as number) * 2 ** (8 * i);
        at += bytes;
      }
      size += 1;
      if (size > limit - at || size > end - to) throw corrupt('snappy literal runs past the end');
      if (size > 24) {
        out.set(input.subarray(at, at + size), to);
        at += size;
        to += size;
      } else {
        for (const stop = at + size; at < stop; ) out[to++] = input[at++] as number;
      }
      continue;
    }
    let size: number;
    let distance: number;
    if (kind === 1) {
      size = ((tag >>> 2) & 7) + 4;
      distance = ((tag >>> 5) << 8) | (input[at++] ?? 0);
    } else if (kind === 2) {
      size = (tag >>> 2) + 1;
      distance = (input[at] ?? 0) | ((input[at + 1] ?? 0) << 8);
      at += 2;
    } else {
      size = (tag >>> 2) + 1;
      distance =
        ((input[at] ?? 0) |
          ((input[at + 1] ?? 0) << 8) |
          ((input[at + 2] ?? 0) << 16) |
          ((input[at + 3] ?? 0) << 24)) >>>
        0;
      at += 4;
    }
    if (at > limit || distance === 0 || distance > to - start || size > end - to)
      throw corrupt('snappy copy points outside its block');
    if (size > 32 && distance >= size) {
      out.copyWithin(to, to - distance, to - distance + size);
      to += size;
    } else {
      let from = to - distance;
      for (const stop = to + size; to < stop; ) out[to++] = out[from++] as number;
    }
  }
  if (to !== end) throw corrupt('snappy block ends early');
}
