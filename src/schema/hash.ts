/** MurmurHash3 (x86, 128 bits, seed 0), the public algorithm, in pieces: four lanes of 32 bits that blocks of 16 bytes are mixed into. */

const C1 = 0x239b961b;
const C2 = 0xab0e9789;
const C3 = 0x38b34ae5;
const C4 = 0xa1e38b93;

/** Mixes one block into the lanes at `at`. */
export function mixBlock(
  lanes: Int32Array,
  at: number,
  k1: number,
  k2: number,
  k3: number,
  k4: number,
): void {
  let h1 = lanes[at]!;
  let h2 = lanes[at + 1]!;
  let h3 = lanes[at + 2]!;
  let h4 = lanes[at + 3]!;
  h1 ^= Math.imul(rotate(Math.imul(k1, C1), 15), C2);
  h1 = (Math.imul((rotate(h1, 19) + h2) | 0, 5) + 0x561ccd1b) | 0;
  h2 ^= Math.imul(rotate(Math.imul(k2, C2), 16), C3);
  h2 = (Math.imul((rotate(h2, 17) + h3) | 0, 5) + 0x0bcaa747) | 0;
  h3 ^= Math.imul(rotate(Math.imul(k3, C3), 17), C4);
  h3 = (Math.imul((rotate(h3, 15) + h4) | 0, 5) + 0x96cd1c35) | 0;
  h4 ^= Math.imul(rotate(Math.imul(k4, C4), 18), C1);
  h4 = (Math.imul((rotate(h4, 13) + h1) | 0, 5) + 0x32ac3b17) | 0;
  lanes[at] = h1;
  lanes[at + 1] = h2;
  lanes[at + 2] = h3;
  lanes[at + 3] = h4;
}

/** Ends the hash of `length` bytes whose blocks were mixed into the lanes at `at`. */
export function finish(lanes: Int32Array, at: number, length: number): void {
  let h1 = lanes[at]! ^ length;
  let h2 = lanes[at + 1]! ^ length;
  let h3 = lanes[at + 2]! ^ length;
  let h4 = lanes[at + 3]! ^ length;
  h1 = (h1 + h2 + h3 + h4) | 0;
  h2 = (h2 + h1) | 0;
  h3 = (h3 + h1) | 0;
  h4 = (h4 + h1) | 0;
  h1 = avalanche(h1);
  h2 = avalanche(h2);
  h3 = avalanche(h3);
  h4 = avalanche(h4);
  h1 = (h1 + h2 + h3 + h4) | 0;
  lanes[at] = h1;
  lanes[at + 1] = (h2 + h1) | 0;
  lanes[at + 2] = (h3 + h1) | 0;
  lanes[at + 3] = (h4 + h1) | 0;
}

/** Hashes bytes [start, end) of a view into the lanes at `at`, whatever was there before. */
export function hashBytes(bytes: DataView, start: number, end: number, lanes: Int32Array, at: number): void {
  lanes[at] = 0;
  lanes[at + 1] = 0;
  lanes[at + 2] = 0;
  lanes[at + 3] = 0;
  let from = start;
  for (; from + 16 <= end; from += 16)
    mixBlock(
      lanes,
      at,
      bytes.getInt32(from, true),
      bytes.getInt32(from + 4, true),
      bytes.getInt32(from + 8, true),
      bytes.getInt32(from + 12, true),
    );
  // The tail goes in without the second half of a block's mixing.
  const left = end - from;
  if (left > 12) lanes[at + 3]! ^= Math.imul(rotate(Math.imul(partial(bytes, from + 12, end), C4), 18), C1);
  if (left > 8) lanes[at + 2]! ^= Math.imul(rotate(Math.imul(partial(bytes, from + 8, end), C3), 17), C4);
  if (left > 4) lanes[at + 1]! ^= Math.imul(rotate(Math.imul(partial(bytes, from + 4, end), C2), 16), C3);
  if (left > 0) lanes[at]! ^= Math.imul(rotate(Math.imul(partial(bytes, from, end), C1), 15), C2);
  finish(lanes, at, end - start);
}

function rotate(value: number, by: number): number {
  return (value << by) | (value >>> (32 - by));
}

function avalanche(value: number): number {
  let h = value;
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b);
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35);
  return h ^ (h >>> 16);
}

/** Up to four bytes from `at`, those from `end` on as zeros. */
function partial(bytes: DataView, at: number, end: number): number {
  const left = end - at;
  // Where more bytes follow, one load and a mask do.
  if (at + 4 <= bytes.byteLength)
    return left >= 4 ? bytes.getInt32(at, true) : bytes.getInt32(at, true) & ((1 << (left * 8)) - 1);
  let value = 0;
  for (let i = Math.min(3, left - 1); i >= 0; i--) value = (value << 8) | bytes.getUint8(at + i);
  return value;
}
