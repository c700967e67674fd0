import type * as arrow from 'apache-arrow';

/** How the values of a column are laid out in a file. */
export type ColumnEncoding = 'plain' | 'dictionary' | 'delta';

/** Rows that lie together in the sample: a whole block of the delta encoding. */
const RUN = 128;
const MAX_RUNS = 16;
/** A dictionary costs time and, where most values differ, space: it must promise this share of the plain size. */
const DICTIONARY_GAIN = 0.75;
const DELTA_GAIN = 0.85;

/**
 * The encoding for a column of an Arrow array's values, decided from runs of rows spread over it. Dictionaries are tried only where values repeat,
 * differences only on whole numbers (dates, times and short decimals among them) that lie closer together than their type is wide.
 */
export function chooseEncoding(data: arrow.Data): ColumnEncoding {
  if (data.length < RUN) return 'plain';
  const sample = SAMPLERS[data.typeId]?.(data);
  if (!sample) return 'plain';
  const distinct = new Set<number | bigint | string>();
  let values = 0;
  let bytes = 0;
  let deltaBits = 0;
  const runs = Math.min(MAX_RUNS, Math.max(1, Math.floor(data.length / (RUN * 8))));
  const stride = Math.floor((data.length - RUN) / runs);
  for (let run = 0; run < runs; run++) {
    const items: (number | bigint)[] = [];
    for (let i = run * stride; i < run * stride + RUN; i++) {
      if (!isValid(data, i)) continue;
      const value = sample.value(i);
      distinct.add(value);
      bytes += sample.bytes(i);
      values++;
      if (typeof value !== 'string') items.push(value);
    }
    if (sample.whole) deltaBits += deltaCost(items);
  }
  if (values === 0) return 'plain';
  const plain = (bytes * 8) / values;
  const estimate = distinct.size < values * 0.6 ? distinct.size : Number.POSITIVE_INFINITY;
  const dictionary = Math.ceil(Math.log2(estimate + 1)) + (estimate * plain) / data.length;
  const delta = sample.whole ? deltaBits / values : Number.POSITIVE_INFINITY;
  if (delta <= dictionary && delta < plain * DELTA_GAIN) return 'delta';
  return dictionary < plain * DICTIONARY_GAIN ? 'dictionary' : 'plain';
}

interface Sampler {
  /** True for whole numbers, which differences may be taken of. */
  readonly whole: boolean;
  value(i: number): number | bigint | string;
  bytes(i: number): number;
}

type Numbers = Int8Array | Int16Array | Int32Array | Float32Array | Float64Array;

/** By Arrow's type id: 2 integer, 3 float, 4 binary, 5 string, 7 decimal, 8 date, 10 timestamp. */
const SAMPLERS: Readonly<Record<number, (data: arrow.Data) => Sampler>> = {
  2: wholeNumbers,
  3: (data) => numbers(data.values as Numbers, false),
  4: texts,
  5: texts,
  7: decimals,
  8: wholeNumbers,
  10: wholeNumbers,
};

function wholeNumbers(data: arrow.Data): Sampler {
  if (!(data.values instanceof BigInt64Array)) return numbers(data.values as Numbers, true);
  const values = data.values;
  return { whole: true, value: (i) => values[i]!, bytes: () => 8 };
}

function numbers(values: Numbers, whole: boolean): Sampler {
  // Parquet stores narrow integers in 32 bits.
  const width = Math.max(4, values.BYTES_PER_ELEMENT);
  return { whole, value: (i) => values[i]!, bytes: () => width };
}

function decimals(data: arrow.Data): Sampler {
  const { precision } = data.type as arrow.Decimal;
  const words = data.values as Uint32Array;
  const low = new BigInt64Array(2);
  const lowWords = new Uint32Array(low.buffer);
  const value = (i: number): bigint => {
    lowWords.set(words.subarray(i * 4, i * 4 + 4));
    return precision <= 18 ? low[0]! : (low[1]! << 64n) | BigInt.asUintN(64, low[0]!);
  };
  return { whole: precision <= 18, value, bytes: () => (precision <= 9 ? 4 : precision <= 18 ? 8 : 16) };
}

function texts(data: arrow.Data): Sampler {
  const offsets = data.valueOffsets as Int32Array;
  const values = data.values as Uint8Array;
  const buffer = Buffer.from(values.buffer as ArrayBuffer, values.byteOffset, values.byteLength);
  return {
    whole: false,
    value: (i) => buffer.toString('latin1', offsets[i]!, offsets[i + 1]!),
    bytes: (i) => 4 + offsets[i + 1]! - offsets[i]!,
  };
}

function isValid(data: arrow.Data, i: number): boolean {
  const bits = data.nullBitmap;
  const at = data.offset + i;
  return !bits || bits.length === 0 || ((bits[at >> 3]! >> (at & 7)) & 1) === 1;
}

/** Bits that a block of differences takes: each as wide as the widest, above the smallest. */
function deltaCost(values: readonly (number | bigint)[]): number {
  if (values.length < 2) return 64;
  let min: number | bigint = Number.POSITIVE_INFINITY;
  let max: number | bigint = Number.NEGATIVE_INFINITY;
  for (let i = 1; i < values.length; i++) {
    const delta =
      typeof values[i] === 'bigint'
        ? (values[i] as bigint) - (values[i - 1] as bigint)
        : (values[i] as number) - (values[i - 1] as number);
    if (delta < min) min = delta;
    if (delta > max) max = delta;
  }
  return 80 + values.length * Math.ceil(Math.log2(Number(max) - Number(min) + 1));
}
