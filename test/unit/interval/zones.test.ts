import { Temporal } from 'temporal-polyfill';
import { describe, expect, test } from 'vitest';
import { parseInterval } from '../../../src/interval/argument.js';
import { Calendar } from '../../../src/interval/calendar.js';

/** `ZONE_SEED=9` looks at other zones and days. */
const SEED = Number(process.env.ZONE_SEED ?? 1);
const FIRST = new Temporal.PlainDate(1970, 1, 1);
const LAST = new Temporal.PlainDate(2038, 1, 1);
const DAYS = FIRST.until(LAST).days;
const ZONES = Intl.supportedValuesOf('timeZone');
/** Zones that are always looked at, besides those that the seed chooses: skipped days, skipped midnights, odd offsets, clocks set back over midnight. */
const ODD = [
  'Pacific/Apia',
  'Pacific/Kwajalein',
  'Pacific/Kiritimati',
  'America/Sao_Paulo',
  'Asia/Beirut',
  'Asia/Tehran',
  'America/St_Johns',
  'Australia/Lord_Howe',
  'Asia/Kathmandu',
  'Pacific/Chatham',
  'Africa/Monrovia',
  'Antarctica/Troll',
];
const FOR_DAYS = 6;
const FOR_WEEKS = 60;

function randomFrom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}

/** The start of a local day as Temporal has it. */
const startOf = (date: Temporal.PlainDate, timeZone: string): number =>
  date.toZonedDateTime(timeZone).epochMilliseconds;

/**
 * Walks 1970 to 2037 by spans alone and gives the starts, after it has made sure that each interval begins where the one before ended, ends later than it begins,
 * and that the walk ends exactly at the end.
 */
function tiles(calendar: Calendar, from: number, to: number): number[] {
  const starts: number[] = [];
  let at = from;
  while (at < to) {
    const { startMs, endMs } = calendar.spanAt(at);
    if (startMs !== at || endMs <= startMs)
      throw new Error(`${calendar.timeZone}: at ${at} lies [${startMs}, ${endMs})`);
    starts.push(startMs);
    at = endMs;
  }
  expect(at).toBe(to);
  return starts;
}

describe('from 1970 to 2037', () => {
  const random = randomFrom(SEED);
  const choose = (count: number): Set<string> =>
    new Set([...ODD, ...Array.from({ length: count }, () => ZONES[Math.floor(random() * ZONES.length)]!)]);

  test('weeks and months tile', () => {
    for (const timeZone of choose(FOR_WEEKS)) {
      const [from, to] = [startOf(FIRST, timeZone), startOf(LAST, timeZone)];
      const months = tiles(new Calendar({ every: 'month', timeZone }), from, to);
      expect(months).toHaveLength(68 * 12);
      const weekly = new Calendar({ every: { unit: 'week', anchor: '1970-01-01' }, timeZone });
      const weeks = tiles(weekly, from, weekly.nearest(to).after);
      expect(weeks).toHaveLength(Math.ceil(DAYS / 7));
      for (const [calendar, starts, unit] of [
        [new Calendar({ every: 'month', timeZone }), months, 'months'],
        [weekly, weeks, 'weeks'],
      ] as const) {
        const i = Math.floor(random() * starts.length);
        const date = FIRST.add({ [unit]: i });
        expect([timeZone, starts[i]]).toEqual([timeZone, startOf(date, timeZone)]);
        expect(parseInterval(calendar, calendar.at(starts[i]!).label).startMs).toBe(starts[i]);
      }
    }
  });

  test.each([...choose(FOR_DAYS)])('days tile in %s and start as Temporal says', (timeZone) => {
    const calendar = new Calendar({ every: 'day', timeZone });
    const starts = tiles(calendar, startOf(FIRST, timeZone), startOf(LAST, timeZone));
    // Every day there is, and no other: each start is another local date, and those left out begin when the next day does.
    const dates = new Set(starts.map((ms) => calendar.wallMs(ms) / 86_400_000));
    expect(dates.size).toBe(starts.length);
    for (let day = 0; day < DAYS; day++) {
      if (dates.has(day)) continue;
      const skipped = FIRST.add({ days: day });
      expect(startOf(skipped, timeZone)).toBe(startOf(skipped.add({ days: 1 }), timeZone));
    }
    const looked = Array.from({ length: 20 }, () => Math.floor(random() * starts.length));
    // And around everything that happened to the zone's clocks, as far as there is time for it.
    let zoned = FIRST.toZonedDateTime(timeZone);
    for (let i = 0; i < 16; i++) {
      const next = zoned.getTimeZoneTransition('next');
      if (!next) break;
      const position = starts.findLastIndex((ms) => ms <= next.epochMilliseconds);
      looked.push(Math.max(0, position - 1), position, Math.min(starts.length - 1, position + 1));
      zoned = next.add({ days: Math.floor(random() * 1500) });
    }
    for (const i of looked) {
      const interval = calendar.at(starts[i]!);
      const date = Temporal.PlainDate.from(interval.label);
      expect([interval.label, interval.startMs]).toEqual([interval.label, startOf(date, timeZone)]);
      expect(parseInterval(calendar, interval.label).equals(interval)).toBe(true);
      const { year, month, day } = interval.wallStart;
      expect([year, month, day]).toEqual([date.year, date.month, date.day]);
    }
  });

  test('days that a zone skipped are left out', () => {
    const skipped = (timeZone: string): string[] => {
      const calendar = new Calendar({ every: 'day', timeZone });
      const starts = tiles(calendar, startOf(FIRST, timeZone), startOf(LAST, timeZone));
      const dates = new Set(starts.map((ms) => calendar.at(ms).label));
      return Array.from({ length: DAYS }, (_, day) => FIRST.add({ days: day }).toString()).filter(
        (date) => !dates.has(date),
      );
    };
    expect(skipped('Pacific/Apia')).toEqual(['2011-12-30']);
    expect(skipped('Pacific/Kwajalein')).toEqual(['1993-08-21']);
    expect(skipped('Europe/Berlin')).toEqual([]);
  });

  test('wall clocks and local names are those of Temporal', () => {
    for (const timeZone of ZONES) {
      const calendar = new Calendar({ every: '15 minutes', timeZone });
      for (let i = 0; i < 4; i++) {
        const interval = calendar.at(Math.floor(random() * 2_145_916_800_000));
        const zoned = interval.start.toZonedDateTimeISO(timeZone);
        expect(interval.wallStart.equals(zoned.toPlainDateTime())).toBe(true);
        expect(Temporal.Instant.from(interval.label).epochMilliseconds).toBe(interval.startMs);
        const smallestUnit = zoned.second === 0 && zoned.offsetNanoseconds % 6e10 === 0 ? 'minute' : 'second';
        expect(interval.local).toBe(interval.start.toString({ timeZone, smallestUnit }));
      }
    }
  });
});
