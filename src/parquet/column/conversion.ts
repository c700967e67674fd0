import type { DataType } from '../../schema/types.js';
import { corrupt } from '../flat/fault.js';
import type { SchemaNode } from '../flat/footer.js';
import type { BinaryValues, FixedValues, Values } from './values.js';

/**
 * How the values of a leaf become those of a Delta type (protocol: Type Widening; Parquet: Logical Types). Plain data.
 * Results are as Arrow lays them out: dates as days, timestamps as microseconds, decimals as 128-bit integers; booleans stay one byte each.
 */
export type Conversion =
  | {
      readonly kind:
        | 'same'
        | 'boolean'
        | 'toByte'
        | 'toShort'
        | 'intToLong'
        | 'intToDouble'
        | 'floatToDouble';
    }
  | { readonly kind: 'int96' | 'millisToMicros' | 'nanosToMicros' | 'daysToMicros' | 'fixedToBinary' }
  | { readonly kind: 'decimal'; readonly from: 'integers' | 'bytes'; readonly scaleUp: number };

/** The conversion from a file's leaf to a type, or undefined where the protocol knows none: the file does not fit the table. */
export function conversionOf(type: DataType, node: SchemaNode): Conversion | undefined {
  const leaf = node.leaf;
  if (leaf === undefined) return undefined;
  const { physical, meaning } = leaf;
  const isInteger = meaning.kind === 'none' || (meaning.kind === 'integer' && meaning.signed);
  switch (type.type) {
    case 'boolean':
      return physical === 'BOOLEAN' ? { kind: 'boolean' } : undefined;
    case 'byte':
      return physical === 'INT32' && isInteger ? { kind: 'toByte' } : undefined;
    case 'short':
      return physical === 'INT32' && isInteger ? { kind: 'toShort' } : undefined;
    case 'integer':
    case 'interval year to month':
      return physical === 'INT32' && isInteger ? { kind: 'same' } : undefined;
    case 'long':
    case 'interval day to second':
      if (!isInteger) return undefined;
      return physical === 'INT64'
        ? { kind: 'same' }
        : physical === 'INT32'
          ? { kind: 'intToLong' }
          : undefined;
    case 'float':
      return physical === 'FLOAT' ? { kind: 'same' } : undefined;
    case 'double':
      if (physical === 'DOUBLE') return { kind: 'same' };
      if (physical === 'FLOAT') return { kind: 'floatToDouble' };
      return physical === 'INT32' && isInteger ? { kind: 'intToDouble' } : undefined;
    case 'string':
    case 'binary':
      if (meaning.kind !== 'none' && meaning.kind !== 'string' && meaning.kind !== 'json') return undefined;
      if (physical === 'FIXED_LEN_BYTE_ARRAY') return { kind: 'fixedToBinary' };
      return physical === 'BYTE_ARRAY' ? { kind: 'same' } : undefined;
    case 'date':
      return physical === 'INT32' && (meaning.kind === 'date' || meaning.kind === 'none')
        ? { kind: 'same' }
        : undefined;
    case 'timestamp':
    case 'timestamp_ntz':
      return timestampConversion(type.type, node);
    case 'decimal':
      return decimalConversion(type.precision, type.scale, node);
    default:
      return undefined;
  }
}

function timestampConversion(type: 'timestamp' | 'timestamp_ntz', node: SchemaNode): Conversion | undefined {
  const { physical, meaning } = node.leaf!;
  if (physical === 'INT96') return { kind: 'int96' };
  if (physical === 'INT32' && meaning.kind === 'date' && type === 'timestamp_ntz')
    return { kind: 'daysToMicros' };
  if (physical !== 'INT64') return undefined;
  if (meaning.kind === 'none') return { kind: 'same' };
  if (meaning.kind !== 'timestamp') return undefined;
  if (meaning.unit === 'micros') return { kind: 'same' };
  return { kind: meaning.unit === 'millis' ? 'millisToMicros' : 'nanosToMicros' };
}

function decimalConversion(precision: number, scale: number, node: SchemaNode): Conversion | undefined {
  const { physical, meaning } = node.leaf!;
  const isInt = physical === 'INT32' || physical === 'INT64';
  if (meaning.kind === 'decimal') {
    const scaleUp = scale - meaning.scale;
    if (scaleUp < 0 || precision - scale < meaning.precision - meaning.scale) return undefined;
    if (isInt) return { kind: 'decimal', from: 'integers', scaleUp };
    const isBytes = physical === 'BYTE_ARRAY' || physical === 'FIXED_LEN_BYTE_ARRAY';
    return isBytes ? { kind: 'decimal', from: 'bytes', scaleUp } : undefined;
  }
  if (!isInt || !(meaning.kind === 'none' || (meaning.kind === 'integer' && meaning.signed)))
    return undefined;
  return { kind: 'decimal', from: 'integers', scaleUp: scale };
}

/** Applies a conversion. Never changes its input. Throws `FlatFault` for a value that the type cannot hold. */
export function convertValues(values: Values, conversion: Conversion): Values {
  if (conversion.kind === 'same' || conversion.kind === 'boolean') return values;
  if (conversion.kind === 'decimal') return toDecimal(values, conversion.from, conversion.scaleUp);
  if (values.kind === 'binary') return values;
  const { count } = values;
  const ints = () => new Int32Array(values.bytes.buffer, 0, count);
  const longs = () => new BigInt64Array(values.bytes.buffer, 0, count);
  switch (conversion.kind) {
    case 'toByte':
      return fixed(Int8Array.from(ints()), 1);
    case 'toShort':
      return fixed(Int16Array.from(ints()), 2);
    case 'intToLong':
      return fixed(widen(ints()), 8);
    case 'intToDouble':
      return fixed(Float64Array.from(ints()), 8);
    case 'floatToDouble':
      return fixed(Float64Array.from(new Float32Array(values.bytes.buffer, 0, count)), 8);
    case 'daysToMicros':
      return fixed(
        BigInt64Array.from(ints(), (day) => BigInt(day) * 86_400_000_000n),
        8,
      );
    case 'millisToMicros':
      return fixed(longs().map(milliToMicros), 8);
    case 'nanosToMicros':
      return fixed(longs().map(nanoToMicros), 8);
    case 'int96':
      return int96ToMicros(values);
    case 'fixedToBinary':
      return fixedToBinary(values);
  }
}

function fixed(
  array: Int8Array | Int16Array | Int32Array | BigInt64Array | Float64Array,
  width: number,
): FixedValues {
  return { kind: 'fixed', width, bytes: new Uint8Array(array.buffer), count: array.byteLength / width };
}

function widen(ints: Int32Array): Int32Array {
  const longs = new Int32Array(ints.length * 2);
  for (let i = 0; i < ints.length; i++) {
    longs[2 * i] = ints[i]!;
    longs[2 * i + 1] = ints[i]! >> 31;
  }
  return longs;
}

function milliToMicros(millis: bigint): bigint {
  const micros = millis * 1000n;
  if (BigInt.asIntN(64, micros) !== micros) throw corrupt('timestamp outside the range of microseconds');
  return micros;
}

/** Rounds towards the past, so that instants before 1970 stay in order. */
function nanoToMicros(nanos: bigint): bigint {
  const micros = nanos / 1000n;
  return nanos < 0n && micros * 1000n !== nanos ? micros - 1n : micros;
}

/** INT96: nanoseconds of the day, then the Julian day; taken as proleptic Gregorian, exact for every year that a timestamp can have. */
function int96ToMicros(values: FixedValues): FixedValues {
  const view = new DataView(values.bytes.buffer);
  const micros = new BigInt64Array(values.count);
  for (let i = 0; i < values.count; i++) {
    const nanos = view.getBigInt64(12 * i, true);
    const day = view.getInt32(12 * i + 8, true) - 2_440_588;
    micros[i] = BigInt(day) * 86_400_000_000n + nanoToMicros(nanos);
  }
  return { kind: 'fixed', width: 8, bytes: new Uint8Array(micros.buffer), count: values.count };
}

function fixedToBinary(values: FixedValues): BinaryValues {
  const offsets = new Int32Array(values.count + 1);
  for (let i = 1; i <= values.count; i++) offsets[i] = i * values.width;
  return { kind: 'binary', offsets, data: values.bytes, count: values.count };
}

function toDecimal(values: Values, from: 'integers' | 'bytes', scaleUp: number): FixedValues {
  const { count } = values;
  const bytes = new Uint8Array(count * 16);
  if (values.kind === 'fixed' && from === 'integers') integersTo128(values, new Int32Array(bytes.buffer));
  else {
    for (let i = 0; i < count; i++) {
      const start = values.kind === 'fixed' ? i * values.width : values.offsets[i]!;
      const end = values.kind === 'fixed' ? start + values.width : values.offsets[i + 1]!;
      bigEndianTo128(values.kind === 'fixed' ? values.bytes : values.data, start, end, bytes, i * 16);
    }
  }
  if (scaleUp > 0) scaleAll(new BigInt64Array(bytes.buffer), scaleUp);
  return { kind: 'fixed', width: 16, bytes, count };
}

function integersTo128(values: FixedValues, words: Int32Array): void {
  const per = values.width / 4;
  const from = new Int32Array(values.bytes.buffer, 0, values.count * per);
  for (let i = 0; i < values.count; i++) {
    const top = from[i * per + per - 1]!;
    words[4 * i] = from[i * per]!;
    words[4 * i + 1] = per === 2 ? top : top >> 31;
    words[4 * i + 2] = top >> 31;
    words[4 * i + 3] = top >> 31;
  }
}

/** A two's complement integer, most significant byte first, to 16 bytes, least significant first. */
function bigEndianTo128(from: Uint8Array, start: number, end: number, to: Uint8Array, at: number): void {
  if (end <= start) return;
  const sign = from[start]! >= 128 ? 255 : 0;
  let first = start;
  for (; end - first > 16; first++) {
    if (from[first] !== sign) throw corrupt('decimal of more than 38 digits');
  }
  let written = 0;
  for (let i = end - 1; i >= first; i--) to[at + written++] = from[i]!;
  if (sign !== 0) to.fill(255, at + written, at + 16);
}

function scaleAll(halves: BigInt64Array, scaleUp: number): void {
  const factor = 10n ** BigInt(scaleUp);
  for (let i = 0; i < halves.length; i += 2) {
    const value = ((halves[i + 1]! << 64n) | BigInt.asUintN(64, halves[i]!)) * factor;
    halves[i] = BigInt.asIntN(64, value);
    halves[i + 1] = BigInt.asIntN(64, value >> 64n);
  }
}
