import { ENCODING, isDictionaryCoded } from '../flat/encoding.js';
import { corrupt, FlatFault } from '../flat/fault.js';
import { decodeHybrid, unpack } from '../flat/rle.js';
import { decodeDelta32, decodeDelta64 } from './delta.js';
import { type BinarySink, copyBytes, type FixedSink, gather, type Sink, type Values } from './values.js';

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
  if (isDictionaryCoded(encoding)) {
    if (dictionary === undefined) throw corrupt('dictionary page missing');
    const bitWidth = bytes[at];
    if (at >= end || bitWidth === undefined || bitWidth > 32) throw corrupt('dictionary indices missing');
    const indices = roomForIndices(count);
    decodeHybrid(bytes, at + 1, end, bitWidth, indices, 0, count);
    gather(sink, dictionary, indices, count);
  } else if (sink.kind === 'binary') decodeBinary(sink, encoding, bytes, at, end, count);
  else if (boolean) decodeBooleans(sink, encoding, bytes, at, end, count);
  else decodeFixed(sink, encoding, bytes, at, end, count);
}

/** The indices of a page, which nobody keeps: pages of the usual sizes use the same memory. */
const LARGEST_KEPT = 1 << 18;
let kept = new Int32Array(0);

function roomForIndices(count: number): Int32Array {
  if (count > LARGEST_KEPT) return new Int32Array(count);
  if (kept.length < count) kept = new Int32Array(Math.min(LARGEST_KEPT, 2 * count));
  return kept.subarray(0, count);
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
  if (encoding === ENCODING.plain) {
    if (at + ((count + 7) >> 3) > end) throw corrupt('booleans past the end of their page');
    unpack(bytes, at, 1, sink.bytes, sink.count, count);
  } else if (encoding === ENCODING.rle) {
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
  if (encoding === ENCODING.plain) {
    if (at + count * width > end) throw corrupt('values past the end of their page');
    sink.bytes.set(bytes.subarray(at, at + count * width), start);
  } else if (encoding === ENCODING.byteStreamSplit) {
    if (at + count * width > end) throw corrupt('values past the end of their page');
    for (let b = 0; b < width; b++) {
      const from = at + b * count;
      for (let i = 0; i < count; i++) sink.bytes[start + i * width + b] = bytes[from + i]!;
    }
  } else if (encoding === ENCODING.deltaBinaryPacked && width === 4) {
    decodeDelta32(bytes, at, end, count, new Int32Array(sink.bytes.buffer, start, count));
  } else if (encoding === ENCODING.deltaBinaryPacked && width === 8) {
    decodeDelta64(bytes, at, end, count, new Int32Array(sink.bytes.buffer, start, 2 * count));
  } else if (encoding === ENCODING.deltaByteArray) {
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
  if (encoding === ENCODING.plain) plainBinary(sink, bytes, at, end, count);
  else if (encoding === ENCODING.deltaLengthByteArray) {
    const lengths = new Int32Array(count);
    const from = decodeDelta32(bytes, at, end, count, lengths);
    const total = sumOfLengths(lengths);
    if (from + total > end) throw corrupt('text past the end of its page');
    sink.reserve(count, total);
    sink.data.set(bytes.subarray(from, from + total), sink.size);
    for (const length of lengths) sink.offsets[++sink.count] = sink.size += length;
  } else if (encoding === ENCODING.deltaByteArray) {
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
