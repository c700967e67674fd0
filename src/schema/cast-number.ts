import { type DataType as ArrowType, Data } from 'apache-arrow';
import { ARROW, type ArrowDataLike, type ArrowTypeLike, isValid } from './arrow-shape.js';
import { nullBits, signed64 } from './cast-bits.js';
import { Refusal } from './cell-fault.js';
import { placed } from './column-builder.js';
import { fitsPrecision, INTEGER_RANGE, powerOfTen } from './number-text.js';
import { typeText } from './type-text.js';
import type { DataType, DecimalType } from './types.js';

/** Rewrites fixed-width Arrow columns of another type than the table's; every value must survive exactly. Undefined where the types do not match at all. */
export function castFixed(
  data: ArrowDataLike,
  type: DataType,
  arrowType: ArrowType,
  naive: 'refuse' | 'utc',
): Data | undefined {
  switch (type.type) {
    case 'byte':
    case 'short':
    case 'integer':
      return castInteger(data, type.type, arrowType);
    case 'long':
      return castLong(data, arrowType);
    case 'float':
    case 'double':
      return castFloating(data, type.type, arrowType);
    case 'decimal':
      return castDecimal(data, type, arrowType);
    case 'date':
      return castDate(data, arrowType);
    case 'timestamp':
    case 'timestamp_ntz':
      return castTimestamp(data, type.type, arrowType, naive);
    default:
      return undefined;
  }
}

/** Runs `set` over the rows that are not NULL and puts the buffer into a column. */
function rewrite(
  data: ArrowDataLike,
  arrowType: ArrowType,
  buffer: ArrayBufferView,
  set: (i: number) => void,
  valueAt: (i: number) => unknown,
): Data {
  const { bitmap, nulls } = nullBits(data);
  let i = 0;
  try {
    if (nulls === 0) for (; i < data.length; i++) set(i);
    else {
      for (; i < data.length; i++) if (isValid(data, i)) set(i);
    }
  } catch (error) {
    throw placed(error, i, valueAt(i));
  }
  return new Data(arrowType, 0, data.length, nulls, [undefined, buffer, bitmap] as never);
}

type Wide = BigInt64Array | BigUint64Array;
type Narrow = ArrayLike<number>;

/** Integer values as they are read: numbers up to 32 bits, bigints beyond; undefined for a column that holds no integers. */
function integersOf(data: ArrowDataLike): { wide: Wide } | { narrow: Narrow } | undefined {
  if (data.type.typeId !== ARROW.int) return undefined;
  if (data.type.bitWidth !== 64) return { narrow: data.values as Narrow };
  if (data.values instanceof BigUint64Array) return { wide: data.values };
  const signed = signed64(data.values);
  return {
    wide:
      data.type.isSigned === false
        ? new BigUint64Array(signed.buffer, signed.byteOffset, signed.length)
        : signed,
  };
}

function castInteger(
  data: ArrowDataLike,
  type: 'byte' | 'short' | 'integer',
  arrowType: ArrowType,
): Data | undefined {
  const source = integersOf(data);
  if (source === undefined) return undefined;
  const values: ArrayLike<number | bigint> = 'wide' in source ? source.wide : source.narrow;
  const buffer =
    type === 'byte'
      ? new Int8Array(data.length)
      : type === 'short'
        ? new Int16Array(data.length)
        : new Int32Array(data.length);
  const [least, greatest] = [Number(INTEGER_RANGE[type][0]), Number(INTEGER_RANGE[type][1])];
  const set = (i: number): void => {
    const value = Number(values[i]);
    if (value < least || value > greatest)
      throw new Refusal(typeText({ type }), `It is outside ${least} to ${greatest}.`);
    buffer[i] = value;
  };
  return rewrite(data, arrowType, buffer, set, (i) => values[i]);
}

function castLong(data: ArrowDataLike, arrowType: ArrowType): Data | undefined {
  const source = integersOf(data);
  if (source === undefined) return undefined;
  const buffer = new BigInt64Array(data.length);
  if ('narrow' in source) {
    const halves = new Int32Array(buffer.buffer);
    const { narrow } = source;
    const set = (i: number): void => {
      halves[2 * i] = narrow[i]!;
      halves[2 * i + 1] = narrow[i]! < 0 ? -1 : 0;
    };
    return rewrite(data, arrowType, buffer, set, (i) => narrow[i]);
  }
  const { wide } = source;
  const set = (i: number): void => {
    if (wide[i]! > INTEGER_RANGE.long[1]) throw new Refusal('bigint', 'It is outside signed 64 bits.');
    buffer[i] = wide[i]!;
  };
  return rewrite(data, arrowType, buffer, set, (i) => wide[i]);
}

function castFloating(data: ArrowDataLike, type: 'float' | 'double', arrowType: ArrowType): Data | undefined {
  const buffer = type === 'float' ? new Float32Array(data.length) : new Float64Array(data.length);
  const source = integersOf(data);
  if (source !== undefined) {
    const values: ArrayLike<number | bigint> = 'wide' in source ? source.wide : source.narrow;
    const set = (i: number): void => {
      const value = values[i]!;
      buffer[i] = Number(value);
      if (typeof value === 'bigint' ? BigInt(buffer[i]!) !== value : buffer[i] !== value) throw lost(type);
    };
    return rewrite(data, arrowType, buffer, set, (i) => values[i]);
  }
  if (data.type.typeId !== ARROW.float) return undefined;
  const values = data.values as ArrayLike<number>;
  const half = data.type.precision === 0;
  const read = half ? (i: number) => halfToNumber(values[i]!) : (i: number) => values[i]!;
  const set = (i: number): void => {
    const value = read(i);
    buffer[i] = value;
    if (buffer[i] !== value && !Number.isNaN(value)) throw lost(type);
  };
  return rewrite(data, arrowType, buffer, set, read);
}

function lost(type: string): Refusal {
  return new Refusal(
    type,
    `A ${type} cannot hold this value exactly; round it before, or use a wider column.`,
  );
}

/** An IEEE 754 half from its 16 bits. */
function halfToNumber(bits: number): number {
  const sign = bits & 0x8000 ? -1 : 1;
  const exponent = (bits >> 10) & 31;
  const fraction = bits & 1023;
  if (exponent === 31) return fraction === 0 ? sign * Infinity : Number.NaN;
  return exponent === 0 ? sign * fraction * 2 ** -24 : sign * (1024 + fraction) * 2 ** (exponent - 25);
}

function castDecimal(data: ArrowDataLike, type: DecimalType, arrowType: ArrowType): Data | undefined {
  const read = unscaledReader(data);
  if (read === undefined) return undefined;
  const up = type.scale - (data.type.typeId === ARROW.decimal ? (data.type.scale ?? 0) : 0);
  const factor = powerOfTen(Math.abs(up));
  const buffer = new BigInt64Array(data.length * 2);
  const set = (i: number): void => {
    let value = read(i);
    if (up >= 0) value *= factor;
    else if (value % factor !== 0n)
      throw new Refusal(typeText(type), `It has more than ${type.scale} digits behind the point.`);
    else value /= factor;
    if (!fitsPrecision(value, type.precision))
      throw new Refusal(typeText(type), `It has more than ${type.precision} digits.`);
    buffer[2 * i] = BigInt.asIntN(64, value);
    buffer[2 * i + 1] = value >> 64n;
  };
  return rewrite(data, arrowType, new Uint32Array(buffer.buffer), set, read);
}

/** Unscaled decimals of any width, or integers, as bigints. */
export function unscaledReader(data: ArrowDataLike): ((i: number) => bigint) | undefined {
  const source = integersOf(data);
  if (source !== undefined) {
    const values: ArrayLike<number | bigint> = 'wide' in source ? source.wide : source.narrow;
    return (i) => BigInt(values[i]!);
  }
  if (data.type.typeId !== ARROW.decimal) return undefined;
  const width = data.type.bitWidth ?? 128;
  if (width === 32) return (i) => BigInt((data.values as Int32Array)[i]! | 0);
  const words = signed64(data.values);
  const perValue = width >> 6;
  return (i) => {
    let value = words[i * perValue + perValue - 1]!;
    for (let k = perValue - 2; k >= 0; k--)
      value = (value << 64n) | BigInt.asUintN(64, words[i * perValue + k]!);
    return value;
  };
}

function castDate(data: ArrowDataLike, arrowType: ArrowType): Data | undefined {
  if (data.type.typeId !== ARROW.date || data.type.unit === 0) return undefined;
  const values = signed64(data.values);
  const buffer = new Int32Array(data.length);
  const set = (i: number): void => {
    const days = Number(values[i]!) / 86_400_000;
    if (!Number.isInteger(days) || days !== (days | 0))
      throw new Refusal('date', 'A Date64 value must be a midnight.');
    buffer[i] = days;
  };
  return rewrite(data, arrowType, buffer, set, (i) => values[i]);
}

const PER_SECOND = [1n, 1000n, 1_000_000n, 1_000_000_000n];

function castTimestamp(
  data: ArrowDataLike,
  type: 'timestamp' | 'timestamp_ntz',
  arrowType: ArrowType,
  naive: 'refuse' | 'utc',
): Data | undefined {
  if (data.type.typeId !== ARROW.timestamp || !zoneFits(data.type, type, naive)) return undefined;
  const perSecond = PER_SECOND[data.type.unit ?? 4];
  if (perSecond === undefined) return undefined;
  const values = signed64(data.values);
  const buffer = new BigInt64Array(data.length);
  const factor = 1_000_000n / perSecond;
  const set = (i: number): void => {
    const value = values[i]!;
    if (factor > 0n) {
      const micros = value * factor;
      if (BigInt.asIntN(64, micros) !== micros)
        throw new Refusal(type, 'It is outside 64 bits of microseconds.');
      buffer[i] = micros;
    } else {
      if (value % 1000n !== 0n)
        throw new Refusal(type, 'Timestamps hold microseconds; the nanoseconds would be lost.');
      buffer[i] = value / 1000n;
    }
  };
  return rewrite(data, arrowType, buffer, set, (i) => values[i]);
}

/** True when an Arrow timestamp may stand for the Delta type: instants for `timestamp`, wall clocks for `timestamp_ntz`. */
export function zoneFits(
  source: ArrowTypeLike,
  type: 'timestamp' | 'timestamp_ntz',
  naive: 'refuse' | 'utc',
): boolean {
  return source.timezone ? type === 'timestamp' : type === 'timestamp_ntz' || naive === 'utc';
}
