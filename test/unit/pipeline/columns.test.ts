import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openTable, parseDdl, type Row, type StructType } from '../../../src/index.js';
import type { Interval } from '../../../src/interval/interval.js';
import { blameRows } from '../../../src/pipeline/blame.js';
import { coverage } from '../../../src/pipeline/coverage.js';
import { checkDefinition, type PipelineOptions } from '../../../src/pipeline/definition.js';
import { bindTarget } from '../../../src/pipeline/target.js';
import { type Bench, job, openBench, run } from './support.js';

let bench: Bench;
beforeAll(async () => {
  bench = await openBench('2024-01-25T12:00:00Z');
});
afterAll(() => bench.close());

function withGenerated(ddl: string, column: string, expression: string): StructType {
  const { fields } = parseDdl(ddl);
  return {
    type: 'struct',
    fields: fields.map((field) =>
      field.name === column ? { ...field, metadata: { 'delta.generationExpression': expression } } : field,
    ),
  };
}

interface Kind {
  readonly name: string;
  readonly schema: string | StructType;
  readonly partitionBy?: readonly string[];
  readonly column: string;
  readonly every?: string;
  readonly timeZone?: string;
  /** The cell that places a row at the start, or at the last moment, of an interval. */
  readonly at: (interval: Interval, last: boolean) => Row;
}

const lastMoment = ({ endMs }: Interval): bigint => BigInt(endMs) * 1000n - 1n;
const timestamp = (interval: Interval, last: boolean): Row => ({
  ts: last ? lastMoment(interval) : interval.start,
});
const EVENTS = 'ts timestamp, id long, value string';

const KINDS: readonly Kind[] = [
  { name: 'a timestamp', schema: EVENTS, column: 'ts', at: timestamp },
  {
    name: 'a timestamp, by hours of a zone',
    schema: EVENTS,
    column: 'ts',
    every: 'hour',
    timeZone: 'Asia/Kathmandu',
    at: timestamp,
  },
  {
    name: 'a wall clock',
    schema: 'wall timestamp_ntz, id long, value string',
    column: 'wall',
    timeZone: 'America/New_York',
    at: (interval, last) => ({
      wall: last ? interval.wallEnd.subtract({ microseconds: 1 }) : interval.wallStart,
    }),
  },
  {
    name: 'a date',
    schema: 'day date, id long, value string',
    column: 'day',
    timeZone: 'Europe/Berlin',
    at: ({ date }) => ({ day: date }),
  },
  {
    name: 'a date, by weeks',
    schema: 'day date, id long, value string',
    column: 'day',
    every: 'week',
    at: (interval, last) => ({ day: last ? interval.date.add({ days: 6 }) : interval.date }),
  },
  {
    name: 'a partition column of dates',
    schema: 'day date, id long, value string',
    partitionBy: ['day'],
    column: 'day',
    at: ({ date }) => ({ day: date }),
  },
  {
    name: 'a partition column of timestamps',
    schema: EVENTS,
    partitionBy: ['ts'],
    column: 'ts',
    at: timestamp,
  },
  {
    name: 'a partition column of labels',
    schema: 'hour string, id long, value string',
    partitionBy: ['hour'],
    column: 'hour',
    every: 'hour',
    at: ({ label }) => ({ hour: label }),
  },
  {
    name: 'a date generated from a timestamp',
    schema: withGenerated('ts timestamp, day date, id long, value string', 'day', 'CAST(ts AS DATE)'),
    column: 'day',
    at: timestamp,
  },
  {
    name: 'a partition column generated from a timestamp',
    schema: withGenerated('ts timestamp, day date, id long, value string', 'day', 'CAST(ts AS DATE)'),
    partitionBy: ['day'],
    column: 'day',
    at: timestamp,
  },
  {
    name: 'a timestamp, with a partition column generated from it',
    schema: withGenerated('ts timestamp, day date, id long, value string', 'day', 'CAST(ts AS DATE)'),
    partitionBy: ['day'],
    column: 'ts',
    every: 'hour',
    at: timestamp,
  },
];

describe('intervals by', () => {
  test.each(KINDS)('$name', async ({ name, schema, partitionBy, column, every = 'day', timeZone, at }) => {
    let [value, outside]: [string, number] = ['a', 0];
    let isEmpty = false;
    const of = job(bench, name, {
      create: { schema, partitionBy },
      column,
      every,
      timeZone,
      start: '2024-01-01',
      produce({ interval }) {
        if (isEmpty) return [];
        const source =
          outside === 0
            ? interval
            : outside < 0
              ? of.definition.calendar.previous(interval.startMs)
              : of.definition.calendar.next(interval.startMs);
        return [false, true].map((last, i) => ({ ...at(source, outside < 0 || last), id: BigInt(i), value }));
      },
    });
    const { calendar, startMs } = of.definition;
    const first = calendar.at(startMs);
    const second = calendar.next(startMs);
    for (const { label } of [second, first]) expect(await run(of, label)).toMatchObject({ rows: 2 });
    const table = await openTable(of.definition.url, { runtime: bench.runtime });
    value = 'b';
    expect(await run(of, first.label)).toMatchObject({ status: 'committed', attempt: 2, rows: 2 });
    expect([await table.count(), await table.count({ where: "value = 'b'" })]).toEqual([4, 2]);

    const range = { fromMs: startMs, untilMs: calendar.next(second.startMs).endMs };
    const told = async (): Promise<unknown[]> =>
      (await coverage(of, range)).entries.map(({ state, rows, live }) => [state, rows, live]);
    expect(await told()).toEqual([
      ['done', 2, 2],
      ['done', 2, 2],
      ['missing', undefined, 0],
    ]);
    expect(
      (await blameRows(of, "value = 'b'")).map(({ interval, rows, state }) => [interval?.label, rows, state]),
    ).toEqual([[first.label, 2, 'done']]);
    expect((await coverage(of, { ...range, keys: ['id'] })).keys).toMatchObject({ count: 2 });

    for (outside of [-1, 1]) {
      await expect(run(of, second.label)).rejects.toMatchObject({
        code: 'OUTSIDE_TARGET',
        context: { rows: 2 },
      });
      expect(await table.count()).toBe(4);
    }
    [outside, isEmpty] = [0, true];
    expect(await run(of, second.label)).toMatchObject({ rows: 0, attempt: 2 });
    expect(await told()).toEqual([
      ['done', 2, 2],
      ['empty', 0, 0],
      ['missing', undefined, 0],
    ]);
  });
});

describe('a column that cannot tell intervals apart', () => {
  const bound = (schema: string, options: Partial<PipelineOptions>): unknown =>
    bindTarget(
      checkDefinition({
        name: 'p',
        table: 'memory://p',
        every: 'day',
        start: '2024-01-01',
        column: 'c',
        produce: () => [],
        ...options,
      }),
      { schema: parseDdl(schema) },
    );

  test.each<[string, Partial<PipelineOptions>, RegExp]>([
    ['c date', { every: 'hour' }, /every hour: it needs a timestamp/],
    ['c date', { every: '15 minutes' }, /it needs a timestamp/],
    [
      'c date',
      { every: { unit: 'day', anchor: '2024-01-01T06:00' }, start: '2024-01-01T06:00' },
      /do not start at midnight/,
    ],
    ['c timestamp_ntz', { every: 'hour', timeZone: 'Europe/Berlin' }, /the clocks of Europe\/Berlin change/],
    ['c timestamp_ntz', { every: 'minute', timeZone: 'America/Sao_Paulo', start: '2018-01-01' }, /clocks/],
    ['c long', {}, /it is a timestamp, a date, or text/],
    ['c struct<a: timestamp>', {}, /it is a timestamp, a date, or text/],
    ['d date', {}, /no column 'c'/],
  ])('is refused: %s, %o', (schema, options, message) => {
    expect(() => bound(schema, options)).toThrow(message);
  });

  test.each<[string, Partial<PipelineOptions>]>([
    ['c timestamp_ntz', { every: 'hour' }],
    ['c timestamp_ntz', { every: 'hour', timeZone: 'Asia/Kolkata' }],
    ['c timestamp_ntz', { timeZone: 'Europe/Berlin' }],
    ['c timestamp', { every: 'minute', timeZone: 'Europe/Berlin' }],
    ['c date', { every: 'month', timeZone: 'Pacific/Apia' }],
    ['c string', { every: 'minute' }],
  ])('is not %s, %o', (schema, options) => {
    expect(bound(schema, options)).toMatchObject({ field: { name: 'c' } });
  });
});
