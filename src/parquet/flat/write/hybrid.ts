import type { ByteSink } from './byte-sink.js';

/** A run this long is written as a run; shorter ones are packed with their neighbours. */
const RUN = 8;

/** Writes `count` values of `bitWidth` bits (at most 24) as the RLE and bit-packed hybrid. */
export function encodeHybrid(
  out: ByteSink,
  values: Uint8Array | Int32Array,
  count: number,
  bitWidth: number,
): void {
  const runBytes = (bitWidth + 7) >> 3;
  let packedFrom = 0;
  let at = 0;
  while (at < count) {
    const value = values[at] as number;
    let end = at + 1;
    while (end < count && values[end] === value) end++;
    // Packed groups hold eight values each, so a run may begin only at the end of a group.
    const pad = (RUN - ((at - packedFrom) % RUN)) % RUN;
    if (end - at - pad >= RUN) {
      if (at > packedFrom) pack(out, values, packedFrom, at + pad, bitWidth);
      out.varint((end - at - pad) * 2);
      for (let i = 0; i < runBytes; i++) out.byte((value >>> (8 * i)) & 255);
      packedFrom = end;
    }
    at = end;
  }
  if (count > packedFrom) pack(out, values, packedFrom, count, bitWidth);
}

function pack(
  out: ByteSink,
  values: Uint8Array | Int32Array,
  from: number,
  to: number,
  bitWidth: number,
): void {
  const groups = Math.ceil((to - from) / 8);
  out.varint(groups * 2 + 1);
  let buffer = 0;
  let bits = 0;
  for (let i = from, end = from + groups * 8; i < end; i++) {
    buffer |= (i < to ? (values[i] as number) : 0) << bits;
    bits += bitWidth;
    while (bits >= 8) {
      out.byte(buffer & 255);
      buffer >>>= 8;
      bits -= 8;
    }
  }
}
