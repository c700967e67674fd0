import { civilFromDays, daysFromCivil, daysInMonth } from '../schema/calendar-text.js';
import type { DataType, Datum } from '../schema/types.js';
import type { SqlFunction } from './functions.js';
import { formatByPattern, patternProblem } from './functions-date-format.js';
import { dayOfMicros, floorDiv, microsOfDate, microsOfDay } from './functions-time.js';

const INTEGER: DataType = { type: 'integer' };
const LONG: DataType = { type: 'long' };
const STRING: DataType = { type: 'string' };
const DATE: DataType = { type: 'date' };
const TIMESTAMP: DataType = { type: 'timestamp' };

const dayOf = (value: Datum): number => (typeof value === 'bigint' ? dayOfMicros(value) : (value as number));

/** A part of a date, or of the UTC day of a timestamp. */
function datePart(of: (days: number) => number): SqlFunction {
  return {
    parameters: ['instant'],
    required: 1,
    result: () => INTEGER,
    evaluate: ([value]) => of(dayOf(value!)),
  };
}

function clockPart(of: (seconds: number) => number): SqlFunction {
  return {
    parameters: [TIMESTAMP],
    required: 1,
    result: () => INTEGER,
    evaluate: ([value]) => of(Math.floor(microsOfDay(value as bigint) / 1_000_000)),
  };
}

/** 0 is Sunday. */
const weekday = (days: number): number => (((days + 4) % 7) + 7) % 7;
const monday = (days: number): number => days - ((weekday(days) + 6) % 7);

/** The ISO week of the year: that of this week's Thursday. */
function isoWeek(days: number): number {
  const thursday = monday(days) + 3;
  return Math.floor((thursday - daysFromCivil(civilFromDays(thursday).year, 1, 1)) / 7) + 1;
}

function addMonths(days: number, months: number): number {
  const { year, month, day } = civilFromDays(days);
  const total = year * 12 + month - 1 + months;
  const newYear = Math.floor(total / 12);
  const newMonth = total - newYear * 12 + 1;
  return daysFromCivil(newYear, newMonth, Math.min(day, daysInMonth(newYear, newMonth)));
}

const UNITS: ReadonlyMap<string, string> = new Map(
  Object.entries({
    year: 'year yyyy yy',
    quarter: 'quarter',
    month: 'month mon mm',
    week: 'week',
    day: 'day dd',
    hour: 'hour',
    minute: 'minute',
    second: 'second',
    millisecond: 'millisecond',
    microsecond: 'microsecond',
  }).flatMap(([unit, names]) => names.split(' ').map((name): [string, string] => [name, unit])),
);
const CLOCK_UNITS: ReadonlyMap<string, number> = new Map([
  ['hour', 3_600_000_000],
  ['minute', 60_000_000],
  ['second', 1_000_000],
  ['millisecond', 1000],
  ['microsecond', 1],
]);

function truncateDay(days: number, unit: string | undefined): number | null {
  const { year, month } = civilFromDays(days);
  switch (unit) {
    case 'year':
      return daysFromCivil(year, 1, 1);
    case 'quarter':
      return daysFromCivil(year, month - ((month - 1) % 3), 1);
    case 'month':
      return daysFromCivil(year, month, 1);
    case 'week':
      return monday(days);
    case 'day':
      return days;
    default:
      return null;
  }
}

function truncateMicros(micros: bigint, name: string): bigint | null {
  const unit = UNITS.get(name.toLowerCase());
  const size = CLOCK_UNITS.get(unit ?? '');
  if (size !== undefined) return micros - BigInt(microsOfDay(micros) % size);
  const day = truncateDay(dayOfMicros(micros), unit);
  return day === null ? null : microsOfDate(day);
}

function unitProblem(constant: Datum | undefined, withClock: boolean): string | undefined {
  if (typeof constant !== 'string') return undefined;
  const unit = UNITS.get(constant.toLowerCase());
  if (unit !== undefined && (withClock || (!CLOCK_UNITS.has(unit) && unit !== 'day'))) return undefined;
  return `${JSON.stringify(constant)} is no unit to truncate to`;
}

const dateTrunc: SqlFunction = {
  parameters: [STRING, TIMESTAMP],
  required: 2,
  result: () => TIMESTAMP,
  evaluate: ([unit, micros]) => truncateMicros(micros as bigint, unit as string),
  monotone: 1,
  check: ([unit]) => unitProblem(unit, true),
};

const trunc: SqlFunction = {
  parameters: [DATE, STRING],
  required: 2,
  result: () => DATE,
  evaluate: ([days, unit]) => truncateDay(days as number, UNITS.get((unit as string).toLowerCase())),
  monotone: 0,
  check: ([, unit]) => unitProblem(unit, false),
};

const dateFormat: SqlFunction = {
  parameters: [TIMESTAMP, STRING],
  required: 2,
  result: () => STRING,
  evaluate: ([micros, pattern]) => formatByPattern(micros as bigint, pattern as string),
  check: ([, pattern]) => (typeof pattern === 'string' ? patternProblem(pattern) : undefined),
};

function shiftDays(sign: number): SqlFunction {
  return {
    parameters: [DATE, INTEGER],
    required: 2,
    result: () => DATE,
    evaluate: ([days, count]) => (days as number) + sign * (count as number),
    monotone: 0,
  };
}

function toUnix(unit: bigint): SqlFunction {
  const evaluate = ([micros]: readonly Datum[]): Datum => floorDiv(micros as bigint, unit);
  return { parameters: [TIMESTAMP], required: 1, result: () => LONG, evaluate, monotone: 0 };
}

function fromUnix(unit: bigint): SqlFunction {
  return {
    parameters: [LONG],
    required: 1,
    result: () => TIMESTAMP,
    evaluate: ([value]) => {
      const micros = (value as bigint) * unit;
      return BigInt.asIntN(64, micros) === micros ? micros : null;
    },
  };
}

const day = datePart((days) => civilFromDays(days).day);
const dayDifference: SqlFunction = {
  parameters: [DATE, DATE],
  required: 2,
  result: () => INTEGER,
  evaluate: ([end, start]) => (end as number) - (start as number),
};
const monthShift: SqlFunction = {
  parameters: [DATE, INTEGER],
  required: 2,
  result: () => DATE,
  evaluate: ([days, months]) => addMonths(days as number, months as number),
  monotone: 0,
};
const lastDay: SqlFunction = {
  parameters: [DATE],
  required: 1,
  result: () => DATE,
  evaluate: ([days]) => {
    const { year, month } = civilFromDays(days as number);
    return daysFromCivil(year, month, daysInMonth(year, month));
  },
  monotone: 0,
};
const makeDate: SqlFunction = {
  parameters: [INTEGER, INTEGER, INTEGER],
  required: 3,
  result: () => DATE,
  evaluate: ([year, month, date]) => {
    const [y, m, d] = [year as number, month as number, date as number];
    return m < 1 || m > 12 || d < 1 || d > daysInMonth(y, m) ? null : daysFromCivil(y, m, d);
  },
};

/** Timestamps are taken at UTC throughout, as a Spark session in UTC would. */
export const DATE_FUNCTIONS: readonly (readonly [string, SqlFunction])[] = [
  ['year', { ...datePart((days) => civilFromDays(days).year), monotone: 0 }],
  ['quarter', datePart((days) => Math.ceil(civilFromDays(days).month / 3))],
  ['month', datePart((days) => civilFromDays(days).month)],
  ['day', day],
  ['dayofmonth', day],
  ['dayofweek', datePart((days) => weekday(days) + 1)],
  ['weekday', datePart((days) => (weekday(days) + 6) % 7)],
  ['dayofyear', datePart((days) => days - daysFromCivil(civilFromDays(days).year, 1, 1) + 1)],
  ['weekofyear', datePart(isoWeek)],
  ['hour', clockPart((seconds) => Math.floor(seconds / 3600))],
  ['minute', clockPart((seconds) => Math.floor(seconds / 60) % 60)],
  ['second', clockPart((seconds) => seconds % 60)],
  ['date_trunc', dateTrunc],
  ['trunc', trunc],
  ['date_format', dateFormat],
  ['date_add', shiftDays(1)],
  ['dateadd', shiftDays(1)],
  ['date_sub', shiftDays(-1)],
  ['datediff', dayDifference],
  ['date_diff', dayDifference],
  ['add_months', monthShift],
  ['last_day', lastDay],
  ['make_date', makeDate],
  ['unix_seconds', toUnix(1_000_000n)],
  ['unix_millis', toUnix(1000n)],
  ['unix_micros', toUnix(1n)],
  ['unix_date', { ...datePart((days) => days), parameters: [DATE], monotone: 0 }],
  ['timestamp_seconds', fromUnix(1_000_000n)],
  ['timestamp_millis', fromUnix(1000n)],
  ['timestamp_micros', fromUnix(1n)],
];
