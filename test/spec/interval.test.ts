import { describe, expect, test } from 'vitest';
import intervals from '../../spec/cases/interval/intervals.json' with { type: 'json' };
import type { TableError } from '../../src/errors.js';
import { intervalsOf, parseInterval } from '../../src/interval/argument.js';
import { Calendar } from '../../src/interval/calendar.js';
import { instantText } from '../../src/interval/interval.js';
import type { StepOptions } from '../../src/interval/step.js';

interface Case {
  readonly name: string;
  readonly every: string | StepOptions;
  readonly timeZone?: string;
  readonly text: string;
  readonly labels?: readonly string[];
  readonly locals?: readonly string[];
  readonly bounds?: readonly string[];
  readonly count?: number;
  readonly first?: string;
  readonly last?: string;
  readonly error?: string;
  readonly says?: string;
}

describe('intervals', () => {
  test.each(intervals.cases as unknown as readonly Case[])('$name', (each) => {
    const run = () => {
      const calendar = new Calendar(each);
      return { calendar, found: [...intervalsOf(calendar, each.text)] };
    };
    if (each.error !== undefined) {
      const error = caught(run);
      expect(error.code).toBe(each.error);
      expect(error.message).toContain(each.says);
      return;
    }
    const { calendar, found } = run();
    const labels = found.map(({ label }) => label);
    if (each.labels) expect(labels).toEqual(each.labels);
    if (each.locals) expect(found.map(({ local }) => local)).toEqual(each.locals);
    if (each.bounds) {
      const bounds = [...found.map(({ startMs }) => startMs), found.at(-1)!.endMs].map(instantText);
      expect(bounds).toEqual(each.bounds);
    }
    if (each.count !== undefined)
      expect([found.length, labels[0], labels.at(-1)]).toEqual([each.count, each.first, each.last]);
    expect(new Set(labels).size).toBe(labels.length);
    expect([...labels].sort()).toEqual(labels);
    for (const interval of found) expect(parseInterval(calendar, interval.label).equals(interval)).toBe(true);
    for (const interval of found) {
      const range = `${instantText(interval.startMs)}/${instantText(interval.endMs)}`;
      expect(parseInterval(calendar, range).equals(interval)).toBe(true);
    }
  });
});

function caught(run: () => unknown): TableError {
  try {
    run();
  } catch (error) {
    return error as TableError;
  }
  throw new Error('nothing was thrown');
}
