import { corrupt, FlatFault } from '../flat/fault.js';
import { decodeHybrid, unpack } from '../flat/rle.js';
import { type BinarySink, copyBytes, type FixedSink, gather, type Sink, type Values } from './values.js';

/** The encodings of values, by their numbers in parquet.thrift. */
export const Encoding = {
  PLAIN: 0,
  PLAIN_DICTIONARY: 2,
  RLE: 3,
  DELTA_BINARY_PACKED: 5,
  DELTA_LENGTH_BYTE_ARRAY: 6,
  DELTA_BYTE_ARRAY: 7,
  RLE_DICTIONARY: 8,
  BYTE_STREAM_SPLIT: 9,
} as const;

/**
 * Appends `count` values of a page, encoded in bytes [at, end), to the sink. `boolean` tells booleans (one byte a value in the sink) from
 * other fixed values of width 1. Throws `FlatFault` where the bytes do not hold them.
 */
export function decodeValues(
  sink: Sink,
  boolean: boolean,
  encoding: number,
  bytes: Uint8Array,
  at: number,
  end: number,
  count: number,
  dictionary: Values | undefined,
): void {
  if (count === 0) return;
  if (encoding === Encoding.PLAIN_DICTIONARY || encoding === Encoding.RLE_DICTIONARY) {
    if (dictionary === undefined) throw corrupt('dictionary page missing');
    const bitWidth = bytes[at];
    if (at >= end || bitWidth === undefined || bitWidth > 32) throw corrupt('dictionary indices missing');
    const indices = new Int32Array(count);
    decodeHybrid(bytes, at + 1, end, bitWidth, indices, 0, count);
    gather(sink, dictionary, indices, count);
  } else if (sink.kind === 'binary') decodeBinary(sink, encoding, bytes, at, end, count);
  else if (boolean) decodeBooleans(sink, encoding, bytes, at, end, count);
  else decodeFixed(sink, encoding, bytes, at, end, count);
}

function decodeBooleans(
  sink: FixedSink,
  encoding: number,
  bytes: Uint8Array,
  at: number,
  end: number,
  count: number,
): void {
  sink.reserve(count);
  if (encoding === Encoding.PLAIN) {
    if (at + ((count + 7) >> 3) > end) throw corrupt('booleans past the end of their page');
    unpack(bytes, at, 1, sink.bytes, sink.count, count);
  } else if (encoding === Encoding.RLE) {
    decodeHybrid(bytes, at + 4, end, 1, sink.bytes, sink.count, count);
  } else throw unsupported(encoding);
  sink.count += count;
}

function decodeFixed(
  sink: FixedSink,
  encoding: number,
  bytes: Uint8Array,
  at: number,
  end: number,
  count: number,
): void {
  const { width } = sink;
  sink.reserve(count);
  const start = sink.count * width;
  if (encoding === Encoding.PLAIN) {
    if (at + count * width > end) throw corrupt('values past the end of their page');
    sink.bytes.set(bytes.subarray(at, at + count * width), start);
  } else if (encoding === Encoding.BYTE_STREAM_SPLIT) {
    if (at + count * width > end) throw corrupt('values past the end of their page');
    for (let b = 0; b < width; b++) {
      const from = at + b * count;
      for (let i = 0; i < count; i++) sink.bytes[start + i * width + b] = bytes[from + i]!;
    }
  } else if (encoding === Encoding.DELTA_BINARY_PACKED && width === 4) {
    decodeDelta32(bytes, at, end, count, new Int32Array(sink.bytes.buffer, start, count));
  } else if (encoding === Encoding.DELTA_BINARY_PACKED && width === 8) {
    decodeDelta64(bytes, at, end, count, new BigInt64Array(sink.bytes.buffer, start, count));
  } else if (encoding === Encoding.DELTA_BYTE_ARRAY) {
    let index = sink.count;
    eachFrontCoded(bytes, at, end, count, (value, length) => {
      if (length !== width) throw corrupt('value of another length than its column');
      copyBytes(value, 0, sink.bytes, index++ * width, width);
    });
  } else throw unsupported(encoding);
  sink.count += count;
}

function decodeBinary(
  sink: BinarySink,
  encoding: number,
  bytes: Uint8Array,
  at: number,
  end: number,
  count: number,
): void {
  if (encoding === Encoding.PLAIN) plainBinary(sink, bytes, at, end, count);
  else if (encoding === Encoding.DELTA_LENGTH_BYTE_ARRAY) {
    const lengths = new Int32Array(count);
    const from = decodeDelta32(bytes, at, end, count, lengths);
    const total = sumOfLengths(lengths);
    if (from + total > end) throw corrupt('text past the end of its page');
    sink.reserve(count, total);
    sink.data.set(bytes.subarray(from, from + total), sink.size);
    for (const length of lengths) sink.offsets[++sink.count] = sink.size += length;
  } else if (encoding === Encoding.DELTA_BYTE_ARRAY) {
    eachFrontCoded(bytes, at, end, count, (value, length) => {
      sink.reserve(1, length);
      copyBytes(value, 0, sink.data, sink.size, length);
      sink.offsets[++sink.count] = sink.size += length;
    });
  } else throw unsupported(encoding);
}

function plainBinary(sink: BinarySink, bytes: Uint8Array, at: number, end: number, count: number): void {
  sink.reserve(count, Math.max(0, end - at));
  const { data, offsets } = sink;
  let from = at;
  let size = sink.size;
  let index = sink.count;
  for (let i = 0; i < count; i++) {
    if (from + 4 > end) throw corrupt('text past the end of its page');
    const length =
      (bytes[from]! | (bytes[from + 1]! << 8) | (bytes[from + 2]! << 16) | (bytes[from + 3]! << 24)) >>> 0;
    from += 4;
    if (from + length > end) throw corrupt('text past the end of its page');
    if (length <= 24) for (let b = 0; b < length; b++) data[size + b] = bytes[from + b]!;
    else data.set(bytes.subarray(from, from + length), size);
    from += length;
    size += length;
    offsets[++index] = size;
  }
  sink.size = size;
  sink.count = index;
}

/** DELTA_BYTE_ARRAY: each value shares a prefix with the one before. The buffer handed over is used again for the next value. */
function eachFrontCoded(
  bytes: Uint8Array,
  at: number,
  end: number,
  count: number,
  take: (value: Uint8Array, length: number) => void,
): void {
  const prefixes = new Int32Array(count);
  const suffixes = new Int32Array(count);
  let from = decodeDelta32(bytes, decodeDelta32(bytes, at, end, count, prefixes), end, count, suffixes);
  let value = new Uint8Array(64);
  let previous = 0;
  for (let i = 0; i < count; i++) {
    const prefix = prefixes[i]!;
    const suffix = suffixes[i]!;
    if (prefix < 0 || prefix > previous || suffix < 0 || from + suffix > end) {
      throw corrupt('text past the end of its page');
    }
    if (prefix + suffix > value.length) {
      const grown = new Uint8Array((prefix + suffix) * 2);
      grown.set(value.subarray(0, prefix));
      value = grown;
    }
    copyBytes(bytes, from, value, prefix, suffix);
    from += suffix;
    previous = prefix + suffix;
    take(value, previous);
  }
}

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
function decodeDelta32(
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

/** The same of 64-bit values. */
function decodeDelta64(
  bytes: Uint8Array,
  at: number,
  end: number,
  count: number,
  output: BigInt64Array,
): void {
  const reader = new DeltaReader(bytes, at, end);
  const { miniBlocks, perMiniBlock } = reader.header(count);
  let value = reader.zigzag();
  output[0] = value;
  const narrow = new Int32Array(perMiniBlock);
  let to = 1;
  while (to < count) {
    const minimum = reader.zigzag();
    for (const width of reader.widths(miniBlocks)) {
      if (to >= count) break;
      if (width > 64) throw corrupt('deltas wider than their type');
      const length = Math.min(perMiniBlock, count - to);
      const from = reader.take((perMiniBlock * width) / 8, Math.ceil((length * width) / 8));
      if (width <= 32) {
        unpack(bytes, from, width, narrow, 0, length);
        for (let i = 0; i < length; i++) {
          output[to++] = value = BigInt.asIntN(64, value + minimum + BigInt(narrow[i]! >>> 0));
        }
      } else {
        for (let i = 0; i < length; i++) {
          output[to++] = value = BigInt.asIntN(64, value + minimum + bitsAt(bytes, from, i * width, width));
        }
      }
    }
  }
}

function bitsAt(bytes: Uint8Array, at: number, bit: number, width: number): bigint {
  let value = 0n;
  const first = at + (bit >> 3);
  const last = at + ((bit + width + 7) >> 3);
  for (let i = last - 1; i >= first; i--) value = (value << 8n) | BigInt(bytes[i]!);
  return (value >> BigInt(bit & 7)) & ((1n << BigInt(width)) - 1n);
}

function sumOfLengths(lengths: Int32Array): number {
  let total = 0;
  for (const length of lengths) {
    if (length < 0) throw corrupt('text of negative length');
    total += length;
  }
  return total;
}

function unsupported(encoding: number): FlatFault {
  return new FlatFault('unsupported', `encoding ${encoding} in a column of its type`);
}
