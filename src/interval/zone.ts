import { Temporal } from 'temporal-polyfill';
import { TableError } from '../errors.js';
import { civilFromDays } from '../schema/calendar-text.js';

const DAY_MS = 86_400_000;
/** Days whose starts are kept; a calendar walks along, so that the last few are what it asks for again. */
const KEPT_DAYS = 4096;

/** More than any zone has changed its clocks at once; some have changed sides of the date line. */
const LONGEST_CHANGE_MS = 26 * 3_600_000;

/** What a calendar asks of a time zone. Days are counted from 1970-01-01; instants are milliseconds since the Unix epoch. */
export interface Zone {
  /** The IANA name as the time zone database spells it, or an offset such as `+05:30`. */
  readonly id: string;
  /** The local day that the instant lies in. */
  dayOf(ms: number): number;
  /**
   * The first instant of a local day, or the instant of a time in it. Where the zone skips that time it is the first instant after the skip; where it comes
   * twice, the first of the two.
   */
  at(day: number, minuteOfDay: number): number;
  /** True when the offset from UTC changes at or after the instant, as far as the time zone database tells. */
  changesAfter(ms: number): boolean;
  /** Milliseconds east of UTC. */
  offsetMs(ms: number): number;
}

const zones = new Map<string, Zone>();

/** The zone of an IANA name or an offset. Throws `INVALID_INPUT` for anything else. */
export function zoneOf(name: string): Zone {
  const known = zones.get(name);
  if (known) return known;
  const id = canonicalId(name);
  const made = id === 'UTC' ? utc : namedZone(id);
  zones.set(name, made);
  return made;
}

function canonicalId(name: string): string {
  try {
    return Temporal.Instant.fromEpochMilliseconds(0).toZonedDateTimeISO(name).timeZoneId;
  } catch (error) {
    throw new TableError(
      'INVALID_INPUT',
      `${JSON.stringify(name)} is no time zone. Give an IANA name such as Europe/Berlin, or UTC.`,
      { timeZone: name },
      error,
    );
  }
}

const utc: Zone = {
  id: 'UTC',
  dayOf: (ms) => Math.floor(ms / DAY_MS),
  at: (day, minute) => day * DAY_MS + minute * 60_000,
  changesAfter: () => false,
  offsetMs: () => 0,
};

function namedZone(id: string): Zone {
  const starts = new Map<number, number>();
  const zoned = (ms: number): Temporal.ZonedDateTime =>
    Temporal.Instant.fromEpochMilliseconds(ms).toZonedDateTimeISO(id);
  // The offset that was asked for last, and from when until when it holds as far as is known.
  let known = { from: 0, until: 0, offset: 0 };
  const offsetMs = (ms: number): number => {
    if (ms >= known.from && ms < known.until) return known.offset;
    const at = zoned(ms);
    const until = at.getTimeZoneTransition('next')?.epochMilliseconds ?? Number.POSITIVE_INFINITY;
    known = { from: ms, until, offset: at.offsetNanoseconds / 1_000_000 };
    return known.offset;
  };
  const compute = (day: number, minute: number): number => {
    const date = new Temporal.PlainDate(...ymd(day));
    if (minute === 0) return date.toZonedDateTime(id).epochMilliseconds;
    const time = new Temporal.PlainTime(Math.floor(minute / 60), minute % 60);
    const wall = date.toPlainDateTime(time);
    const later = wall.toZonedDateTime(id, { disambiguation: 'later' });
    const earlier = wall.toZonedDateTime(id, { disambiguation: 'earlier' });
    // A skipped time: both sides differ from the wall clock asked for, and the zone changes its offset between the two.
    if (!earlier.toPlainDateTime().equals(wall)) {
      return earlier.getTimeZoneTransition('next')?.epochMilliseconds ?? later.epochMilliseconds;
    }
    return earlier.epochMilliseconds;
  };
  return {
    id,
    dayOf: (ms) => Math.floor((ms + offsetMs(ms)) / DAY_MS),
    at: (day, minute) => {
      const near = day * DAY_MS + minute * 60_000 - known.offset;
      // No clock was ever set back by more, so that this is the first time that it shows this.
      if (near >= known.from + LONGEST_CHANGE_MS && near < known.until) return near;
      const key = day * 1440 + minute;
      const start = starts.get(key);
      if (start !== undefined) return start;
      if (starts.size >= KEPT_DAYS) starts.clear();
      const ms = compute(day, minute);
      starts.set(key, ms);
      return ms;
    },
    changesAfter: (ms) => zoned(ms).getTimeZoneTransition('next') !== null,
    offsetMs,
  };
}

function ymd(day: number): [number, number, number] {
  const { year, month, day: dayOfMonth } = civilFromDays(day);
  return [year, month, dayOfMonth];
}
