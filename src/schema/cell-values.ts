import {
  daysFromCivil,
  instantMicros,
  parseDateText,
  parseTimestampText,
  quickDate,
  quickInstant,
} from './calendar-text.js';
import { Refusal } from './cell-fault.js';
import { fitsPrecision, parseDecimalText, powerOfTen } from './number-text.js';
import type { DecimalType } from './types.js';

/** Conversions of one JavaScript value into what a column holds; each refuses what would lose anything by throwing a `Refusal`. */

/** 0001-01-01 and 9999-12-31: the years that Spark SQL and the protocol's texts can hold. */
const FIRST_DAY = -719_162;
const LAST_DAY = 2_932_896;
const FIRST_MICROS = BigInt(FIRST_DAY) * 86_400_000_000n;
const LAST_MICROS = BigInt(LAST_DAY + 1) * 86_400_000_000n - 1n;
const YEARS = 'Years are 0001 to 9999.';

/** Days since 1970-01-01 of a PlainDate, `YYYY-MM-DD` text (a time and zone behind it do not move the day), or a Date at midnight UTC. */
export function dateValue(value: unknown): number {
  const days =
    typeof value === 'string'
      ? dateFromText(value)
      : value instanceof Date
        ? dateFromJs(value)
        : dateFromTemporal(value);
  if (days < FIRST_DAY || days > LAST_DAY) throw new Refusal('date', YEARS);
  return days;
}

function dateFromText(text: string): number {
  const days = quickDate(text);
  if (days !== undefined) return days;
  const found =
    parseDateText(text) ??
    (parseTimestampText(text) === undefined ? undefined : parseDateText(text.split(/[T ]/)[0]!));
  if (found === undefined) throw new Refusal('date', 'Dates are given as YYYY-MM-DD.');
  return found;
}

function dateFromJs(date: Date): number {
  const days = date.getTime() / 86_400_000;
  if (!Number.isInteger(days)) {
    throw new Refusal(
      'date',
      'A Date stands for a day only at midnight UTC; give a PlainDate or YYYY-MM-DD.',
    );
  }
  return days;
}

function dateFromTemporal(value: unknown): number {
  if (temporalTag(value) !== 'Temporal.PlainDate')
    throw new Refusal('date', 'Give a PlainDate, YYYY-MM-DD, or a Date at midnight UTC.');
  const date = iso(value as PlainDateLike);
  return daysFromCivil(date.year, date.month, date.day);
}

/** Microseconds since the epoch of an Instant, ZonedDateTime, Date, ISO text with a zone, or bigint microseconds. */
export function instantValue(value: unknown): bigint {
  const micros = instantOf(value);
  if (micros < FIRST_MICROS || micros > LAST_MICROS) throw new Refusal('timestamp', YEARS);
  return micros;
}

function instantOf(value: unknown): bigint {
  if (typeof value === 'string') {
    const quick = quickInstant(value);
    if (quick !== undefined) return quick;
    const parsed = parseTimestampText(value);
    if (parsed === undefined)
      throw new Refusal('timestamp', 'Timestamps are ISO 8601 texts such as 2024-01-15T16:00:00Z.');
    if (parsed.inexact)
      throw new Refusal('timestamp', 'Timestamps hold microseconds; further digits would be lost.');
    if (parsed.offsetSeconds === undefined) {
      throw new Refusal(
        'timestamp',
        'A text without a zone names no instant; end it in Z or an offset, or use a timestamp_ntz column.',
      );
    }
    return instantMicros(parsed);
  }
  if (typeof value === 'bigint') return value;
  if (value instanceof Date) {
    const ms = value.getTime();
    if (Number.isNaN(ms)) throw new Refusal('timestamp');
    return BigInt(ms) * 1000n;
  }
  const nanos =
    typeof value === 'object' && value !== null
      ? (value as { epochNanoseconds?: unknown }).epochNanoseconds
      : undefined;
  if (typeof nanos !== 'bigint') {
    throw new Refusal(
      'timestamp',
      'Give an Instant, a ZonedDateTime, a Date, ISO text with a zone, or microseconds as a bigint.',
    );
  }
  return wholeMicros(nanos, 'timestamp');
}

function wholeMicros(nanos: bigint, expected: string): bigint {
  if (nanos % 1000n !== 0n)
    throw new Refusal(expected, 'Timestamps hold microseconds; the nanoseconds would be lost.');
  return nanos / 1000n;
}

/** Microseconds of the wall clock of a PlainDateTime, ISO text without a zone, or bigint microseconds. */
export function wallClockValue(value: unknown): bigint {
  const micros = wallClockOf(value);
  if (micros < FIRST_MICROS || micros > LAST_MICROS) throw new Refusal('timestamp_ntz', YEARS);
  return micros;
}

function wallClockOf(value: unknown): bigint {
  if (typeof value === 'bigint') return value;
  if (typeof value === 'string') {
    const parsed = parseTimestampText(value);
    if (parsed === undefined)
      throw new Refusal(
        'timestamp_ntz',
        'Zone-less timestamps are ISO 8601 texts such as 2024-01-15T16:00:00.',
      );
    if (parsed.offsetSeconds !== undefined)
      throw new Refusal('timestamp_ntz', 'The text has a zone, which this column cannot hold.');
    if (parsed.inexact)
      throw new Refusal('timestamp_ntz', 'Timestamps hold microseconds; further digits would be lost.');
    return parsed.wallMicros;
  }
  if (temporalTag(value) !== 'Temporal.PlainDateTime') {
    throw new Refusal(
      'timestamp_ntz',
      'Give a PlainDateTime, ISO text without a zone, or microseconds as a bigint.',
    );
  }
  const t = iso(value as PlainDateTimeLike);
  if (t.nanosecond !== 0)
    throw new Refusal('timestamp_ntz', 'Timestamps hold microseconds; the nanoseconds would be lost.');
  const seconds = (t.hour * 60 + t.minute) * 60 + t.second;
  const inDay = seconds * 1_000_000 + t.millisecond * 1000 + t.microsecond;
  return BigInt(daysFromCivil(t.year, t.month, t.day)) * 86_400_000_000n + BigInt(inDay);
}

interface PlainDateLike {
  readonly calendarId: string;
  readonly year: number;
  readonly month: number;
  readonly day: number;
  withCalendar(id: string): this;
}
interface PlainDateTimeLike extends PlainDateLike {
  readonly hour: number;
  readonly minute: number;
  readonly second: number;
  readonly millisecond: number;
  readonly microsecond: number;
  readonly nanosecond: number;
}

function iso<T extends PlainDateLike>(value: T): T {
  return value.calendarId === 'iso8601' ? value : value.withCalendar('iso8601');
}

function temporalTag(value: unknown): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, Symbol.toStringTag) : undefined;
}

/** The unscaled value of decimal text, a bigint, or a number of at most 15 significant digits (more would not be what was meant). */
export function decimalValue(value: unknown, type: DecimalType): bigint {
  const expected = `decimal(${type.precision},${type.scale})`;
  if (typeof value === 'bigint') {
    const unscaled = value * powerOfTen(type.scale);
    if (!fitsPrecision(unscaled, type.precision))
      throw new Refusal(expected, `It has more than ${type.precision - type.scale} digits before the point.`);
    return unscaled;
  }
  const text = typeof value === 'number' ? numberText(value, expected) : value;
  if (typeof text !== 'string') throw new Refusal(expected, 'Give the decimal as text.');
  const found = parseDecimalText(text, type.precision, type.scale);
  switch (found) {
    case 'syntax':
      throw new Refusal(expected, 'Decimals are texts such as -12345.67.');
    case 'scale':
      throw new Refusal(
        expected,
        `It has more than ${type.scale} digits behind the point, which would be lost.`,
      );
    case 'range':
      throw new Refusal(expected, `It has more than ${type.precision - type.scale} digits before the point.`);
    default:
      return found;
  }
}

function numberText(value: number, expected: string): string {
  if (Number.isSafeInteger(value)) return String(value);
  const text = String(value);
  const significant = text.replace(/e.*$/, '').replace(/[-.]/g, '').replace(/^0+/, '');
  if (!Number.isFinite(value) || significant.length > 15)
    throw new Refusal(
      expected,
      'Give the decimal as text: this number has digits that a double does not hold exactly.',
    );
  return text;
}
