import type * as arrow from 'apache-arrow';
import { bitAt, type Column } from './encode-columns.js';

/** How the values of a column are laid out in a file. */
export type ColumnEncoding = 'plain' | 'dictionary' | 'delta';

/** Rows that lie together in the sample: a whole block of the delta encoding. */
const RUN = 128;
const MAX_RUNS = 16;
/** A dictionary costs time and, where most values differ, space: it must promise this share of the plain size. */
const DICTIONARY_GAIN = 0.75;
const DELTA_GAIN = 0.85;

/**
 * The encoding for a column, decided from runs of rows spread over it. Dictionaries are tried only where values repeat,
 * differences only on whole numbers (dates, times and short decimals among them) that lie closer together than their type is wide.
 */
export function chooseEncoding(column: Column, type: arrow.DataType): ColumnEncoding {
  if (column.length < RUN) return 'plain';
  const sample = SAMPLERS[type.typeId]?.(column, type);
  if (!sample) return 'plain';
  const distinct = new Set<number | bigint | string>();
  let values = 0;
  let bytes = 0;
  let deltaBits = 0;
  const runs = Math.min(MAX_RUNS, Math.max(1, Math.floor(column.length / (RUN * 8))));
  const stride = Math.floor((column.length - RUN) / runs);
  for (let run = 0; run < runs; run++) {
    const items: (number | bigint)[] = [];
    for (let i = run * stride; i < run * stride + RUN; i++) {
      if (column.valid && !bitAt(column.valid, column.bit + i)) continue;
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
  const dictionary = Math.ceil(Math.log2(estimate + 1)) + (estimate * plain) / column.length;
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

/** By Arrow's type id: 2 integer, 3 float, 4 binary, 5 string, 7 decimal, 8 date, 10 timestamp. */
const SAMPLERS: Readonly<Record<number, (column: Column, type: arrow.DataType) => Sampler>> = {
  2: (column) => numbers(column, true),
  3: (column) => numbers(column, false),
  4: texts,
  5: texts,
  7: decimals,
  8: (column) => numbers(column, true),
  10: (column) => numbers(column, true),
};

/** Numbers stand for themselves by their bits: a sample asks only whether values repeat, and how far whole ones lie apart. */
function numbers({ values, shape }: Column, whole: boolean): Sampler {
  const width = shape.kind === 'fixed' ? shape.width : 8;
  const view = new DataView(values!.buffer, values!.byteOffset, values!.byteLength);
  // Parquet stores narrow integers in 32 bits.
  const bytes = (): number => Math.max(4, width);
  switch (width) {
    case 1:
      return { whole, value: (i) => view.getInt8(i), bytes };
    case 2:
      return { whole, value: (i) => view.getInt16(i * 2, true), bytes };
    case 4:
      return { whole, value: (i) => view.getInt32(i * 4, true), bytes };
    default:
      return { whole, value: (i) => view.getBigInt64(i * 8, true), bytes };
  }
}

function decimals({ values }: Column, type: arrow.DataType): Sampler {
  const { precision } = type as arrow.Decimal;
  const view = new DataView(values!.buffer, values!.byteOffset, values!.byteLength);
  return {
    whole: precision <= 18,
    value: (i) => {
      const low = view.getBigInt64(i * 16, true);
      return precision <= 18 ? low : (view.getBigInt64(i * 16 + 8, true) << 64n) | BigInt.asUintN(64, low);
    },
    bytes: () => (precision <= 9 ? 4 : precision <= 18 ? 8 : 16),
  };
}

function texts({ offsets, values }: Column): Sampler {
  const buffer = Buffer.from(values!.buffer, values!.byteOffset, values!.byteLength);
  return {
    whole: false,
    value: (i) => buffer.toString('latin1', offsets![i]!, offsets![i + 1]!),
    bytes: (i) => 4 + offsets![i + 1]! - offsets![i]!,
  };
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
