import { corrupt } from './fault.js';

/**
 * Decodes `count` values of the RLE and bit-packed hybrid from `bytes[position, end)` into `out` from `at` on and returns the position after them.
 * The last bit-packed run may hold padding past `count`.
 */
export function decodeHybrid(
  bytes: Uint8Array,
  position: number,
  end: number,
  bitWidth: number,
  out: Uint8Array | Int32Array,
  at: number,
  count: number,
): number {
  const stop = at + count;
  const runBytes = (bitWidth + 7) >> 3;
  while (at < stop) {
    let header = 0;
    for (let scale = 1; ; scale *= 128) {
      if (position >= end || scale > 2 ** 35) throw corrupt('level or index data ends early');
      const byte = bytes[position++] as number;
      header += (byte & 0x7f) * scale;
      if (byte < 0x80) break;
    }
    if (header % 2 === 0) {
      const run = header / 2;
      if (position + runBytes > end) throw corrupt('level or index data ends early');
      let value = 0;
      for (let i = 0; i < runBytes; i++) value |= (bytes[position + i] as number) << (8 * i);
      position += runBytes;
      if (run === 0) throw corrupt('a run of no values');
      const until = Math.min(stop, at + run);
      out.fill(value, at, until);
      at = until;
    } else {
      const groups = (header - 1) / 2;
      const values = Math.min(groups * 8, stop - at);
      if (values === 0) throw corrupt('a run of no values');
      const needed = Math.ceil((values * bitWidth) / 8);
      if (needed > end - position) throw corrupt('level or index data ends early');
      unpack(bytes, position, bitWidth, out, at, values);
      at += values;
      position = Math.min(end, position + groups * bitWidth);
    }
  }
  return position;
}

/** Unpacks little-endian values of `bitWidth` bits each. The caller has checked that the bytes are there. */
export function unpack(
  bytes: Uint8Array,
  position: number,
  bitWidth: number,
  out: Uint8Array | Int32Array,
  at: number,
  count: number,
): void {
  const stop = at + count;
  if (bitWidth === 0) {
    out.fill(0, at, stop);
  } else if (bitWidth === 8) {
    while (at < stop) out[at++] = bytes[position++] as number;
  } else if (bitWidth <= 24) {
    const mask = (1 << bitWidth) - 1;
    let buffer = 0;
    let bits = 0;
    while (at < stop) {
      while (bits < bitWidth) {
        buffer |= (bytes[position++] as number) << bits;
        bits += 8;
      }
      out[at++] = buffer & mask;
      buffer >>>= bitWidth;
      bits -= bitWidth;
    }
  } else {
    for (let bit = 0; at < stop; bit += bitWidth) {
      let value = 0;
      const first = position + (bit >>> 3);
      for (let i = 4; i >= 0; i--) value = value * 256 + (bytes[first + i] ?? 0);
      out[at++] = Math.floor(value / 2 ** (bit & 7)) % 2 ** bitWidth;
    }
  }
}
