import {
  dateText,
  instantMicros,
  parseDateText,
  parseTimestampText,
  quickInstant,
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

/** Strings longer than this, in code points, are cut in statistics; the same length as Spark's default. */
export const STATISTIC_STRING_LENGTH = 32;

/** How far a maximum may grow while looking for a character that sorts behind what was cut off. */
const LONGEST_MAXIMUM = STATISTIC_STRING_LENGTH * 2;

/** The length of `2024-01-05T00:00:00.123Z`: longer ones have microseconds. */
const QUICK_MILLISECONDS = 24;

const FIRST_DAY = -719_162;
const LAST_DAY = 2_932_896;
const MICROS_PER_DAY = 86_400_000_000n;

/**
 * Reads one token of `minValues` or `maxValues` (protocol: Per-file Statistics), or undefined when it says nothing that can be relied on: then the caller
 * does as if the file had no such statistic. With `bound` `max`, a timestamp is moved to the last microsecond of its millisecond, because writers
 * truncate statistics of timestamps to milliseconds: the value returned is a true upper bound.
 */
export function datumFromJsonToken(type: DataType, token: string, bound?: 'min' | 'max'): Datum | undefined {
  const text = token.startsWith('"') ? parseString(token) : token;
  if (text === undefined || token === 'null') return undefined;
  const quoted = token.startsWith('"');
  switch (type.type) {
    case 'string':
      return quoted ? text : undefined;
    case 'boolean':
      return token === 'true' ? true : token === 'false' ? false : undefined;
    case 'byte':
    case 'short':
    case 'integer':
    case 'long':
      return quoted ? undefined : integer(type.type, text);
    case 'float':
    case 'double': {
      const value = parseDoubleText(text);
      return value === undefined || Number.isNaN(value)
        ? undefined
        : type.type === 'float'
          ? Math.fround(value)
          : value;
    }
    case 'decimal': {
      const value = parseDecimalText(text, type.precision, type.scale);
      return typeof value === 'bigint' ? value : undefined;
    }
    case 'date': {
      // Some writers put a time of day behind the date.
      const day = quoted ? parseDateText(text.length > 10 ? (text.split(/[T ]/)[0] ?? '') : text) : undefined;
      return day;
    }
    case 'timestamp':
    case 'timestamp_ntz':
      return quoted ? timestamp(type.type, text, bound) : undefined;
    default:
      return undefined;
  }
}

function parseString(token: string): string | undefined {
  if (!token.includes('\\')) return token.length >= 2 && token.endsWith('"') ? token.slice(1, -1) : undefined;
  try {
    const value: unknown = JSON.parse(token);
    return typeof value === 'string' ? value : undefined;
  } catch {
    return undefined;
  }
}

function integer(type: keyof typeof INTEGER_RANGE, text: string): Datum | undefined {
  // 1e3 and 1.0 are JSON numbers too.
  const value = parseDecimalText(text, 19, 0);
  const [least, greatest] = INTEGER_RANGE[type];
  if (typeof value !== 'bigint' || value < least || value > greatest) return undefined;
  return type === 'long' ? value : Number(value);
}

function timestamp(
  type: 'timestamp' | 'timestamp_ntz',
  text: string,
  bound: 'min' | 'max' | undefined,
): Datum | undefined {
  const quick = quickInstant(text);
  if (quick !== undefined) return bound === 'max' && text.length <= QUICK_MILLISECONDS ? quick + 999n : quick;
  const parsed = parseTimestampText(text);
  if (parsed === undefined) return undefined;
  // Without a zone nobody knows which instant is meant; with one other than UTC a wall clock is no longer that.
  if (type === 'timestamp' ? parsed.offsetSeconds === undefined : (parsed.offsetSeconds ?? 0) !== 0)
    return undefined;
  const micros = instantMicros(parsed);
  if (bound !== 'max') return micros;
  return parsed.fractionDigits <= 3 ? micros + 999n : parsed.inexact ? micros + 1n : micros;
}

/**
 * The JSON token that stands for the least or greatest value of a file in its statistics, or undefined when none may be written: NULL, NaN, infinities,
 * types without an order in statistics (boolean, binary, nested), years outside 0001 to 9999, and strings that no short text can bound.
 * Timestamps are truncated to milliseconds towards the past, as the protocol says; readers allow for it. A cut maximum ends with a character that sorts
 * behind everything cut off, and no surrogate pair is ever split.
 */
export function datumToStatJson(type: DataType, datum: Datum, bound: 'min' | 'max'): string | undefined {
  if (datum === null) return undefined;
  switch (type.type) {
    case 'byte':
    case 'short':
    case 'integer':
    case 'long':
      return String(datum);
    case 'float':
      return Number.isFinite(datum) ? floatText(datum as number) : undefined;
    case 'double':
      return Number.isFinite(datum) ? doubleText(datum as number) : undefined;
    case 'decimal':
      return decimalText(datum as bigint, type.scale);
    case 'date':
      return (datum as number) < FIRST_DAY || (datum as number) > LAST_DAY
        ? undefined
        : `"${dateText(datum as number)}"`;
    case 'timestamp':
    case 'timestamp_ntz': {
      const micros = datum as bigint;
      if (micros < BigInt(FIRST_DAY) * MICROS_PER_DAY || micros >= BigInt(LAST_DAY + 1) * MICROS_PER_DAY)
        return undefined;
      return `"${timestampText(micros, 'T', 'millis')}${type.type === 'timestamp' ? 'Z' : ''}"`;
    }
    case 'string': {
      const text = bound === 'min' ? cutMinimum(datum as string) : cutMaximum(datum as string);
      return text === undefined ? undefined : JSON.stringify(text);
    }
    default:
      return undefined;
  }
}

function cutMinimum(text: string): string {
  return text.slice(0, prefixLength(text, STATISTIC_STRING_LENGTH));
}

function cutMaximum(text: string): string | undefined {
  let end = prefixLength(text, STATISTIC_STRING_LENGTH);
  for (let points = STATISTIC_STRING_LENGTH; end < text.length && points < LONGEST_MAXIMUM; points++) {
    const next = text.codePointAt(end)!;
    // U+FFFF sorts behind all of the first plane by bytes and by UTF-16 units alike.
    if (next < 0xffff) return `${text.slice(0, end)}\uffff`;
    if (next < 0x10ffff) return `${text.slice(0, end)}\u{10ffff}`;
    end += 2;
  }
  return end >= text.length ? text : undefined;
}

/** How many UTF-16 units the first `points` code points take. */
function prefixLength(text: string, points: number): number {
  if (text.length <= points) return text.length;
  let end = 0;
  for (let i = 0; i < points && end < text.length; i++) end += text.codePointAt(end)! > 0xffff ? 2 : 1;
  return end;
}
