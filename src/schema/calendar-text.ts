/** Dates and timestamps as text, in the proleptic Gregorian calendar. Days and microseconds count from 1970-01-01T00:00:00. */

const MICROS_PER_DAY = 86_400_000_000n;

/** Days since 1970-01-01 of a proleptic Gregorian date; month and day are not checked. */
export function daysFromCivil(year: number, month: number, day: number): number {
  // Counts years from March, so that the leap day is the last of its year.
  const y = month <= 2 ? year - 1 : year;
  const era = Math.floor(y / 400);
  const yearOfEra = y - era * 400;
  const dayOfYear = Math.floor((153 * (month + (month > 2 ? -3 : 9)) + 2) / 5) + day - 1;
  const dayOfEra = yearOfEra * 365 + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100) + dayOfYear;
  return era * 146_097 + dayOfEra - 719_468;
}

/** The inverse of `daysFromCivil`. */
export function civilFromDays(days: number): { year: number; month: number; day: number } {
  const z = days + 719_468;
  const era = Math.floor(z / 146_097);
  const dayOfEra = z - era * 146_097;
  const yearOfEra = Math.floor(
    (dayOfEra -
      Math.floor(dayOfEra / 1460) +
      Math.floor(dayOfEra / 36_524) -
      Math.floor(dayOfEra / 146_096)) /
      365,
  );
  const dayOfYear = dayOfEra - (365 * yearOfEra + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100));
  const shifted = Math.floor((5 * dayOfYear + 2) / 153);
  const month = shifted < 10 ? shifted + 3 : shifted - 9;
  return {
    year: yearOfEra + era * 400 + (month <= 2 ? 1 : 0),
    month,
    day: dayOfYear - Math.floor((153 * shifted + 2) / 5) + 1,
  };
}

/** How many days the month has. */
export function daysInMonth(year: number, month: number): number {
  if (month === 2) return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0) ? 29 : 28;
  return month === 4 || month === 6 || month === 9 || month === 11 ? 30 : 31;
}

/** Four digits, more and a sign outside 0000 to 9999, as Spark writes years: `0044`, `+10000`, `-0044`. */
function yearText(year: number): string {
  if (year < 0) return `-${String(-year).padStart(4, '0')}`;
  return year > 9999 ? `+${year}` : String(year).padStart(4, '0');
}

const TWO = Array.from({ length: 100 }, (_, n) => String(n).padStart(2, '0'));
const two = (n: number): string => TWO[n]!;
const three = (n: number): string => (n < 10 ? `00${n}` : n < 100 ? `0${n}` : String(n));

/** The day written last: timestamps of one column mostly share it with their neighbours. */
let lastDay = 0;
let lastDayText = '1970-01-01';

/** `YYYY-MM-DD`. */
export function dateText(days: number): string {
  if (days !== lastDay) {
    const { year, month, day } = civilFromDays(days);
    lastDayText = `${yearText(year)}-${two(month)}-${two(day)}`;
    lastDay = days;
  }
  return lastDayText;
}

/**
 * `YYYY-MM-DD?HH:MM:SS` with the separator given and a fraction: `micros` always six digits, `millis` always three (rounded towards the past),
 * `needed` six digits when there are any.
 */
export function timestampText(
  micros: bigint,
  separator: 'T' | ' ',
  fraction: 'micros' | 'millis' | 'needed',
): string {
  const { days, time } = splitDay(micros);
  const seconds = Math.floor(time / 1_000_000);
  const sub = time % 1_000_000;
  const clock = `${two(Math.floor(seconds / 3600))}:${two(Math.floor(seconds / 60) % 60)}:${two(seconds % 60)}`;
  const text = `${dateText(days)}${separator}${clock}`;
  if (fraction === 'millis') return `${text}.${three(Math.floor(sub / 1000))}`;
  return fraction === 'needed' && sub === 0
    ? text
    : `${text}.${three(Math.floor(sub / 1000))}${three(sub % 1000)}`;
}

/** Whole days, and the microseconds in the day. */
function splitDay(micros: bigint): { days: number; time: number } {
  const number = Number(micros);
  if (Number.isSafeInteger(number)) {
    const days = Math.floor(number / 86_400_000_000);
    return { days, time: number - days * 86_400_000_000 };
  }
  const rest = ((micros % MICROS_PER_DAY) + MICROS_PER_DAY) % MICROS_PER_DAY;
  return { days: Number((micros - rest) / MICROS_PER_DAY), time: Number(rest) };
}

/**
 * Microseconds of a text of exactly the shape `YYYY-MM-DDTHH:MM:SS[.f]Z`, at most six fraction digits: what most texts look like. Undefined asks for
 * `parseTimestampText`.
 */
export function quickInstant(text: string): bigint | undefined {
  const { length } = text;
  if (length < 20 || length > 27 || text.charCodeAt(length - 1) !== 90 || length === 21) return undefined;
  if (text.charCodeAt(4) !== 45 || text.charCodeAt(7) !== 45 || text.charCodeAt(10) !== 84) return undefined;
  if (text.charCodeAt(13) !== 58 || text.charCodeAt(16) !== 58 || (length > 20 && text.charCodeAt(19) !== 46))
    return undefined;
  const year = digits(text, 0, 4);
  const month = digits(text, 5, 7);
  const day = digits(text, 8, 10);
  const hour = digits(text, 11, 13);
  const minute = digits(text, 14, 16);
  const second = digits(text, 17, 19);
  const fraction = length > 20 ? digits(text, 20, length - 1) * FRACTION_SCALE[length - 21]! : 0;
  const ranged =
    month >= 1 && month <= 12 && day >= 1 && day <= 31 && hour <= 23 && minute <= 59 && second <= 59;
  if (!ranged || (day > 28 && day > daysInMonth(year, month)) || Number.isNaN(year + fraction))
    return undefined;
  const micros =
    (daysFromCivil(year, month, day) * 86_400 + (hour * 60 + minute) * 60 + second) * 1_000_000 + fraction;
  return Number.isSafeInteger(micros) ? BigInt(micros) : undefined;
}

const FRACTION_SCALE = [0, 100_000, 10_000, 1000, 100, 10, 1];

/** Days of a text of exactly the shape `YYYY-MM-DD` whose day is at most 28; undefined asks for `parseDateText`. */
export function quickDate(text: string): number | undefined {
  if (text.length !== 10 || text.charCodeAt(4) !== 45 || text.charCodeAt(7) !== 45) return undefined;
  const year = digits(text, 0, 4);
  const month = digits(text, 5, 7);
  const day = digits(text, 8, 10);
  return year >= 0 && month >= 1 && month <= 12 && day >= 1 && day <= 28
    ? daysFromCivil(year, month, day)
    : undefined;
}

function digits(text: string, from: number, to: number): number {
  let value = 0;
  for (let i = from; i < to; i++) {
    const digit = text.charCodeAt(i) - 48;
    if (digit < 0 || digit > 9) return Number.NaN;
    value = value * 10 + digit;
  }
  return value;
}

const DATE = /^([+-]?\d{4,6})-(\d{1,2})-(\d{1,2})$/;

/** Days of `YYYY-MM-DD` (one-digit months and days as well), or undefined when the text is no date. */
export function parseDateText(text: string): number | undefined {
  const match = DATE.exec(text);
  if (match === null) return undefined;
  return checkedDays(Number(match[1]), Number(match[2]), Number(match[3]));
}

function checkedDays(year: number, month: number, day: number): number | undefined {
  if (month < 1 || month > 12 || day < 1 || day > daysInMonth(year, month)) return undefined;
  return daysFromCivil(year, month, day);
}

/** A timestamp text taken apart. */
export interface ParsedTimestamp {
  /** Of the wall clock as written, any zone left aside. Digits beyond microseconds are cut off, towards the past. */
  readonly wallMicros: bigint;
  /** Seconds east of UTC; undefined when the text names no zone. */
  readonly offsetSeconds: number | undefined;
  /** How many fraction digits the text has. */
  readonly fractionDigits: number;
  /** True when digits other than zero stand behind the microseconds. */
  readonly inexact: boolean;
  /** True when the text has a time of day. */
  readonly hasTime: boolean;
}

const TIMESTAMP =
  /^([+-]?\d{4,6})-(\d{1,2})-(\d{1,2})(?:[T ](\d{1,2}):(\d{2})(?::(\d{2})(?:[.,](\d{1,12}))?)?)?\s?(Z|z|UTC|[+-]\d{2}(?::?\d{2}(?::?\d{2})?)?)?(?:\[[^\]]*\])*$/;

/** Takes apart `YYYY-MM-DD[T ]HH:MM[:SS[.f]]` with or without `Z` or an offset, or a date alone; undefined when the text is none of them. */
export function parseTimestampText(text: string): ParsedTimestamp | undefined {
  const match = TIMESTAMP.exec(text);
  if (match === null) return undefined;
  const days = checkedDays(Number(match[1]), Number(match[2]), Number(match[3]));
  if (days === undefined) return undefined;
  const hours = Number(match[4] ?? 0);
  const minutes = Number(match[5] ?? 0);
  const seconds = Number(match[6] ?? 0);
  if (hours > 23 || minutes > 59 || seconds > 59) return undefined;
  const fraction = match[7] ?? '';
  const offsetSeconds = match[8] === undefined ? undefined : offset(match[8]);
  if (match[8] !== undefined && (offsetSeconds === undefined || match[4] === undefined)) return undefined;
  const sub = Number(fraction.slice(0, 6).padEnd(6, '0'));
  return {
    wallMicros:
      BigInt(days) * MICROS_PER_DAY + BigInt((hours * 3600 + minutes * 60 + seconds) * 1_000_000 + sub),
    offsetSeconds,
    fractionDigits: fraction.length,
    inexact: /[1-9]/.test(fraction.slice(6)),
    hasTime: match[4] !== undefined,
  };
}

/** The microseconds since the epoch of a parsed text that has a zone, else of the wall clock taken as UTC. */
export function instantMicros(parsed: ParsedTimestamp): bigint {
  return parsed.wallMicros - BigInt(parsed.offsetSeconds ?? 0) * 1_000_000n;
}

function offset(text: string): number | undefined {
  if (/^(z|utc)$/i.test(text)) return 0;
  const digits = text.slice(1).replaceAll(':', '').padEnd(6, '0');
  const hours = Number(digits.slice(0, 2));
  const minutes = Number(digits.slice(2, 4));
  const seconds = Number(digits.slice(4, 6));
  if (hours > 18 || minutes > 59 || seconds > 59) return undefined;
  return (text.startsWith('-') ? -1 : 1) * (hours * 3600 + minutes * 60 + seconds);
}
