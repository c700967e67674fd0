import { corrupt } from './fault.js';

/**
 * Decompresses one raw Snappy block into `out[start, end)`, which must be exactly as long as the block says it becomes.
 * Short runs go four bytes at a time, also past their end where what follows is still to be written: this loop decides how fast a file opens.
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
  const limit = input.length;
  const source = new DataView(input.buffer, input.byteOffset, limit);
  const target = new DataView(out.buffer, out.byteOffset, out.length);
  let to = start;
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
      if (size > 32) {
        out.set(input.subarray(at, at + size), to);
      } else if (to + size + 3 <= end && at + size + 3 <= limit) {
        for (let i = 0; i < size; i += 4) target.setInt32(to + i, source.getInt32(at + i, true), true);
      } else {
        for (let i = 0; i < size; i++) out[to + i] = input[at + i] as number;
      }
      at += size;
      to += size;
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
    } else if (distance >= 4 && to + size + 3 <= end) {
      for (let i = 0; i < size; i += 4)
        target.setInt32(to + i, target.getInt32(to + i - distance, true), true);
    } else {
      for (let i = 0; i < size; i++) out[to + i] = out[to + i - distance] as number;
    }
    to += size;
  }
  if (to !== end) throw corrupt('snappy block ends early');
}
