import { parseJson, RawNumber } from '../../log/json.js';
import { parseTimestampText } from '../../schema/calendar-text.js';
import type { DataType, Json } from '../../schema/types.js';
import type { NtzAs } from './source.js';

/** A value of the input as the table's rows take it. What does not fit is passed on, so that it is refused with its place. */
export type Convert<T> = (value: T) => unknown;

const WHOLE = /^[+-]?\d{1,40}$/;
const NUMBER = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/;
const SPECIAL: ReadonlyMap<string, number> = new Map([
  ['nan', Number.NaN],
  ['infinity', Number.POSITIVE_INFINITY],
  ['inf', Number.POSITIVE_INFINITY],
  ['-infinity', Number.NEGATIVE_INFINITY],
  ['-inf', Number.NEGATIVE_INFINITY],
]);

/** Reads a text, such as a CSV cell, as a type: nested types are JSON, binary is base64. */
export function fromText(type: DataType, ntzAs: NtzAs): Convert<string> {
  switch (type.type) {
    case 'long':
      return wholeText;
    case 'integer':
    case 'short':
    case 'byte':
      return (text) => (WHOLE.test(text) ? Number(text) : text);
    case 'float':
    case 'double':
      return (text) => numberOf(text) ?? text;
    case 'boolean':
      return (text) => booleanOf(text) ?? text;
    case 'decimal':
      return (text) => (text.startsWith('+') ? text.slice(1) : text);
    case 'timestamp':
      return ntzAs === 'utc' ? asUtc : (text) => text;
    case 'binary':
      return (text) => base64Of(text) ?? text;
    case 'struct':
    case 'array':
    case 'map': {
      const inner = fromJson(type, ntzAs);
      return (text) => {
        try {
          return inner(parseJson(text));
        } catch (error) {
          if (error instanceof SyntaxError) return text;
          throw error;
        }
      };
    }
    default:
      return (text) => text;
  }
}

/** Reads a JSON value as a type: 64-bit and decimal values as numbers or text, times as ISO text, binary as base64, maps as objects or pairs. */
export function fromJson(type: DataType, ntzAs: NtzAs): Convert<Json> {
  switch (type.type) {
    case 'long':
      return (value) => (typeof value === 'string' ? wholeText(value) : number(value));
    case 'float':
    case 'double':
      return (value) => {
        if (typeof value === 'string') return SPECIAL.get(value.toLowerCase()) ?? value;
        return typeof value === 'bigint' || value instanceof RawNumber ? Number(rawText(value)) : value;
      };
    case 'decimal':
      return (value) => (value instanceof RawNumber ? plainDecimal(value.raw) : value);
    case 'timestamp':
      return (value) => (ntzAs === 'utc' && typeof value === 'string' ? asUtc(value) : number(value));
    case 'binary':
      return (value) => (typeof value === 'string' ? (base64Of(value) ?? value) : number(value));
    case 'struct': {
      const fields = type.fields.map(
        ({ name, dataType }) => [name.toLowerCase(), fromJson(dataType, ntzAs)] as const,
      );
      const converts = new Map(fields);
      return (value) => (isObject(value) ? convertMembers(value, converts) : number(value));
    }
    case 'array': {
      const element = fromJson(type.elementType, ntzAs);
      return (value) =>
        Array.isArray(value) ? value.map((each) => (each === null ? null : element(each))) : number(value);
    }
    case 'map': {
      const key = fromJson(type.keyType, ntzAs);
      const item = fromJson(type.valueType, ntzAs);
      const pair = (entry: unknown): unknown =>
        Array.isArray(entry) && entry.length === 2
          ? [key(entry[0]), entry[1] === null ? null : item(entry[1])]
          : entry;
      return (value) => {
        if (Array.isArray(value)) return value.map(pair);
        return isObject(value) ? Object.entries(value).map(pair) : number(value);
      };
    }
    default:
      return number;
  }
}

/** The members of an object read by the converters of their names in lower case; NULL stays NULL. */
export function convertMembers(
  value: { readonly [key: string]: Json },
  converts: ReadonlyMap<string, Convert<Json>>,
): Record<string, unknown> {
  const row: Record<string, unknown> = {};
  for (const key of Object.keys(value)) {
    const member = value[key]!;
    const convert = converts.get(key) ?? converts.get(key.toLowerCase());
    const converted = member === null || convert === undefined ? member : convert(member);
    if (key === '__proto__')
      Object.defineProperty(row, key, {
        value: converted,
        enumerable: true,
        writable: true,
        configurable: true,
      });
    else row[key] = converted;
  }
  return row;
}

/** True for text such as `2024-01-31 12:00:00`, a time of day on a calendar without the zone it is in. */
export function isZoneless(text: string): boolean {
  const parsed = parseTimestampText(text);
  return parsed !== undefined && parsed.offsetSeconds === undefined;
}

function asUtc(text: string): string {
  return isZoneless(text) ? `${text.trim()}Z` : text;
}

function wholeText(text: string): unknown {
  if (!WHOLE.test(text)) return text;
  const value = Number(text);
  return Number.isSafeInteger(value) ? value : BigInt(text.startsWith('+') ? text.slice(1) : text);
}

function numberOf(text: string): number | undefined {
  return NUMBER.test(text) ? Number(text) : SPECIAL.get(text.toLowerCase());
}

function booleanOf(text: string): boolean | undefined {
  const lower = text.toLowerCase();
  return lower === 'true' ? true : lower === 'false' ? false : undefined;
}

function base64Of(text: string): Uint8Array | undefined {
  const bytes = Buffer.from(text, 'base64');
  return bytes.toString('base64').replace(/=+$/, '') === text.replace(/=+$/, '')
    ? new Uint8Array(bytes)
    : undefined;
}

/** A number that only its text holds exactly is shown as such where no number is wanted. */
function number(value: Json): unknown {
  return value instanceof RawNumber ? Number(value.raw) : value;
}

function rawText(value: bigint | RawNumber): string {
  return value instanceof RawNumber ? value.raw : String(value);
}

function plainDecimal(raw: string): string {
  return /[eE]/.test(raw) ? String(Number(raw)) : raw;
}

function isObject(value: Json): value is { readonly [key: string]: Json } {
  return (
    typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof RawNumber)
  );
}
