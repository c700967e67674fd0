import { dateText } from '../schema/calendar-text.js';
import { decimalText, doubleText, floatText, INTEGER_RANGE, parseDoubleText } from '../schema/number-text.js';
import { sameType } from '../schema/type-text.js';
import type { DataType, Datum, DecimalType } from '../schema/types.js';
import {
  dayOfMicros,
  floorDiv,
  formatTimestamp,
  microsOfDate,
  parseDate,
  parseTimestamp,
} from './functions-time.js';

const RANGES: ReadonlyMap<string, readonly [bigint, bigint]> = new Map(Object.entries(INTEGER_RANGE));

export const isInteger = (type: DataType): boolean => RANGES.has(type.type);
export const isFloating = (type: DataType): boolean => type.type === 'float' || type.type === 'double';
export const isNumeric = (type: DataType): boolean =>
  isInteger(type) || isFloating(type) || type.type === 'decimal';
export const isTimestamp = (type: DataType): boolean =>
  type.type === 'timestamp' || type.type === 'timestamp_ntz';
export const isTemporal = (type: DataType): boolean => type.type === 'date' || isTimestamp(type);

/** The smallest and largest value of a whole-number or decimal type, unscaled; undefined for other types. */
export function rangeOf(type: DataType): readonly [bigint, bigint] | undefined {
  if (type.type !== 'decimal') return RANGES.get(type.type);
  const limit = 10n ** BigInt(type.precision) - 1n;
  return [-limit, limit];
}

/** Whether CAST knows the way between two types at all. */
export function canCast(from: DataType, to: DataType): boolean {
  if (from.type === 'void' || sameType(from, to)) return true;
  if (!isAtomic(from) || !isAtomic(to)) return false;
  if (to.type === 'string') return true;
  if (from.type === 'string') return true;
  if (from.type === 'binary' || to.type === 'binary') return false;
  if (isTemporal(from) && isTemporal(to)) return true;
  if (from.type === 'date' || to.type === 'date') return false;
  if (isTemporal(from) || isTemporal(to)) return isNumeric(isTemporal(from) ? to : from);
  return true;
}

function isAtomic(type: DataType): boolean {
  return !['array', 'map', 'struct', 'variant', 'void'].includes(type.type);
}

/** CAST of a value that is not null. What the target cannot hold, and text that is not one, is null. `canCast` has been asked before. */
export function castDatum(value: Datum, from: DataType, to: DataType): Datum {
  if (value === null || from.type === 'void') return null;
  if (sameType(from, to)) return value;
  switch (to.type) {
    case 'string':
      return datumText(value, from);
    case 'binary':
      return new TextEncoder().encode(value as string);
    case 'boolean':
      return toBoolean(value, from);
    case 'date':
      return from.type === 'string' ? (parseDate(value as string) ?? null) : dayOfMicros(value as bigint);
    case 'timestamp':
    case 'timestamp_ntz':
      return toTimestamp(value, from);
    case 'float':
    case 'double': {
      const number = toNumber(value, from);
      return number === null ? null : to.type === 'float' ? Math.fround(number) : number;
    }
    case 'decimal':
      return toDecimal(value, from, to);
    default:
      return toWhole(value, from, to);
  }
}

function toBoolean(value: Datum, from: DataType): Datum {
  if (from.type !== 'string') return typeof value === 'bigint' ? value !== 0n : value !== 0;
  const word = (value as string).trim().toLowerCase();
  if (['t', 'true', 'y', 'yes', '1'].includes(word)) return true;
  return ['f', 'false', 'n', 'no', '0'].includes(word) ? false : null;
}

function toTimestamp(value: Datum, from: DataType): Datum {
  if (from.type === 'string') return parseTimestamp(value as string) ?? null;
  if (from.type === 'date') return microsOfDate(value as number);
  if (isTimestamp(from)) return value;
  if (from.type === 'boolean') return null;
  const micros = toDecimal(value, from, { type: 'decimal', precision: 38, scale: 6 });
  return typeof micros === 'bigint' && BigInt.asIntN(64, micros) === micros ? micros : null;
}

function toNumber(value: Datum, from: DataType): number | null {
  switch (from.type) {
    case 'string':
      return parseDoubleText((value as string).trim()) ?? null;
    case 'boolean':
      return value === true ? 1 : 0;
    case 'decimal':
      return Number(decimalText(value as bigint, from.scale));
    case 'timestamp':
    case 'timestamp_ntz':
      return Number(value as bigint) / 1_000_000;
    default:
      return Number(value as number | bigint);
  }
}

function toDecimal(value: Datum, from: DataType, to: DecimalType): bigint | null {
  const exact = toExact(value, from);
  if (exact === null) return null;
  const unscaled = rescaleHalfUp(exact.unscaled, exact.scale, to.scale);
  const [low, high] = rangeOf(to)!;
  return unscaled < low || unscaled > high ? null : unscaled;
}

function toWhole(value: Datum, from: DataType, to: DataType): Datum {
  const exact = toExact(value, from);
  if (exact === null) return null;
  if (from.type === 'string' && exact.scale > 0) return null;
  const whole = isTimestamp(from) ? floorDiv(exact.unscaled, 1_000_000n) : truncate(exact);
  const [low, high] = RANGES.get(to.type)!;
  if (whole < low || whole > high) return null;
  return to.type === 'long' ? whole : Number(whole);
}

/** A number without rounding: `unscaled` / 10^`scale`. */
export interface Exact {
  readonly unscaled: bigint;
  readonly scale: number;
}

/** A numeric, boolean, timestamp (in seconds) or string value without rounding (a double by its shortest digits); null for NaN, infinities and text that is no number. */
export function toExact(value: Datum, from: DataType): Exact | null {
  switch (from.type) {
    case 'string':
      return parseExact(value as string);
    case 'boolean':
      return { unscaled: value === true ? 1n : 0n, scale: 0 };
    case 'decimal':
      return { unscaled: value as bigint, scale: from.scale };
    case 'timestamp':
    case 'timestamp_ntz':
      return { unscaled: value as bigint, scale: 6 };
    case 'float':
      return parseExact(floatText(value as number));
    case 'double':
      return parseExact(String(value));
    default:
      return { unscaled: BigInt(value as number | bigint), scale: 0 };
  }
}

const EXACT = /^([+-]?)(\d*)(?:\.(\d*))?(?:[eE]([+-]?\d{1,4}))?$/;

/** Digits with an optional fraction and exponent, exactly. Null for anything else. */
export function parseExact(text: string): Exact | null {
  const match = EXACT.exec(text.trim());
  if (match === null) return null;
  const fraction = match[3] ?? '';
  const digits = `${match[2]}${fraction}`;
  if (digits === '' || digits.length > 5000) return null;
  const unscaled = match[1] === '-' ? -BigInt(digits) : BigInt(digits);
  const scale = fraction.length - Number(match[4] ?? 0);
  return scale >= 0 ? { unscaled, scale } : { unscaled: unscaled * 10n ** BigInt(-scale), scale: 0 };
}

function truncate(exact: Exact): bigint {
  return exact.unscaled / 10n ** BigInt(exact.scale);
}

/** Half up is away from zero, as Spark rounds decimals. */
export function rescaleHalfUp(unscaled: bigint, from: number, to: number): bigint {
  if (to >= from) return unscaled * 10n ** BigInt(to - from);
  const divisor = 10n ** BigInt(from - to);
  const quotient = unscaled / divisor;
  const rest = unscaled % divisor;
  const magnitude = rest < 0n ? -rest : rest;
  return magnitude * 2n >= divisor ? quotient + (unscaled < 0n ? -1n : 1n) : quotient;
}

/** The text that CAST AS STRING gives, as Spark writes it. */
export function datumText(value: Datum, type: DataType): string {
  switch (type.type) {
    case 'date':
      return dateText(value as number);
    case 'timestamp':
    case 'timestamp_ntz':
      return formatTimestamp(value as bigint);
    case 'decimal':
      return decimalText(value as bigint, type.scale);
    case 'float':
      return floatText(value as number);
    case 'double':
      return doubleText(value as number);
    case 'binary':
      return new TextDecoder().decode(value as Uint8Array);
    default:
      return String(value);
  }
}
