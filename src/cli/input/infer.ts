import { TableError } from '../../errors.js';
import { RawNumber } from '../../log/json.js';
import { parseDateText, parseTimestampText } from '../../schema/calendar-text.js';
import type { DataType, Json, StructType } from '../../schema/types.js';

/**
 * What the values seen so far of one column can be. Types are the narrowest of long, double, boolean, date, timestamp (with a zone), timestamp_ntz
 * (without one) and string that takes all of them; JSON objects are structs and JSON arrays arrays.
 */
export type Guess =
  | { readonly kind: 'none' }
  | { readonly kind: 'long' | 'double' | 'boolean' | 'date' | 'timestamp' | 'timestamp_ntz' | 'string' }
  | { readonly kind: 'array'; readonly element: Guess }
  | { readonly kind: 'struct'; readonly fields: Map<string, Guess> };

export const NONE: Guess = { kind: 'none' };
const LONG: Guess = { kind: 'long' };
const DOUBLE: Guess = { kind: 'double' };
const STRING: Guess = { kind: 'string' };
const BOOLEAN: Guess = { kind: 'boolean' };

/** The guess of a CSV cell. A number with leading zeros is text, because the zeros mean something. */
export function guessText(text: string): Guess {
  const first = text.charCodeAt(0);
  const isDigit = first >= 48 && first <= 57;
  if (isDigit || first === 45 || first === 43 || first === 46) {
    if (/^[+-]?(?:0|[1-9]\d{0,18})$/.test(text))
      return fitsLong(BigInt(text.replace('+', ''))) ? LONG : STRING;
    if (/^[+-]?(?:(?:0|[1-9]\d*)\.\d*|\.\d+|(?:0|[1-9]\d*)(?:\.\d*)?[eE][+-]?\d+)$/.test(text)) return DOUBLE;
    return isDigit ? guessTime(text) : /^-inf(inity)?$/i.test(text) ? DOUBLE : STRING;
  }
  if (/^(true|false)$/i.test(text)) return BOOLEAN;
  return /^(nan|inf|infinity)$/i.test(text) ? DOUBLE : STRING;
}

/** The guess of a JSON value. */
export function guessJson(value: Json): Guess {
  switch (typeof value) {
    case 'string':
      return /^\d/.test(value) ? guessTime(value) : STRING;
    case 'number':
      return Number.isSafeInteger(value) ? LONG : DOUBLE;
    case 'bigint':
      return fitsLong(value) ? LONG : STRING;
    case 'boolean':
      return BOOLEAN;
  }
  if (value === null) return NONE;
  if (value instanceof RawNumber) return DOUBLE;
  if (Array.isArray(value)) {
    let element: Guess = NONE;
    for (const each of value) element = mergeGuess(element, guessJson(each));
    return { kind: 'array', element };
  }
  const fields = new Map<string, Guess>();
  for (const [key, member] of Object.entries(value)) fields.set(key, guessJson(member));
  return { kind: 'struct', fields };
}

/** The narrowest guess that takes the values of both. */
export function mergeGuess(a: Guess, b: Guess): Guess {
  if (a.kind === 'none') return b;
  if (b.kind === 'none') return a;
  if (a.kind === 'array' && b.kind === 'array')
    return { kind: 'array', element: mergeGuess(a.element, b.element) };
  if (a.kind === 'struct' && b.kind === 'struct') {
    for (const [name, guess] of b.fields) a.fields.set(name, mergeGuess(a.fields.get(name) ?? NONE, guess));
    return a;
  }
  if (a.kind === b.kind) return a;
  return isNumeric(a) && isNumeric(b) ? DOUBLE : STRING;
}

/** The schema of guessed columns; a column of which no value was seen is text. Throws `INVALID_INPUT` where there is no column. */
export function schemaOf(columns: ReadonlyMap<string, Guess>, file: string): StructType {
  if (columns.size === 0)
    throw new TableError('INVALID_INPUT', `${file} has no columns to make a table of.`, { file });
  const fields = [...columns].map(([name, guess]) => ({
    name,
    dataType: typeOf(guess),
    nullable: true,
    metadata: {},
  }));
  return { type: 'struct', fields };
}

function typeOf(guess: Guess): DataType {
  switch (guess.kind) {
    case 'none':
      return { type: 'string' };
    case 'array':
      return { type: 'array', elementType: typeOf(guess.element), containsNull: true };
    case 'struct':
      return {
        type: 'struct',
        fields: [...guess.fields].map(([name, inner]) => ({
          name,
          dataType: typeOf(inner),
          nullable: true,
          metadata: {},
        })),
      };
    default:
      return { type: guess.kind };
  }
}

function guessTime(text: string): Guess {
  if (text.length < 10) return STRING;
  if (parseDateText(text) !== undefined) return { kind: 'date' };
  const parsed = parseTimestampText(text);
  if (parsed === undefined || parsed.inexact) return STRING;
  return { kind: parsed.offsetSeconds === undefined ? 'timestamp_ntz' : 'timestamp' };
}

function isNumeric({ kind }: Guess): boolean {
  return kind === 'long' || kind === 'double';
}

function fitsLong(value: bigint): boolean {
  return BigInt.asIntN(64, value) === value;
}
