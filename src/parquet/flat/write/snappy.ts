/** Snappy finds copies within blocks of this many bytes. */
const BLOCK = 1 << 16;
const HASH_BITS = 14;

/** The greatest size that `snap` makes of `length` bytes. */
function bound(length: number): number {
  return 32 + length + Math.floor(length / 6);
}

/** Compresses bytes as one raw Snappy block, greedily, with one hash table a block of 64 kB. */
export function snap(input: Uint8Array): Uint8Array {
  const out = new Uint8Array(bound(input.length));
  let to = 0;
  let rest = input.length;
  while (rest > 127) {
    out[to++] = (rest & 127) | 128;
    rest >>>= 7;
  }
  out[to++] = rest;
  const table = new Uint16Array(1 << HASH_BITS);
  for (let start = 0; start < input.length; start += BLOCK) {
    to = snapBlock(input, start, Math.min(start + BLOCK, input.length), out, to, table);
  }
  return out.subarray(0, to);
}

function word(bytes: Uint8Array, at: number): number {
  return (
    (bytes[at] as number) |
    ((bytes[at + 1] as number) << 8) |
    ((bytes[at + 2] as number) << 16) |
    ((bytes[at + 3] as number) << 24)
  );
}

function snapBlock(
  input: Uint8Array,
  start: number,
  end: number,
  out: Uint8Array,
  outAt: number,
  table: Uint16Array,
): number {
  table.fill(0);
  let to = outAt;
  let literal = start;
  let at = start + 1;
  let misses = 32;
  const last = end - 8;
  while (at < last) {
    const here = word(input, at);
    const slot = Math.imul(here, 0x1e35a7bd) >>> (32 - HASH_BITS);
    const candidate = start + (table[slot] as number);
    table[slot] = at - start;
    if (candidate >= at || word(input, candidate) !== here) {
      // Data that does not compress is passed over faster and faster.
      at += misses++ >> 5;
      continue;
    }
    misses = 32;
    to = putLiteral(input, literal, at, out, to);
    let length = 4;
    while (at + length < end && input[candidate + length] === input[at + length]) length++;
    to = putCopy(at - candidate, length, out, to);
    at += length;
    literal = at;
    if (at < last) table[Math.imul(word(input, at - 1), 0x1e35a7bd) >>> (32 - HASH_BITS)] = at - 1 - start;
  }
  return putLiteral(input, literal, end, out, to);
}

function putLiteral(input: Uint8Array, start: number, end: number, out: Uint8Array, outAt: number): number {
  const length = end - start;
  if (length === 0) return outAt;
  let to = outAt;
  const size = length - 1;
  if (size < 60) out[to++] = size << 2;
  else if (size < 256) {
    out[to++] = 60 << 2;
    out[to++] = size;
  } else {
    out[to++] = 61 << 2;
    out[to++] = size & 255;
    out[to++] = size >>> 8;
  }
  if (length > 32) out.set(input.subarray(start, end), to);
  else for (let i = 0; i < length; i++) out[to + i] = input[start + i] as number;
  return to + length;
}

function putCopy(distance: number, length: number, out: Uint8Array, outAt: number): number {
  let to = outAt;
  let rest = length;
  while (rest > 0) {
    // A rest below four would need a copy that the format has only for short distances.
    const size = rest > 64 ? (rest < 68 ? 60 : 64) : rest;
    if (size >= 4 && size < 12 && distance < 2048) {
      out[to++] = 1 | ((size - 4) << 2) | ((distance >>> 8) << 5);
      out[to++] = distance & 255;
    } else {
      out[to++] = 2 | ((size - 1) << 2);
      out[to++] = distance & 255;
      out[to++] = distance >>> 8;
    }
    rest -= size;
  }
  return to;
}
