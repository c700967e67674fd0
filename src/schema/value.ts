import {
  dateText,
  instantMicros,
  parseDateText,
  parseTimestampText,
  timestampText,
} from './calendar-text.js';
import {
  decimalText,
  doubleText,
  floatText,
  INTEGER_RANGE,
  parseDecimalText,
  parseDoubleText,
} from './number-text.js';
import type { DataType, Datum } from './types.js';

/**
 * The order of two values of one type, as predicates, statistics and merges see it: negative, zero or positive. NULL is less than everything and equal to
 * itself; strings by their UTF-8 bytes (not by UTF-16 units), binary by unsigned bytes; NaN equals itself and is greater than every number; -0 equals 0.
 */
export function compareDatum(type: DataType, a: Datum, b: Datum): number {
  if (a === b) return 0;
  if (a === null) return -1;
  if (b === null) return 1;
  switch (type.type) {
    case 'string':
      return compareUtf8(a as string, b as string);
    case 'binary':
      return compareBytes(a as Uint8Array, b as Uint8Array);
    case 'float':
    case 'double':
      return compareDouble(a as number, b as number);
    default:
      // Numbers, bigints and booleans order as JavaScript orders them.
      return (a as number) < (b as number) ? -1 : (a as number) > (b as number) ? 1 : 0;
  }
}

/** Orders two strings by their code points, which is the order of their UTF-8 bytes. */
export function compareUtf8(a: string, b: string): number {
  const length = Math.min(a.length, b.length);
  for (let i = 0; i < length; i++) {
    let x = a.charCodeAt(i);
    let y = b.charCodeAt(i);
    if (x === y) continue;
    // Surrogates stand for code points above U+FFFF: lift them over U+E000 to U+FFFF.
    if (x >= 0xd800 && y >= 0xd800) {
      x = x >= 0xe000 ? x - 0x800 : x + 0x2000;
      y = y >= 0xe000 ? y - 0x800 : y + 0x2000;
    }
    return x - y;
  }
  return a.length - b.length;
}

/** The order of bytes, unsigned. */
export function compareBytes(a: Uint8Array, b: Uint8Array): number {
  return Buffer.compare(a, b);
}

function compareDouble(a: number, b: number): number {
  if (a < b) return -1;
  if (a > b) return 1;
  const nanA = Number.isNaN(a);
  return nanA === Number.isNaN(b) ? 0 : nanA ? 1 : -1;
}

/** How text without a zone is read for a `timestamp`. */
export interface DatumTextOptions {
  /** `utc`: as UTC (the default). `refuse`: it is no value. */
  readonly naive?: 'utc' | 'refuse';
}

/**
 * Reads the text of a literal as a value of the type, or undefined when it is none: outside the type's range, more fraction digits than a decimal's scale or
 * than microseconds, not a value at all. Dates are `YYYY-MM-DD`; timestamps ISO 8601 with `T` or a space; a `timestamp_ntz` takes no zone.
 */
export function datumFromText(
  type: DataType,
  text: string,
  options: DatumTextOptions = {},
): Datum | undefined {
  switch (type.type) {
    case 'string':
      return text;
    case 'boolean':
      return /^true$/i.test(text) ? true : /^false$/i.test(text) ? false : undefined;
    case 'byte':
    case 'short':
    case 'integer':
    case 'long':
      return integerFromText(type.type, text);
    case 'float':
    case 'double': {
      const value = parseDoubleText(text.trim());
      if (value === undefined) return undefined;
      return type.type === 'float' ? Math.fround(value) : value;
    }
    case 'decimal': {
      const value = parseDecimalText(text.trim(), type.precision, type.scale);
      return typeof value === 'bigint' ? value : undefined;
    }
    case 'date':
      return parseDateText(text.trim());
    case 'timestamp':
    case 'timestamp_ntz': {
      const parsed = parseTimestampText(text.trim());
      if (parsed === undefined || parsed.inexact) return undefined;
      if (type.type === 'timestamp_ntz')
        return parsed.offsetSeconds === undefined ? parsed.wallMicros : undefined;
      if (parsed.offsetSeconds === undefined && options.naive === 'refuse') return undefined;
      return instantMicros(parsed);
    }
    case 'binary':
      return new TextEncoder().encode(text);
    default:
      return undefined;
  }
}

function integerFromText(type: keyof typeof INTEGER_RANGE, text: string): Datum | undefined {
  const trimmed = text.trim();
  if (!/^[+-]?\d{1,40}$/.test(trimmed)) return undefined;
  const value = BigInt(trimmed.startsWith('+') ? trimmed.slice(1) : trimmed);
  const [least, greatest] = INTEGER_RANGE[type];
  if (value < least || value > greatest) return undefined;
  return type === 'long' ? value : Number(value);
}

/**
 * The text of a value that is not NULL: what `datumFromText` reads back, one text for equal values (-0 is written `0.0`). Used for messages, keys and SQL
 * literals. Binary as lower-case hexadecimal.
 */
export function datumText(type: DataType, datum: Datum): string {
  switch (type.type) {
    case 'decimal':
      return decimalText(datum as bigint, type.scale);
    case 'double':
      return doubleText((datum as number) + 0);
    case 'float':
      return floatText((datum as number) + 0);
    case 'date':
      return dateText(datum as number);
    case 'timestamp':
      return `${timestampText(datum as bigint, 'T', 'needed')}Z`;
    case 'timestamp_ntz':
      return timestampText(datum as bigint, 'T', 'needed');
    case 'binary':
      return Buffer.from(datum as Uint8Array).toString('hex');
    default:
      return String(datum);
  }
}

export { datumToJs } from './js-value.js';
export { datumFromJsonToken, datumToStatJson } from './statistic-value.js';
