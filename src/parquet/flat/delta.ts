import { corrupt } from './fault.js';

const MASK_64 = (1n << 64n) - 1n;

interface Header {
  readonly miniBlocks: number;
  readonly perMiniBlock: number;
  readonly total: number;
  readonly first: bigint;
  readonly position: number;
}

function varint(bytes: Uint8Array, position: number, end: number): [bigint, number] {
  let value = 0n;
  for (let shift = 0n; shift < 70n; shift += 7n) {
    if (position >= end) break;
    const byte = bytes[position++] as number;
    value |= BigInt(byte & 0x7f) << shift;
    if (byte < 0x80) return [value, position];
  }
  throw corrupt('delta-encoded data ends early');
}

function unzigzag(value: bigint): bigint {
  return (value >> 1n) ^ -(value & 1n);
}

function readHeader(bytes: Uint8Array, start: number, end: number, expected: number): Header {
  const [block, afterBlock] = varint(bytes, start, end);
  const [miniBlocks, afterMini] = varint(bytes, afterBlock, end);
  const [total, afterTotal] = varint(bytes, afterMini, end);
  const [first, position] = varint(bytes, afterTotal, end);
  if (miniBlocks === 0n || block % miniBlocks !== 0n || block > 1n << 24n || (block / miniBlocks) % 8n !== 0n)
    throw corrupt('delta-encoded data of an impossible block size');
  if (total !== BigInt(expected)) throw corrupt('delta-encoded data of another count than its page');
  return {
    miniBlocks: Number(miniBlocks),
    perMiniBlock: Number(block / miniBlocks),
    total: expected,
    first: unzigzag(first),
    position,
  };
}

/** Decodes `count` DELTA_BINARY_PACKED integers, calling `onValue` with each (wrapping at 64 bits), and returns the position after them. */
export function decodeDelta(
  bytes: Uint8Array,
  start: number,
  end: number,
  count: number,
  onValue: (value: bigint, index: number) => void,
): number {
  const header = readHeader(bytes, start, end, count);
  let { position } = header;
  if (header.total === 0) return position;
  let value = header.first;
  let index = 0;
  onValue(value, index++);
  while (index < header.total) {
    const [rawMinimum, afterMinimum] = varint(bytes, position, end);
    const minimum = unzigzag(rawMinimum);
    const widths = afterMinimum;
    position = widths + header.miniBlocks;
    if (position > end) throw corrupt('delta-encoded data ends early');
    for (let block = 0; block < header.miniBlocks && index < header.total; block++) {
      const width = bytes[widths + block] as number;
      if (width > 64) throw corrupt('delta-encoded data of an impossible bit width');
      const size = (header.perMiniBlock * width) / 8;
      const values = Math.min(header.perMiniBlock, header.total - index);
      if (position + Math.ceil((values * width) / 8) > end) throw corrupt('delta-encoded data ends early');
      for (let i = 0; i < values; i++) {
        value = BigInt.asIntN(64, value + minimum + bitsAt(bytes, position, i * width, width));
        onValue(value, index++);
      }
      position = Math.min(end, position + size);
    }
  }
  return position;
}

function bitsAt(bytes: Uint8Array, position: number, bit: number, width: number): bigint {
  if (width === 0) return 0n;
  const first = position + (bit >>> 3);
  const shift = bit & 7;
  if (width + shift <= 48) {
    let value = 0;
    for (let i = 5; i >= 0; i--) value = value * 256 + (bytes[first + i] ?? 0);
    return BigInt(Math.floor(value / 2 ** shift) % 2 ** width);
  }
  let value = 0n;
  for (let i = 9; i >= 0; i--) value = (value << 8n) | BigInt(bytes[first + i] ?? 0);
  return (value >> BigInt(shift)) & (MASK_64 >> BigInt(64 - width));
}

/** Decodes `count` DELTA_BINARY_PACKED lengths; negative ones are corrupt. */
export function decodeDeltaLengths(
  bytes: Uint8Array,
  start: number,
  end: number,
  count: number,
): { lengths: Int32Array; position: number } {
  const lengths = new Int32Array(count);
  const position = decodeDelta(bytes, start, end, count, (value, index) => {
    if (value < 0n || value > 0x7fffffffn) throw corrupt('a byte array of impossible length');
    lengths[index] = Number(value);
  });
  return { lengths, position };
}
