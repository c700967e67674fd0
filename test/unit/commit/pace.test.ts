import { expect, test } from 'vitest';
import { Pace } from '../../../src/commit/pace.js';
import { FakeClock, fakeContext } from '../../support/fake-context.js';

function made(): { pace: Pace; clock: FakeClock } {
  const clock = new FakeClock();
  return { pace: new Pace(fakeContext(clock)), clock };
}

/** A writer that has won version 0 of eight, and then seen the other seven. */
function oneOfEight(): { pace: Pace; clock: FakeClock; version: number } {
  const { pace, clock } = made();
  let version = 0;
  for (let turn = 0; turn < 20; turn++) {
    pace.won(version, clock.monotonic());
    clock.advance(20);
    pace.lost(++version, clock.monotonic() - 20);
    for (let i = 0; i < 6; i++) {
      clock.advance(20);
      pace.saw(1);
      version++;
    }
    version++;
  }
  pace.won(version, clock.monotonic());
  return { pace, clock, version };
}

test('others are remembered for a while after they won', () => {
  const { pace, clock } = made();
  pace.beginAlone(0);
  expect(pace.contended()).toBe(false);
  pace.lost(1, clock.monotonic());
  expect(pace.contended()).toBe(true);
  clock.advance(10_000);
  expect(pace.contended()).toBe(false);
});

test('who has just won waits for the others, and is due when they have had their turns', () => {
  const { pace, version } = oneOfEight();
  for (let next = version; next < version + 7; next++) expect(pace.untilTurn(next, 0)).toBeGreaterThan(0);
  expect(pace.untilTurn(version + 7, 0)).toBe(0);
});

test('who has waited for long waits no more', () => {
  const { pace, version } = oneOfEight();
  expect(pace.untilTurn(version, 10_000)).toBe(0);
  expect(pace.backOff(10_000)).toBeLessThan(1);
});

test('as many versions are expected as the time since the last look allows, and a listing where that is beyond a round', () => {
  const { pace, clock } = oneOfEight();
  expect(pace.expected()).toBe(0);
  clock.advance(60);
  expect(pace.expected()).toBe(3);
  clock.advance(1_000);
  expect(pace.expected()).toBe(Number.POSITIVE_INFINITY);
});

test('a slow time makes nobody wait longer than a second', () => {
  const { pace, clock } = made();
  pace.beginAlone(0);
  for (let version = 1; version < 20; version++) {
    clock.advance(60_000);
    pace.lost(version, clock.monotonic() - 60_000);
    expect(pace.backOff(0)).toBeLessThanOrEqual(1_000);
  }
});
