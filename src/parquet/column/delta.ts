import { corrupt } from '../flat/fault.js';
import { unpack } from '../flat/rle.js';

interface DeltaHeader {
  readonly miniBlocks: number;
  readonly perMiniBlock: number;
}

class DeltaReader {
  constructor(
    readonly bytes: Uint8Array,
    public at: number,
    readonly end: number,
  ) {}

  varint(): bigint {
    let result = 0n;
    for (let shift = 0n; shift <= 63n; shift += 7n) {
      if (this.at >= this.end) break;
      const byte = this.bytes[this.at++]!;
      if (shift === 63n && byte > 1) throw corrupt('a delta of more than 64 bits');
      result |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return result;
    }
    throw corrupt('deltas past the end of their page');
  }

  zigzag(): bigint {
    const n = this.varint();
    return (n >> 1n) ^ -(n & 1n);
  }

  header(count: number): DeltaHeader {
    const blockSize = Number(this.varint());
    const miniBlocks = Number(this.varint());
    const total = Number(this.varint());
    const perMiniBlock = blockSize / miniBlocks;
    if (
      total < count ||
      !(perMiniBlock >= 8) ||
      perMiniBlock % 8 !== 0 ||
      miniBlocks > 512 ||
      blockSize > 1 << 24
    ) {
      throw corrupt('delta header that cannot be');
    }
    return { miniBlocks, perMiniBlock };
  }

  /** The bit widths of a block's mini blocks. */
  widths(miniBlocks: number): Uint8Array {
    if (this.at + miniBlocks > this.end) throw corrupt('deltas past the end of their page');
    const widths = this.bytes.subarray(this.at, this.at + miniBlocks);
    this.at += miniBlocks;
    return widths;
  }

  /** The start of a mini block of that many bytes. The last one of a page may be cut to what is needed. */
  take(bytes: number, needed: number): number {
    const at = this.at;
    if (at + needed > this.end) throw corrupt('deltas past the end of their page');
    this.at = Math.min(this.end, at + bytes);
    return at;
  }
}

/** DELTA_BINARY_PACKED of 32-bit values, wrapping; returns the position after them. */
export function decodeDelta32(
  bytes: Uint8Array,
  at: number,
  end: number,
  count: number,
  output: Int32Array,
): number {
  const reader = new DeltaReader(bytes, at, end);
  const { miniBlocks, perMiniBlock } = reader.header(count);
  let value = Number(BigInt.asIntN(32, reader.zigzag()));
  if (count === 0) return reader.at;
  output[0] = value;
  const deltas = new Int32Array(perMiniBlock);
  let to = 1;
  while (to < count) {
    const minimum = Number(BigInt.asIntN(32, reader.zigzag()));
    for (const width of reader.widths(miniBlocks)) {
      if (to >= count) break;
      if (width > 32) throw corrupt('deltas wider than their type');
      const length = Math.min(perMiniBlock, count - to);
      const from = reader.take((perMiniBlock * width) / 8, (length * width + 7) >> 3);
      unpack(bytes, from, width, deltas, 0, length);
      for (let i = 0; i < length; i++) output[to++] = value = (value + minimum + deltas[i]!) | 0;
    }
  }
  return reader.at;
}

/**
 * The same of 64-bit values, which are put together from halves: a BigInt for each would cost more than all the rest. `output` has two words a value,
 * the lower one first.
 */
export function decodeDelta64(
  bytes: Uint8Array,
  at: number,
  end: number,
  count: number,
  output: Int32Array,
): void {
  const reader = new DeltaReader(bytes, at, end);
  const { miniBlocks, perMiniBlock } = reader.header(count);
  const first = reader.zigzag();
  let low = lowHalf(first);
  let high = highHalf(first);
  output[0] = low;
  output[1] = high;
  const lows = new Int32Array(perMiniBlock);
  const highs = new Int32Array(perMiniBlock);
  let to = 2;
  while (to < 2 * count) {
    const minimum = reader.zigzag();
    const minimumLow = lowHalf(minimum);
    const minimumHigh = highHalf(minimum);
    for (const width of reader.widths(miniBlocks)) {
      if (to >= 2 * count) break;
      if (width > 64) throw corrupt('deltas wider than their type');
      const length = Math.min(perMiniBlock, count - to / 2);
      const from = reader.take((perMiniBlock * width) / 8, Math.ceil((length * width) / 8));
      if (width <= 32) {
        unpack(bytes, from, width, lows, 0, length);
        highs.fill(0, 0, length);
      } else unpackWide(bytes, from, width, lows, highs, length);
      for (let i = 0; i < length; i++) {
        const sum = low + minimumLow + (lows[i]! >>> 0);
        low = sum >>> 0;
        high = (high + minimumHigh + highs[i]! + Math.floor(sum / 4_294_967_296)) | 0;
        output[to++] = low;
        output[to++] = high;
      }
    }
  }
}

function lowHalf(value: bigint): number {
  return Number(BigInt.asUintN(32, value));
}

function highHalf(value: bigint): number {
  return Number(BigInt.asIntN(32, value >> 32n));
}

/** Bit-packed values of 33 to 64 bits, in halves. The caller has checked that the bytes are there; beyond them nothing counts. */
function unpackWide(
  bytes: Uint8Array,
  at: number,
  width: number,
  lows: Int32Array,
  highs: Int32Array,
  count: number,
): void {
  const mask = width === 64 ? -1 : 2 ** (width - 32) - 1;
  for (let i = 0; i < count; i++) {
    const bit = i * width;
    const from = at + Math.floor(bit / 8);
    const shift = bit % 8;
    lows[i] = word(bytes, from, shift);
    highs[i] = word(bytes, from + 4, shift) & mask;
  }
}

/** 32 bits from a bit of a byte on. */
function word(bytes: Uint8Array, from: number, shift: number): number {
  const whole = bytes[from]! | (bytes[from + 1]! << 8) | (bytes[from + 2]! << 16) | (bytes[from + 3]! << 24);
  return shift === 0 ? whole : (whole >>> shift) | (bytes[from + 4]! << (32 - shift));
}
