import { Temporal } from 'temporal-polyfill';
import { TableError } from '../errors.js';
import { daysFromCivil } from '../schema/calendar-text.js';
import type { Calendar } from './calendar.js';
import type { Interval } from './interval.js';
import { localText } from './label.js';
import { UNITS, type Unit } from './step.js';

/** An instant that was given as text, and how fine the text was. */
export interface Point {
  readonly ms: number;
  readonly precision: Unit;
  /** The text as a local wall clock where it has no offset; undefined where it has. */
  readonly wall?: Temporal.PlainDateTime;
}

/**
 * Reads one interval: a label, or `START/END`. Throws `INVALID_INPUT` for text that names none, several or a part of one, and for a range of zero length.
 */
export function parseInterval(calendar: Calendar, text: string): Interval {
  const found: Interval[] = [];
  for (const interval of intervalsOf(calendar, text)) {
    found.push(interval);
    if (found.length === 2) {
      throw new TableError(
        'INVALID_INPUT',
        `${text} covers several intervals, ${found[0]} and ${found[1]} among them. Name one, or backfill the range.`,
        { interval: text },
      );
    }
  }
  return found[0]!;
}

/** Reads a label, a coarser date that covers several intervals, or `START/END`: at least one interval, oldest first. Errors as `parseInterval`. */
export function* intervalsOf(calendar: Calendar, text: string): Generator<Interval, void, undefined> {
  const slash = text.indexOf('/');
  if (slash >= 0) {
    const start = parsePoint(calendar, text.slice(0, slash));
    const end = parsePoint(calendar, text.slice(slash + 1));
    if (start.ms === end.ms) throw zeroLength(text);
    yield* calendar.between(start.ms, end.ms);
    return;
  }
  const { ms, precision, wall } = parsePoint(calendar, text);
  if (wall && UNITS.indexOf(precision) > UNITS.indexOf(calendar.step.unit)) {
    const end = wall.add({ [`${precision}s`]: 1 });
    const endMs = parsePoint(calendar, end.toPlainDate().toString()).ms;
    if (ms === endMs) throw skippedDay(calendar, text);
    yield* calendar.between(ms, endMs);
    return;
  }
  const interval = calendar.at(calendar.bound(ms));
  if (wall && precision !== 'minute' && !interval.date.equals(wall.toPlainDate()))
    throw skippedDay(calendar, text);
  yield interval;
}

/**
 * Reads an instant: `2024`, `2024-01`, `2024-01-05` (where the calendar's day starts), `2024-01-05T06:00` in the calendar's zone, or with `Z` or an offset.
 * Throws `INVALID_INPUT` for other text, and for a local time that comes twice or never, with the instants to choose from.
 */
export function parsePoint(calendar: Calendar, text: string): Point {
  const trimmed = text.trim();
  const date = /^(\d{4})(?:-(\d{2})(?:-(\d{2}))?)?$/.exec(trimmed);
  try {
    if (date) {
      const wall = Temporal.PlainDateTime.from(
        `${date[1]}-${date[2] ?? '01'}-${date[3] ?? '01'}T${clock(calendar.step.minute)}`,
        { overflow: 'reject' },
      );
      const ms = calendar.zone.at(daysFromCivil(wall.year, wall.month, wall.day), calendar.step.minute);
      return { ms, wall, precision: date[3] ? 'day' : date[2] ? 'month' : 'year' };
    }
    if (/(Z|[+-]\d{2}:?\d{2})(\[.*\])?$/i.test(trimmed)) {
      return { ms: Temporal.Instant.from(trimmed).epochMilliseconds, precision: 'minute' };
    }
    const wall = Temporal.PlainDateTime.from(trimmed.replace(' ', 'T'), { overflow: 'reject' });
    return { ms: unambiguous(calendar, wall, trimmed), wall, precision: 'minute' };
  } catch (error) {
    if (error instanceof TableError) throw error;
    throw new TableError(
      'INVALID_INPUT',
      `${JSON.stringify(text)} is no date or instant. Write 2024-01-05, 2024-01-05T06:00 (in ${calendar.timeZone}), or with an offset: 2024-01-05T06:00Z.`,
      { text },
      error,
    );
  }
}

function unambiguous(calendar: Calendar, wall: Temporal.PlainDateTime, text: string): number {
  const { timeZone, zone } = calendar;
  const first = wall.toZonedDateTime(timeZone, { disambiguation: 'earlier' }).epochMilliseconds;
  const second = wall.toZonedDateTime(timeZone, { disambiguation: 'later' }).epochMilliseconds;
  if (first === second) return first;
  const [one, other] = [localText(zone, first), localText(zone, second)];
  const skipped = !Temporal.Instant.fromEpochMilliseconds(first)
    .toZonedDateTimeISO(timeZone)
    .toPlainDateTime()
    .equals(wall);
  throw new TableError(
    'INVALID_INPUT',
    skipped
      ? `The clocks of ${timeZone} never show ${text}. The nearest are ${one} and ${other}.`
      : `The clocks of ${timeZone} show ${text} twice. Write ${one} or ${other}.`,
    { text, timeZone, first: one, second: other },
  );
}

function skippedDay({ timeZone }: Calendar, text: string): TableError {
  return new TableError('INVALID_INPUT', `There is no ${text} in ${timeZone}: the zone skips that day.`, {
    interval: text,
    timeZone,
  });
}

function zeroLength(text: string): TableError {
  return new TableError(
    'INVALID_INPUT',
    `${text} is an interval of zero length: it holds no instant, so there is nothing to run. Schedulers give such intervals for a plain cron schedule (Airflow for @daily): let the DAG have a data-interval timetable, such as CronDataIntervalTimetable.`,
    { interval: text },
  );
}

function clock(minute: number): string {
  return `${String(Math.floor(minute / 60)).padStart(2, '0')}:${String(minute % 60).padStart(2, '0')}`;
}
