import fc from 'fast-check';
import { Temporal } from 'temporal-polyfill';
import { describe, expect, test } from 'vitest';
import { parseInterval } from '../../../src/interval/argument.js';
import { Calendar } from '../../../src/interval/calendar.js';
import type { Interval } from '../../../src/interval/interval.js';

const FROM = Date.parse('1970-01-01T00:00:00Z');
const TO = Date.parse('2037-12-31T00:00:00Z');
const HOUR = 3_600_000;

/** Walks some intervals from an instant and checks that they tile, and that each is found from its ends, its middle and its label. */
function checkTiles(calendar: Calendar, from: number, count: number): Interval[] {
  const walked: Interval[] = [];
  let interval = calendar.at(from);
  expect(interval.contains(from)).toBe(true);
  for (let i = 0; i < count; i++) {
    walked.push(interval);
    expect(interval.startMs).toBeLessThan(interval.endMs);
    expect(calendar.at(interval.endMs - 1).equals(interval)).toBe(true);
    const next = calendar.next(interval.startMs);
    expect(next.startMs).toBe(interval.endMs);
    expect(calendar.previous(next.startMs).equals(interval)).toBe(true);
    interval = next;
  }
  const labels = walked.map(({ label }) => label);
  expect([...labels].sort()).toEqual(labels);
  expect(new Set(labels).size).toBe(labels.length);
  expect(parseInterval(calendar, labels[0]!).equals(walked[0]!)).toBe(true);
  for (let i = 1; i < walked.length; i++)
    expect(walked[i - 1]!.wallEnd.equals(walked[i]!.wallStart)).toBe(true);
  return walked;
}

describe('a calendar', () => {
  test('tiles time in every zone', () => {
    const units = ['day', 'week', 'month', 'hour', 'day', '15 minutes'] as const;
    let seed = 7;
    const random = (): number => {
      seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0;
      return seed / 2 ** 32;
    };
    Intl.supportedValuesOf('timeZone').forEach((timeZone, i) => {
      const calendar = new Calendar({ every: units[i % units.length]!, timeZone });
      checkTiles(calendar, FROM + Math.floor(random() * (TO - FROM)), 4);
    });
  });

  test.each([
    ['Pacific/Apia', '2011-12-28T00:00:00Z'],
    ['Pacific/Kwajalein', '1993-08-19T00:00:00Z'],
    ['America/Sao_Paulo', '2018-11-02T00:00:00Z'],
    ['America/St_Johns', '2006-10-27T00:00:00Z'],
    ['Australia/Lord_Howe', '2024-04-05T00:00:00Z'],
    ['Asia/Kathmandu', '1985-12-29T00:00:00Z'],
    ['Africa/Monrovia', '1972-01-05T00:00:00Z'],
    ['Asia/Pyongyang', '2018-05-02T00:00:00Z'],
  ])('tiles the days, hours and minutes around what happened in %s', (timeZone, around) => {
    for (const every of ['day', '2 days', 'hour', '6 hours', '15 minutes']) {
      const calendar = new Calendar({ every, timeZone });
      const count = every === '15 minutes' ? 500 : every === 'hour' ? 130 : every === '6 hours' ? 24 : 6;
      checkTiles(calendar, Date.parse(around), count);
    }
  });

  test('agrees with the zone about the start of a day', () => {
    fc.assert(
      fc.property(
        fc.constantFrom('Europe/London', 'America/Sao_Paulo', 'Asia/Tehran', 'Africa/Cairo', 'Pacific/Apia'),
        fc.integer({ min: 0, max: 24_800 }),
        (timeZone, day) => {
          const date = new Temporal.PlainDate(1970, 1, 1).add({ days: day });
          const start = date.toZonedDateTime(timeZone).epochMilliseconds;
          expect(new Calendar({ every: 'day', timeZone }).at(start).startMs).toBe(start);
        },
      ),
      { numRuns: 200 },
    );
  });

  test('counts steps from any anchor without drifting', () => {
    fc.assert(
      fc.property(
        fc.constantFrom('day', 'week', 'month', 'year') as fc.Arbitrary<'day' | 'week' | 'month' | 'year'>,
        fc.integer({ min: 1, max: 40 }),
        fc.date({ min: new Date(FROM), max: new Date(TO), noInvalidDate: true }),
        fc.constantFrom('', 'T06:00', 'T23:45'),
        fc.integer({ min: FROM, max: TO }),
        (unit, count, anchor, clock, instant) => {
          const every = { unit, count, anchor: anchor.toISOString().slice(0, 10) + clock };
          const calendar = new Calendar({ every });
          checkTiles(calendar, instant, 4);
          expect(calendar.bound(Date.parse(`${every.anchor}${clock === '' ? '' : ':00Z'}`))).toBeDefined();
          expect(new Calendar({ every, timeZone: 'UTC' }).toJSON()).toEqual(calendar.toJSON());
        },
      ),
      { numRuns: 200 },
    );
  });

  test('knows days of 23, 24 and 25 hours', () => {
    const calendar = new Calendar({ every: 'day', timeZone: 'Europe/Berlin' });
    const hours = ['2024-03-31', '2024-06-01', '2024-10-27'].map(
      (label) => parseInterval(calendar, label).duration / HOUR,
    );
    expect(hours).toEqual([23, 24, 25]);
  });

  test('walks a year of minutes lazily', () => {
    const calendar = new Calendar({ every: 'minute', timeZone: 'America/New_York' });
    let count = 0;
    for (const _ of calendar.between(Date.parse('2024-01-01T05:00Z'), Date.parse('2025-01-01T05:00Z')))
      count++;
    expect(count).toBe(366 * 1440);
  });
});
