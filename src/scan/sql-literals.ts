import { parseExact, rangeOf } from './functions-cast.js';
import { parseDate, parseTimestamp } from './functions-time.js';
import { integerLiteral, type LiteralExpression } from './predicate.js';

const SUFFIXED = /^(-?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?)(bd|[lsydf])?$/i;
const SUFFIX_TYPES = { l: 'long', s: 'short', y: 'byte' } as const;

/**
 * A number as Spark reads it: digits alone are INT, BIGINT or DECIMAL by size; with a point DECIMAL; with an exponent DOUBLE; the suffixes are
 * L (BIGINT), S, Y, BD (DECIMAL), D and F. A string is what is wrong with it.
 */
export function numberLiteral(text: string): LiteralExpression | string {
  const match = SUFFIXED.exec(text);
  if (match === null) return `${text} is no number`;
  const digits = match[1]!;
  const suffix = match[2]?.toLowerCase();
  switch (suffix) {
    case 'l':
    case 's':
    case 'y':
      return suffixedInteger(digits, suffix, text);
    case 'd':
      return floating(Number(digits), 'double', text);
    case 'f':
      return floating(Math.fround(Number(digits)), 'float', text);
    case undefined:
      if (/e/i.test(digits)) return floating(Number(digits), 'double', text);
      if (!digits.includes('.')) return wholeNumber(digits);
      return exactDecimal(digits);
    default:
      return exactDecimal(digits);
  }
}

function suffixedInteger(
  digits: string,
  suffix: keyof typeof SUFFIX_TYPES,
  text: string,
): LiteralExpression | string {
  if (!/^-?\d+$/.test(digits)) return `${text} is no whole number`;
  const type = { type: SUFFIX_TYPES[suffix] };
  const value = digits.length > 40 ? undefined : BigInt(digits);
  const [low, high] = rangeOf(type)!;
  if (value === undefined || value < low || value > high) return `${text} is outside the range of its type`;
  return { kind: 'literal', type, value: suffix === 'l' ? value : Number(value) };
}

function floating(value: number, type: 'double' | 'float', text: string): LiteralExpression | string {
  return Number.isFinite(value)
    ? { kind: 'literal', type: { type }, value }
    : `${text} is too large for a ${type}`;
}

function wholeNumber(digits: string): LiteralExpression | string {
  const trimmed = digits.replace(/^(-?)0+(?=\d)/, '$1');
  if (trimmed.replace('-', '').length > 38) return 'a number of more than 38 digits';
  return integerLiteral(BigInt(trimmed));
}

function exactDecimal(digits: string): LiteralExpression | string {
  const exact = parseExact(digits);
  if (exact === null) return `${digits} is no decimal number`;
  const length = (exact.unscaled < 0n ? -exact.unscaled : exact.unscaled).toString().length;
  const precision = Math.max(length, exact.scale, 1);
  if (precision > 38) return 'a number of more than 38 digits';
  return { kind: 'literal', type: { type: 'decimal', precision, scale: exact.scale }, value: exact.unscaled };
}

/** X'1f' . */
export function binaryLiteral(hex: string): LiteralExpression | string {
  if (!/^[0-9a-fA-F]*$/.test(hex)) return 'a binary literal has hexadecimal digits only';
  // Spark puts a zero before an odd number of digits.
  const even = hex.length % 2 === 0 ? hex : `0${hex}`;
  return { kind: 'literal', type: { type: 'binary' }, value: Uint8Array.from(Buffer.from(even, 'hex')) };
}

/** DATE '..', TIMESTAMP '..', TIMESTAMP_NTZ '..'; undefined when the word is none of these. */
export function typedLiteral(word: string, text: string): LiteralExpression | string | undefined {
  switch (word) {
    case 'date': {
      const days = /^\s*[+-]?\d{4,7}(-\d{1,2}(-\d{1,2})?)?\s*$/.test(text) ? parseDate(text) : undefined;
      if (days === undefined) return `not a date: ${JSON.stringify(text)}; write DATE '2024-01-31'`;
      return { kind: 'literal', type: { type: 'date' }, value: days };
    }
    case 'timestamp':
    case 'timestamp_ltz':
    case 'timestamp_ntz': {
      const micros = parseTimestamp(text);
      if (micros === undefined) {
        return `not a timestamp: ${JSON.stringify(text)}; write TIMESTAMP '2024-01-31T12:00:00Z' or an offset such as +01:00`;
      }
      const type = word === 'timestamp_ntz' ? 'timestamp_ntz' : 'timestamp';
      return { kind: 'literal', type: { type }, value: micros };
    }
    default:
      return undefined;
  }
}
