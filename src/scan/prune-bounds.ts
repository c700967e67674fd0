import { dateText, timestampText } from '../schema/calendar-text.js';
import { decimalText } from '../schema/number-text.js';
import type { DataType, Datum } from '../schema/types.js';
import { compareDatum, compareUtf8, datumFromJsonToken } from '../schema/value.js';
import type { StatisticsColumn } from '../snapshot/state.js';
import type { BoundColumn } from './bind-tree.js';

/** The sign of a bound minus a literal; `UNKNOWN` where there is no bound that can be relied on. */
export type Sign = (id: number) => number;
export const UNKNOWN = 2;

/** What is known of the values of one column in units that rows come in: files, row groups, pages. Units have small integer ids. */
export interface ColumnBounds {
  /** Not above any value that is not NULL. */
  min(id: number): Datum | undefined;
  /** Not below any value that is not NULL; NaN is left aside. */
  max(id: number): Datum | undefined;
  nullCount(id: number): number | undefined;
  /** Whether there is a minimum or maximum at all; units of NULLs have none. */
  known(id: number): boolean;
  /** The sign of `min` or `max` minus a literal of the column's type, or of DOUBLE where that is FLOAT. */
  sign(bound: 'min' | 'max', literal: Datum): Sign;
}

/** Bounds that are given as values. */
export function boundsOf(
  type: DataType,
  min: (id: number) => Datum | undefined,
  max: (id: number) => Datum | undefined,
  nullCount: (id: number) => number | undefined,
): ColumnBounds {
  const sign = (bound: 'min' | 'max', literal: Datum): Sign => {
    const read = bound === 'min' ? min : max;
    return (id) => {
      const value = read(id);
      return value === undefined || value === null ? UNKNOWN : Math.sign(compareDatum(type, value, literal));
    };
  };
  const known = (id: number): boolean => min(id) !== undefined || max(id) !== undefined;
  return { min, max, nullCount, known, sign };
}

/**
 * Bounds from the statistics of the log (protocol: Per-file Statistics). They hold for files with deletion vectors too, where they may be wide. Maxima of
 * timestamps stand for their whole millisecond; those of strings as long as writers cut them stand for everything that starts so.
 */
export function bounds(statistics: StatisticsColumn, column: BoundColumn): ColumnBounds {
  const { type } = column;
  const widened = isWidened(column);
  const parse = (token: string, bound: 'min' | 'max'): Datum | undefined =>
    trueBound(type, token, bound, widened);
  const min = remembering((token) => parse(token, 'min'));
  const max = remembering((token) => parse(token, 'max'));
  return {
    min: (id) => min(statistics.min(id)),
    max: (id) => {
      const value = max(statistics.max(id));
      return typeof value === 'string' && maybeCut(value) ? undefined : value;
    },
    nullCount: (id) => statistics.nullCount(id),
    known: (id) => statistics.min(id) !== undefined || statistics.max(id) !== undefined,
    sign: (bound, literal) => {
      const slow = slowSign(type, bound, literal, parse);
      const fast = widened ? undefined : fastSign(type, bound, literal, slow);
      const sign = remembering(fast ?? slow);
      const token = bound === 'min' ? statistics.min.bind(statistics) : statistics.max.bind(statistics);
      return (id) => sign(token(id)) ?? UNKNOWN;
    },
  };
}

/** A FLOAT that became DOUBLE has statistics in the fewest digits of a float, which may be on the wrong side of the value. */
function isWidened(column: BoundColumn): boolean {
  return column.type.type === 'double' && Object.hasOwn(column.fields.at(-1)!.metadata, 'delta.typeChanges');
}

/** Neighbouring files often have the same token, which need not be read again. */
function remembering<T>(of: (token: string) => T): (token: string | undefined) => T | undefined {
  let last: string | undefined;
  let result: T | undefined;
  return (token) => {
    if (token === undefined) return undefined;
    if (token !== last) {
      result = of(token);
      last = token;
    }
    return result;
  };
}

function trueBound(type: DataType, token: string, bound: 'min' | 'max', widened: boolean): Datum | undefined {
  const value = datumFromJsonToken(type, token, bound);
  if (widened && typeof value === 'number') {
    return bound === 'min' ? Math.min(value, Math.fround(value)) : Math.max(value, Math.fround(value));
  }
  // Writers that truncate towards zero move a minimum before 1970 up by less than a millisecond.
  if (bound === 'min' && typeof value === 'bigint' && value <= 0n && type.type.startsWith('timestamp'))
    return value - 999n;
  return value;
}

/** Writers cut strings at 32 characters or bytes and more; a maximum that long may be cut without anything put behind it. */
const SHORTEST_CUT = 32;

function maybeCut(text: string): boolean {
  if (text.length >= SHORTEST_CUT) return true;
  return text.length * 3 >= SHORTEST_CUT && Buffer.byteLength(text) >= SHORTEST_CUT;
}

type TokenSign = (token: string) => number;

function slowSign(
  type: DataType,
  bound: 'min' | 'max',
  literal: Datum,
  parse: (token: string, bound: 'min' | 'max') => Datum | undefined,
): TokenSign {
  return (token) => {
    const value = parse(token, bound);
    if (value === undefined || value === null) return UNKNOWN;
    if (
      bound === 'max' &&
      typeof value === 'string' &&
      (literal as string).startsWith(value) &&
      maybeCut(value)
    )
      return 1;
    return Math.sign(compareDatum(type, value, literal));
  };
}

/** Signs from the token itself where that is safe and much cheaper than making a value of it. */
function fastSign(
  type: DataType,
  bound: 'min' | 'max',
  literal: Datum,
  slow: TokenSign,
): TokenSign | undefined {
  switch (type.type) {
    case 'byte':
    case 'short':
    case 'integer':
    case 'double':
    case 'long':
      return numberSign(Number(literal), slow);
    case 'decimal':
      return numberSign(Number(decimalText(literal as bigint, type.scale)), slow);
    case 'date':
      return fixedTextSign(`"${dateText(literal as number)}"`, slow);
    case 'timestamp':
      return timestampSign(literal as bigint, 'Z"', bound, slow);
    case 'timestamp_ntz':
      return timestampSign(literal as bigint, '"', bound, slow);
    case 'string':
      return textSign(literal as string, bound, slow);
    default:
      return undefined;
  }
}

/** Rounding to a double never turns an order around, so only equal doubles need the digits. */
function numberSign(literal: number, slow: TokenSign): TokenSign {
  return (token) => {
    const value = +token;
    return value < literal ? -1 : value > literal ? 1 : slow(token);
  };
}

const QUOTE = 34;
const DASH = 45;
const DOT = 46;
const DIGIT_TWO = 50;
const LETTER_T = 84;
const EPOCH = '"1970-01-01T00:00:00.001';

/** `"2024-01-31"` orders as text. */
function fixedTextSign(literal: string, slow: TokenSign): TokenSign | undefined {
  if (literal.length !== 12) return undefined;
  return (token) => {
    if (
      token.length !== 12 ||
      token.charCodeAt(5) !== DASH ||
      token.charCodeAt(8) !== DASH ||
      token.charCodeAt(0) !== QUOTE
    ) {
      return slow(token);
    }
    return token < literal ? -1 : token > literal ? 1 : 0;
  };
}

/** `"2024-01-31T12:00:00.123Z"` orders as text by milliseconds; the rest of the literal decides when those are equal. */
function timestampSign(
  literal: bigint,
  tail: string,
  bound: 'min' | 'max',
  slow: TokenSign,
): TokenSign | undefined {
  const text = `"${timestampText(literal, 'T', 'millis')}${tail}`;
  const length = 24 + tail.length;
  if (text.length !== length) return undefined;
  const below = Number(((literal % 1000n) + 1000n) % 1000n);
  const whenEqual = bound === 'min' ? (below === 0 ? 0 : -1) : below === 999 ? 0 : 1;
  const quote = length - 1;
  const zone = tail.length === 2 ? tail.charCodeAt(0) : QUOTE;
  return (token) => {
    const plain =
      token.length === length &&
      token.charCodeAt(20) === DOT &&
      token.charCodeAt(11) === LETTER_T &&
      token.charCodeAt(24) === zone &&
      token.charCodeAt(quote) === QUOTE;
    if (!plain || (bound === 'min' && token.charCodeAt(1) < DIGIT_TWO && token < EPOCH)) return slow(token);
    return token < text ? -1 : token > text ? 1 : whenEqual;
  };
}

function textSign(literal: string, bound: 'min' | 'max', slow: TokenSign): TokenSign {
  return (token) => {
    if (token.charCodeAt(0) !== QUOTE || token.includes('\\')) return slow(token);
    const text = token.slice(1, -1);
    if (bound === 'max' && literal.startsWith(text) && maybeCut(text)) return 1;
    return Math.sign(compareUtf8(text, literal));
  };
}
