import { expect, test } from 'vitest';
import { planLines } from '../../../../src/cli/pipeline/plan-lines.js';
import { Calendar } from '../../../../src/interval/calendar.js';
import type { IntervalState } from '../../../../src/pipeline/coverage.js';
import type { RunPlan } from '../../../../src/pipeline/plan.js';

const plain = (_: unknown, text: string): string => text;

function plan(states: readonly IntervalState[], timeZone = 'UTC', version = 3): RunPlan {
  const calendar = new Calendar({ every: 'day', timeZone });
  const start = calendar.nearest(Date.UTC(2024, 2, 30)).before;
  let ms = start;
  const items = states.map((why) => {
    const interval = calendar.at(ms);
    ms = interval.endMs;
    return { interval, why, attempt: why === 'missing' ? 0 : 1, replaces: why === 'missing' ? 0 : 1500 };
  });
  return { pipeline: 'p', url: 'file:///t', version, left: {}, items };
}

test('neighbours that are run for the same reason share a line', () => {
  const made = plan(['missing', 'missing', 'stale', 'stale', 'missing']);
  expect(planLines({ ...made, left: { done: 1200 } }, plain, false)).toEqual([
    'plan: 5 intervals of p into file:///t at version 3; left alone: 1,200 done',
    'interval                  intervals  why      attempt  rows it replaces',
    '2024-03-30 to 2024-03-31          2  missing        1                 0',
    '2024-04-01 to 2024-04-02          2  stale          2             3,000',
    '2024-04-03                        1  missing        1                 0',
  ]);
});

test('newest first too, and a line each where that is asked', () => {
  const { items, ...made } = plan(['missing', 'missing'], 'Europe/Berlin', -1);
  const backwards = { ...made, items: [...items].reverse() };
  expect(planLines(backwards, plain, false)[2]).toMatch(
    /^2024-03-31 to 2024-03-30 {2}2024-03-31T00:00\+01:00 .* 2 {2}missing/,
  );
  expect(planLines(backwards, plain, true)).toEqual([
    'plan: 2 intervals of p into file:///t, which the first run creates',
    'interval    starts                  why      attempt  rows it replaces',
    '2024-03-31  2024-03-31T00:00+01:00  missing        1                 0',
    '2024-03-30  2024-03-30T00:00+01:00  missing        1                 0',
  ]);
});

test('of a long plan the first lines are shown, of a dry run all', () => {
  const states = Array.from({ length: 100 }, (_, i): IntervalState => (i % 2 === 0 ? 'missing' : 'stale'));
  const lines = planLines(plan(states), plain, false);
  expect(lines).toHaveLength(43);
  expect(lines.at(-1)).toBe('... and 60 more intervals');
  expect(planLines(plan(states), plain, true)).toHaveLength(102);
  expect(planLines(plan([]), plain, false)).toEqual(['plan: 0 intervals of p into file:///t at version 3']);
});
