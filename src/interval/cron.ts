import { Temporal } from 'temporal-polyfill';
import { TableError } from '../errors.js';
import { zoneOf } from './zone.js';

/** A cron expression of five fields: instants at which something is due. It never cuts intervals. */
export interface Cadence {
  readonly text: string;
  readonly timeZone: string;
  /** The last due instant at or before `ms`, in milliseconds; undefined where there is none within five years. */
  lastDue(ms: number): number | undefined;
  /** The due instants after `fromMs`, up to and including `toMs`. A local time that is skipped is due when the clocks have moved on; one that repeats, once. */
  dueBetween(fromMs: number, toMs: number): Generator<number, void, undefined>;
}

interface Field {
  readonly name: string;
  readonly from: number;
  readonly to: number;
  readonly words?: readonly string[];
}

const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];
const DAYS = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'];
const FIELDS: readonly Field[] = [
  { name: 'minute', from: 0, to: 59 },
  { name: 'hour', from: 0, to: 23 },
  { name: 'day of month', from: 1, to: 31 },
  { name: 'month', from: 1, to: 12, words: MONTHS },
  { name: 'day of week', from: 0, to: 7, words: DAYS },
];
const NAMED: Readonly<Record<string, string>> = {
  '@hourly': '0 * * * *',
  '@daily': '0 0 * * *',
  '@midnight': '0 0 * * *',
  '@weekly': '0 0 * * 0',
  '@monthly': '0 0 1 * *',
  '@yearly': '0 0 1 1 *',
  '@annually': '0 0 1 1 *',
};
const DAY_MS = 86_400_000;
const SEARCH_DAYS = 5 * 366;

/**
 * Reads a cron expression: numbers, names, `*`, ranges, lists and steps. Where both days are limited, either will do, as cron has it.
 * Throws `INVALID_INPUT` with the field that is wrong.
 */
export function parseCron(text: string, timeZone = 'UTC'): Cadence {
  const parts = (NAMED[text.trim().toLowerCase()] ?? text).trim().toLowerCase().split(/\s+/);
  if (parts.length !== FIELDS.length)
    throw invalid(text, 'it has five fields: minute hour day month weekday');
  const [minutes, hours, days, months, weekdays] = parts.map((part, i) => parseField(text, part, FIELDS[i]!));
  if (weekdays!.has(7)) weekdays!.add(0);
  const either = !parts[2]!.startsWith('*') && !parts[4]!.startsWith('*');
  const zone = zoneOf(timeZone);
  const times = [...hours!]
    .sort(ascending)
    .flatMap((hour) => [...minutes!].sort(ascending).map((minute) => hour * 60 + minute));
  const isDue = (day: number): boolean => {
    const date = EPOCH.add({ days: day });
    if (!months!.has(date.month)) return false;
    const onDay = days!.has(date.day);
    const onWeekday = weekdays!.has(date.dayOfWeek % 7);
    return either ? onDay || onWeekday : onDay && onWeekday;
  };
  /** In order, each once: two times that are skipped together are due together. */
  const dueOn = (day: number): number[] =>
    isDue(day) ? [...new Set(times.map((minute) => zone.at(day, minute)))].sort(ascending) : [];
  function* dueBetween(fromMs: number, toMs: number): Generator<number, void, undefined> {
    let last = fromMs;
    for (let day = zone.dayOf(fromMs) - 1; zone.at(day, 0) <= toMs; day++) {
      for (const due of dueOn(day)) {
        if (due <= last) continue;
        if (due > toMs) return;
        last = due;
        yield due;
      }
    }
  }
  const lastDue = (ms: number): number | undefined => {
    const today = zone.dayOf(ms) + 1;
    for (let day = today; day > today - SEARCH_DAYS; day--) {
      const due = dueOn(day).findLast((each) => each <= ms);
      if (due !== undefined) return due;
    }
    return undefined;
  };
  if (lastDue(LEAP_MS) === undefined) throw invalid(text, 'it is never due');
  return { text, timeZone: zone.id, lastDue, dueBetween };
}

/** An instant with a 29 February within reach. */
const LEAP_MS = 20_000 * DAY_MS;
const EPOCH = new Temporal.PlainDate(1970, 1, 1);

function parseField(text: string, part: string, field: Field): Set<number> {
  const values = new Set<number>();
  for (const item of part.split(',')) {
    const match = /^(\*|\w+)(?:-(\w+))?(?:\/(\d+))?$/.exec(item);
    if (!match) throw invalid(text, `${JSON.stringify(item)} is no ${field.name}`);
    const [, first, last, every] = match as unknown as [
      string,
      string,
      string | undefined,
      string | undefined,
    ];
    const from = first === '*' ? field.from : numberOf(text, first, field);
    const open = first === '*' || every !== undefined;
    const to = last === undefined ? (open ? field.to : from) : numberOf(text, last, field);
    const step = every === undefined ? 1 : Number(every);
    if (step < 1 || to < from) throw invalid(text, `${JSON.stringify(item)} is no ${field.name}`);
    for (let value = from; value <= to; value += step) values.add(value);
  }
  return values;
}

function numberOf(text: string, word: string, field: Field): number {
  const named = field.words?.indexOf(word.slice(0, 3)) ?? -1;
  const value = named >= 0 && !/^\d/.test(word) ? named + (field.from === 1 ? 1 : 0) : Number(word);
  if (Number.isInteger(value) && value >= field.from && value <= field.to) return value;
  throw invalid(text, `the ${field.name} is from ${field.from} to ${field.to}, not ${word}`);
}

function ascending(a: number, b: number): number {
  return a - b;
}

function invalid(text: string, hint: string): TableError {
  return new TableError('INVALID_INPUT', `${JSON.stringify(text)} is no cron expression: ${hint}.`, {
    cron: text,
  });
}
