import { Temporal } from 'temporal-polyfill';
import { TableError } from '../errors.js';
import { civilFromDays, daysFromCivil, daysInMonth } from '../schema/calendar-text.js';
import { Interval, type IntervalText, instantText } from './interval.js';
import { labelText, localText } from './label.js';
import { anchorText, isSubDay, minutesOf, parseStep, type Step, type StepOptions, stepText } from './step.js';
import { type Zone, zoneOf } from './zone.js';

export interface CalendarOptions {
  /** `day`, `15 minutes`, `{ unit: 'month', anchor: '2024-01-15' }`. */
  readonly every: string | StepOptions;
  /** An IANA name; UTC by default. */
  readonly timeZone?: string;
}

/** A calendar as data, as it stands beside the log. */
export interface CalendarData {
  readonly unit: string;
  readonly count: number;
  readonly timeZone: string;
  readonly anchor?: string;
}

/** An interval before it has a name: milliseconds since the Unix epoch. */
export interface Span {
  readonly startMs: number;
  readonly endMs: number;
}

/** Instants that a calendar is asked about: milliseconds, a Date, or anything of Temporal that has an instant. */
export type InstantLike = number | Date | { readonly epochMilliseconds: number };

/**
 * Cuts time into intervals that tile it: no gap, no overlap, none of zero length. Days, weeks, months and years start with a local day and are counted from
 * the anchor; a day has 23, 24 or 25 hours, and one that the zone skips is none. Months are counted from the anchor itself, so that those of the 31st end
 * where the month does and go on at the 31st. Minutes and hours are elapsed time from the start of each local day; where a day's length is no multiple of the
 * step, its last interval is the shorter.
 */
export class Calendar {
  readonly step: Step;
  readonly #zone: Zone;
  readonly #text: IntervalText;
  /** The local day and the interval looked at last: walks ask for their neighbours. */
  #lastDay: Span = { startMs: 0, endMs: 0 };
  #lastIndex = 0;

  constructor(options: CalendarOptions) {
    this.step = parseStep(options.every);
    this.#zone = zoneOf(options.timeZone ?? 'UTC');
    this.#text = {
      timeZone: this.#zone.id,
      label: (ms) => labelText(this.step, ms, (at) => this.wallMs(at)),
      local: (ms) => localText(this.#zone, ms),
      wall: (ms) => this.#wallAt(ms),
    };
  }

  get timeZone(): string {
    return this.#zone.id;
  }
  get zone(): Zone {
    return this.#zone;
  }

  /** The interval that the instant lies in. */
  at(instant: InstantLike): Interval {
    const { startMs, endMs } = this.spanAt(millisecondsOf(instant));
    return new Interval(startMs, endMs, this.#text);
  }

  /** The interval after the one that the instant lies in. */
  next(instant: InstantLike): Interval {
    return this.at(this.spanAt(millisecondsOf(instant)).endMs);
  }

  /** The interval before the one that the instant lies in. */
  previous(instant: InstantLike): Interval {
    return this.at(this.spanAt(millisecondsOf(instant)).startMs - 1);
  }

  /** The intervals from `start` up to `end`, oldest first. Both have to be bounds; throws `INVALID_INPUT` with the nearest ones where they are not, and for an end before the start. */
  *between(start: InstantLike, end: InstantLike): Generator<Interval, void, undefined> {
    const from = this.bound(start);
    const to = this.bound(end);
    if (to < from) {
      throw new TableError(
        'INVALID_INPUT',
        `The range ends at ${instantText(to)}, before its start at ${instantText(from)}.`,
        { start: instantText(from), end: instantText(to) },
      );
    }
    for (let ms = from; ms < to; ) {
      const interval = this.at(ms);
      yield interval;
      ms = interval.endMs;
    }
  }

  /** The bounds at or before and at or after an instant. */
  nearest(instant: InstantLike): { readonly before: number; readonly after: number } {
    const ms = millisecondsOf(instant);
    const { startMs, endMs } = this.spanAt(ms);
    return { before: startMs, after: ms === startMs ? startMs : endMs };
  }

  /** The instant in milliseconds, if it is where an interval starts. Throws `INVALID_INPUT` with the two nearest bounds where it is not. */
  bound(instant: InstantLike): number {
    const ms = millisecondsOf(instant);
    const { before, after } = this.nearest(ms);
    if (ms === before) return ms;
    throw new TableError(
      'INVALID_INPUT',
      `${instantText(ms)} is no bound of a calendar of every ${stepText(this.step)} in ${this.timeZone}. The nearest are ${this.#boundText(before)} and ${this.#boundText(after)}.`,
      { instant: instantText(ms), before: instantText(before), after: instantText(after) },
    );
  }

  /** The same without a name. */
  spanAt(ms: number): Span {
    const { unit, count } = this.step;
    if (isSubDay(unit)) return this.#spanInDay(ms, minutesOf(unit, count) * 60_000);
    const index = this.#indexOf(ms);
    return { startMs: this.#boundOf(index), endMs: this.#boundOf(index + 1) };
  }

  /**
   * What the wall clock shows at an instant, both in milliseconds and the clock as if it were UTC; for days and longer at the start of the interval that the
   * instant lies in. Where the zone skips midnight it is midnight all the same.
   */
  wallMs(ms: number): number {
    if (isSubDay(this.step.unit)) return ms + this.#zone.offsetMs(ms);
    return this.#dayAt(this.#indexOf(ms)) * DAY_MS + this.step.minute * 60_000;
  }

  toJSON(): CalendarData {
    const { unit, count } = this.step;
    const anchor = anchorText(this.step);
    return { unit, count, timeZone: this.timeZone, ...(anchor === undefined ? {} : { anchor }) };
  }

  #spanInDay(ms: number, stepMs: number): Span {
    const day = this.#dayAround(ms);
    const startMs = day.startMs + Math.floor((ms - day.startMs) / stepMs) * stepMs;
    return { startMs, endMs: Math.min(startMs + stepMs, day.endMs) };
  }

  #dayAround(ms: number): Span {
    if (ms >= this.#lastDay.startMs && ms < this.#lastDay.endMs) return this.#lastDay;
    let day = this.#zone.dayOf(ms);
    // A clock set back over midnight shows the day before for a while; the day has begun all the same.
    while (this.#zone.at(day + 1, 0) <= ms) day++;
    while (this.#zone.at(day, 0) > ms) day--;
    this.#lastDay = { startMs: this.#zone.at(day, 0), endMs: this.#zone.at(day + 1, 0) };
    return this.#lastDay;
  }

  /** The number of the interval that the instant lies in, counted from the anchor. */
  #indexOf(ms: number): number {
    for (let index = this.#lastIndex; index <= this.#lastIndex + 1; index++)
      if (this.#boundOf(index) <= ms && ms < this.#boundOf(index + 1)) {
        this.#lastIndex = index;
        return index;
      }
    let index = this.#indexNear(this.#zone.dayOf(ms));
    while (this.#boundOf(index + 1) <= ms) index++;
    while (this.#boundOf(index) > ms) index--;
    this.#lastIndex = index;
    return index;
  }

  #boundOf(index: number): number {
    return this.#zone.at(this.#dayAt(index), this.step.minute);
  }

  /** The local day at which the interval of that number starts; the anchor's is 0. */
  #dayAt(index: number): number {
    const { unit, count, day } = this.step;
    if (unit === 'day' || unit === 'week') return day + index * count * (unit === 'week' ? 7 : 1);
    const anchor = civilFromDays(day);
    const months = anchor.year * 12 + anchor.month - 1 + index * count * (unit === 'year' ? 12 : 1);
    const year = Math.floor(months / 12);
    const month = months - year * 12 + 1;
    return daysFromCivil(year, month, Math.min(anchor.day, daysInMonth(year, month)));
  }

  #indexNear(day: number): number {
    const { unit, count, day: anchorDay } = this.step;
    if (unit === 'day' || unit === 'week')
      return Math.floor((day - anchorDay) / (count * (unit === 'week' ? 7 : 1)));
    const anchor = civilFromDays(anchorDay);
    const { year, month } = civilFromDays(day);
    const months = (year - anchor.year) * 12 + month - anchor.month;
    return Math.floor(months / (count * (unit === 'year' ? 12 : 1)));
  }

  #wallAt(ms: number): Temporal.PlainDateTime {
    const wall = this.wallMs(ms);
    const days = Math.floor(wall / DAY_MS);
    const { year, month, day } = civilFromDays(days);
    const seconds = Math.floor((wall - days * DAY_MS) / 1000);
    const [hour, minute] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60];
    return new Temporal.PlainDateTime(year, month, day, hour, minute, seconds % 60);
  }

  #boundText(ms: number): string {
    const local = localText(this.#zone, ms);
    return this.timeZone === 'UTC' ? instantText(ms) : `${instantText(ms)} (${local})`;
  }
}

const DAY_MS = 86_400_000;

/** Milliseconds since the Unix epoch. Throws `INVALID_INPUT` for what is no instant or lies outside the years 0001 to 9999. */
export function millisecondsOf(instant: InstantLike): number {
  const ms =
    typeof instant === 'number'
      ? instant
      : instant instanceof Date
        ? instant.getTime()
        : instant.epochMilliseconds;
  if (!Number.isFinite(ms) || ms < FIRST_MS || ms > LAST_MS)
    throw new TableError('INVALID_INPUT', `${String(instant)} is no instant of the years 0001 to 9999.`, {});
  return ms;
}

const FIRST_MS = Date.parse('0001-01-02T00:00:00Z');
const LAST_MS = Date.parse('9999-12-30T00:00:00Z');
