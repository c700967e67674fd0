import { Temporal } from 'temporal-polyfill';
import { TableError } from '../errors.js';
import { civilFromDays, daysFromCivil } from '../schema/calendar-text.js';

export const UNITS = ['minute', 'hour', 'day', 'week', 'month', 'year'] as const;
export type Unit = (typeof UNITS)[number];

/** How often: `every` of a pipeline, as data. */
export interface StepOptions {
  readonly unit: Unit;
  /** 1 by default. */
  readonly count?: number;
  /**
   * Where days, weeks, months and years are counted from, as a local date or date and time (`2024-01-15`, `1970-01-01T06:00`). By default 1970-01-01,
   * for weeks Monday 1970-01-05. Minutes and hours have none: they start anew with each local day.
   */
  readonly anchor?: string;
}

/** A step that was checked. `day` and `minute` are the anchor: a day counted from 1970-01-01 and a minute of that day. */
export interface Step {
  readonly unit: Unit;
  readonly count: number;
  readonly day: number;
  readonly minute: number;
}

const MINUTES_A_DAY = 1440;
const FIRST_MONDAY = 4;
const LONGEST_COUNT = 1000;

/** Reads `day`, `hourly`, `15 minutes` or the same as an object. Throws `INVALID_INPUT` for what is none, with a hint for cron expressions. */
export function parseStep(every: string | StepOptions): Step {
  const { unit, count = 1, anchor } = typeof every === 'string' ? fromText(every) : every;
  if (!UNITS.includes(unit)) throw invalid(every, `the unit is one of ${UNITS.join(', ')}`);
  if (!Number.isInteger(count) || count < 1 || count > LONGEST_COUNT)
    throw invalid(every, `the count is a whole number from 1 to ${LONGEST_COUNT}`);
  if (isSubDay(unit)) {
    if (anchor !== undefined)
      throw invalid(every, 'minutes and hours have no anchor: they start anew with each local day');
    if (MINUTES_A_DAY % minutesOf(unit, count) !== 0)
      throw invalid(every, 'a step of minutes or hours has to divide a day of 24 hours evenly');
    return { unit, count, day: 0, minute: 0 };
  }
  if (anchor === undefined) return { unit, count, day: unit === 'week' ? FIRST_MONDAY : 0, minute: 0 };
  return { unit, count, ...parseAnchor(every, anchor) };
}

/** True for units that are cut out of days. */
export function isSubDay(unit: Unit): boolean {
  return unit === 'minute' || unit === 'hour';
}

/** The minutes of a step of minutes or hours. */
export function minutesOf(unit: Unit, count: number): number {
  return unit === 'hour' ? count * 60 : count;
}

/** As people write it: `day`, `15 minutes`. */
export function stepText({ unit, count }: Step): string {
  return count === 1 ? unit : `${count} ${unit}s`;
}

/** The anchor as text, undefined where there is nothing to say. */
export function anchorText({ unit, day, minute }: Step): string | undefined {
  const usual = unit === 'week' ? FIRST_MONDAY : 0;
  if (isSubDay(unit) || (day === usual && minute === 0)) return undefined;
  const { year, month, day: dayOfMonth } = civilFromDays(day);
  const date = new Temporal.PlainDate(year, month, dayOfMonth);
  if (minute === 0) return date.toString();
  return date
    .toPlainDateTime(new Temporal.PlainTime(Math.floor(minute / 60), minute % 60))
    .toString({ smallestUnit: 'minute' });
}

const WORDS: Readonly<Record<string, Unit>> = {
  minutely: 'minute',
  hourly: 'hour',
  daily: 'day',
  weekly: 'week',
  monthly: 'month',
  yearly: 'year',
};

function fromText(text: string): StepOptions {
  const trimmed = text.trim().toLowerCase().replace(/^@/, '');
  const word = WORDS[trimmed];
  if (word) return { unit: word };
  const match = /^(?:(\d+)\s*)?(minute|hour|day|week|month|year)s?$/.exec(trimmed);
  if (match) return { unit: match[2] as Unit, count: match[1] === undefined ? 1 : Number(match[1]) };
  const hint = /^[\d*/,-]+(\s+[\w*/,?-]+){4}$/.test(trimmed)
    ? 'a cron expression names instants, and an interval between a start and the same end is empty. Say how long an interval is (day, 15 minutes) and give the cron expression as cadence'
    : 'write day, hour, week, month, year, or a count such as 15 minutes';
  throw invalid(text, hint);
}

function parseAnchor(every: unknown, text: string): { day: number; minute: number } {
  const match = /^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2})?$/.test(text);
  try {
    if (!match) throw new RangeError(text);
    const wall = Temporal.PlainDateTime.from(text, { overflow: 'reject' });
    return {
      day: daysFromCivil(wall.year, wall.month, wall.day),
      minute: wall.hour * 60 + wall.minute,
    };
  } catch (error) {
    throw invalid(every, `the anchor is a date such as 2024-01-15, or one with a time to the minute`, error);
  }
}

function invalid(every: unknown, hint: string, cause?: unknown): TableError {
  const text = typeof every === 'string' ? every : JSON.stringify(every);
  return new TableError('INVALID_INPUT', `${text} is no step of a calendar: ${hint}.`, { every }, cause);
}
