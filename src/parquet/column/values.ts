import { corrupt, FlatFault } from '../flat/fault.js';

/** Non-null values of a column, one after another. `fixed`: `count` items of `width` bytes (a boolean is one byte). Buffers may be longer. */
export interface FixedValues {
  readonly kind: 'fixed';
  readonly width: number;
  readonly bytes: Uint8Array;
  readonly count: number;
}
/** `offsets[i]` to `offsets[i + 1]` in `data` is value i. */
export interface BinaryValues {
  readonly kind: 'binary';
  readonly offsets: Int32Array;
  readonly data: Uint8Array;
  readonly count: number;
}
export type Values = FixedValues | BinaryValues;

/** The first allocation of a sink trusts what the file claims up to here; beyond, it grows with what pages really hold. */
const TRUSTED_VALUES = 1 << 22;
const TRUSTED_BYTES = 1 << 26;
/** Arrow's 32-bit offsets end here. */
const MAX_BYTES = 0x7fffffff;

/** Takes the values of one column chunk, page by page. Its buffers start at offset 0 of their own, so that any typed view of them is aligned. */
export class FixedSink {
  readonly kind = 'fixed';
  bytes: Uint8Array;
  count = 0;

  constructor(
    readonly width: number,
    claimed: number,
  ) {
    this.bytes = new Uint8Array(padded(Math.min(claimed, TRUSTED_VALUES) * width));
  }

  /** Makes room for `count` more values. */
  reserve(count: number): void {
    const wanted = (this.count + count) * this.width;
    if (wanted <= this.bytes.length) return;
    if (wanted > MAX_BYTES) throw new FlatFault('limit', 'more than 2 GiB of values in one column chunk');
    const grown = new Uint8Array(padded(Math.min(MAX_BYTES, Math.max(wanted, this.bytes.length * 2))));
    grown.set(this.bytes.subarray(0, this.count * this.width));
    this.bytes = grown;
  }

  finish(): FixedValues {
    return { kind: 'fixed', width: this.width, bytes: this.bytes, count: this.count };
  }
}

export class BinarySink {
  readonly kind = 'binary';
  offsets: Int32Array;
  data: Uint8Array = new Uint8Array(0);
  size = 0;
  count = 0;

  readonly #claimed: number;

  constructor(claimed: number) {
    this.#claimed = Math.min(claimed, TRUSTED_VALUES);
    this.offsets = new Int32Array(this.#claimed + 1);
  }

  /** Makes room for `count` more values of `bytes` bytes together. */
  reserve(count: number, bytes: number): void {
    if (this.count + count + 1 > this.offsets.length) {
      const grown = new Int32Array(Math.max(this.count + count + 1, this.offsets.length * 2));
      grown.set(this.offsets.subarray(0, this.count + 1));
      this.offsets = grown;
    }
    const wanted = this.size + bytes;
    if (wanted <= this.data.length) return;
    if (wanted > MAX_BYTES) throw new FlatFault('limit', 'more than 2 GiB of text in one column chunk');
    const grown = new Uint8Array(
      Math.min(MAX_BYTES, Math.max(wanted, this.data.length * 2, this.#expected(count, bytes))),
    );
    grown.set(this.data.subarray(0, this.size));
    this.data = grown;
  }

  /** The bytes of all values, by the mean of those so far and a little more; up to a bound, since the file only claims their number. */
  #expected(count: number, bytes: number): number {
    const mean = (this.size + bytes) / Math.max(1, this.count + count);
    return Math.min(TRUSTED_BYTES, Math.ceil(mean * this.#claimed * 1.05));
  }

  finish(): BinaryValues {
    return { kind: 'binary', offsets: this.offsets, data: this.data, count: this.count };
  }
}

export type Sink = FixedSink | BinarySink;

/** Copies `length` bytes; most values are short, and then a loop is cheaper than a call. */
export function copyBytes(from: Uint8Array, at: number, to: Uint8Array, start: number, length: number): void {
  if (length <= 24) for (let i = 0; i < length; i++) to[start + i] = from[at + i]!;
  else to.set(from.subarray(at, at + length), start);
}

/** Appends the dictionary's values at `indices[0..count)`. Throws `FlatFault` for an index that the dictionary does not have. */
export function gather(sink: Sink, dictionary: Values, indices: Int32Array, count: number): void {
  for (let i = 0; i < count; i++) {
    if (indices[i]! >>> 0 >= dictionary.count) throw corrupt('dictionary index out of bounds');
  }
  if (sink.kind === 'fixed' && dictionary.kind === 'fixed') gatherFixed(sink, dictionary, indices, count);
  else if (sink.kind === 'binary' && dictionary.kind === 'binary')
    gatherBinary(sink, dictionary, indices, count);
}

function gatherFixed(sink: FixedSink, dictionary: FixedValues, indices: Int32Array, count: number): void {
  sink.reserve(count);
  const { width } = sink;
  if (width % 4 === 0) {
    const words = width / 4;
    const from = new Int32Array(dictionary.bytes.buffer, 0, dictionary.count * words);
    const to = new Int32Array(sink.bytes.buffer, 0, (sink.count + count) * words);
    let at = sink.count * words;
    if (words === 1) for (let i = 0; i < count; i++) to[at++] = from[indices[i]!]!;
    else if (words === 2) gatherWords(sink, dictionary, indices, count);
    else {
      for (let i = 0; i < count; i++) {
        const index = indices[i]! * words;
        for (let w = 0; w < words; w++) to[at++] = from[index + w]!;
      }
    }
  } else {
    for (let i = 0; i < count; i++) {
      copyBytes(dictionary.bytes, indices[i]! * width, sink.bytes, (sink.count + i) * width, width);
    }
  }
  sink.count += count;
}

/** 64-bit values move as they are: the engine keeps them out of the heap. */
function gatherWords(sink: FixedSink, dictionary: FixedValues, indices: Int32Array, count: number): void {
  const from = new BigInt64Array(dictionary.bytes.buffer, 0, dictionary.count);
  const to = new BigInt64Array(sink.bytes.buffer, sink.count * 8, count);
  for (let i = 0; i < count; i++) to[i] = from[indices[i]!]!;
}

function gatherBinary(sink: BinarySink, dictionary: BinaryValues, indices: Int32Array, count: number): void {
  const { offsets, data } = dictionary;
  let total = 0;
  for (let i = 0; i < count; i++) total += offsets[indices[i]! + 1]! - offsets[indices[i]!]!;
  sink.reserve(count, total);
  const target = sink.data;
  const from = new DataView(data.buffer, data.byteOffset, data.length);
  const to = new DataView(target.buffer, target.byteOffset, target.length);
  const ends = sink.offsets;
  const fromLimit = data.length - 3;
  const toLimit = target.length - 3;
  let at = sink.size;
  let end = sink.count;
  for (let i = 0; i < count; i++) {
    const index = indices[i]!;
    const start = offsets[index]!;
    const length = offsets[index + 1]! - start;
    if (length <= 32 && start + length <= fromLimit && at + length <= toLimit) {
      // Four bytes at a time, past the end too: what follows is written next.
      for (let b = 0; b < length; b += 4) to.setInt32(at + b, from.getInt32(start + b, true), true);
    } else copyBytes(data, start, target, at, length);
    at += length;
    ends[++end] = at;
  }
  sink.size = at;
  sink.count = end;
}

function padded(bytes: number): number {
  return (bytes + 7) & ~7;
}
