import { Temporal } from 'temporal-polyfill';
import { TableError } from '../errors.js';
import { dateText, timestampText } from './calendar-text.js';
import { decimalText } from './number-text.js';
import type { DataType, Datum } from './types.js';

/** What cells become in JavaScript. */
export interface RowOptions {
  /** 64-bit integers: `bigint` (the default), `number` (an error beyond 2^53) or `string`. */
  readonly int64?: 'bigint' | 'number' | 'string';
  /**
   * Dates and timestamps: `temporal` (the default: PlainDate, Instant, PlainDateTime), `micros` (bigint microseconds, dates as a number of days),
   * `date` (a JavaScript Date, zone-less timestamps and dates taken as UTC; an error when microseconds would be lost), or `string` (ISO 8601).
   */
  readonly timestamp?: 'temporal' | 'micros' | 'date' | 'string';
}

/** A value as rows hold it: the same as `rowsFromBatch` gives for a cell. Errors: `INVALID_INPUT` when the form asked for cannot hold it. */
export function datumToJs(type: DataType, datum: Datum, options: RowOptions = {}): unknown {
  if (datum === null) return null;
  switch (type.type) {
    case 'long':
      return longToJs(datum as bigint, options.int64);
    case 'decimal':
      return decimalText(datum as bigint, type.scale);
    case 'date':
      return dateToJs(datum as number, options.timestamp);
    case 'timestamp':
    case 'timestamp_ntz':
      return timestampToJs(datum as bigint, type.type === 'timestamp', options.timestamp);
    default:
      return datum;
  }
}

export function longToJs(value: bigint, form: RowOptions['int64']): unknown {
  if (form === undefined || form === 'bigint') return value;
  if (form === 'string') return value.toString();
  const number = Number(value);
  if (!Number.isSafeInteger(number)) {
    throw new TableError(
      'INVALID_INPUT',
      `${value} is beyond 2^53 and cannot be a number; use int64: 'bigint' or 'string'.`,
      { value },
    );
  }
  return number;
}

export function dateToJs(days: number, form: RowOptions['timestamp']): unknown {
  switch (form) {
    case undefined:
    case 'temporal':
      return plainDate(days);
    case 'micros':
      return days;
    case 'string':
      return dateText(days);
    case 'date':
      return jsDate(days * 86_400_000, dateText(days));
  }
}

export function timestampToJs(micros: bigint, zoned: boolean, form: RowOptions['timestamp']): unknown {
  switch (form) {
    case undefined:
    case 'temporal':
      return zoned ? instant(micros) : plainDateTime(micros);
    case 'micros':
      return micros;
    case 'string': {
      const text = timestampText(micros, 'T', 'micros');
      return zoned ? `${text}Z` : text;
    }
    case 'date': {
      if (micros % 1000n !== 0n) {
        const value = timestampText(micros, 'T', 'micros');
        throw new TableError(
          'INVALID_INPUT',
          `A Date cannot hold the microseconds of ${value}; use timestamp: 'temporal', 'micros' or 'string'.`,
          { value },
        );
      }
      return jsDate(Number(micros / 1000n), timestampText(micros, 'T', 'micros'));
    }
  }
}

function jsDate(milliseconds: number, text: string): Date {
  const date = new Date(milliseconds);
  if (Number.isNaN(date.getTime())) throw outside(text, "timestamp: 'micros' or 'string'");
  return date;
}

function plainDate(days: number): Temporal.PlainDate {
  try {
    return EPOCH_DATE.add({ days });
  } catch {
    throw outside(dateText(days), "timestamp: 'micros' or 'string'");
  }
}

function instant(micros: bigint): Temporal.Instant {
  try {
    return new Temporal.Instant(micros * 1000n);
  } catch {
    throw outside(timestampText(micros, 'T', 'micros'), "timestamp: 'micros' or 'string'");
  }
}

function plainDateTime(micros: bigint): Temporal.PlainDateTime {
  return instant(micros).toZonedDateTimeISO('UTC').toPlainDateTime();
}

function outside(value: string, hint: string): TableError {
  return new TableError(
    'INVALID_INPUT',
    `${value} is outside the range of the JavaScript type asked for; use ${hint}.`,
    { value },
  );
}

const EPOCH_DATE = new Temporal.PlainDate(1970, 1, 1);
