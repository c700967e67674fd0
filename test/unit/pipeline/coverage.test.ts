import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createRuntime, createTable, openTable, type RuntimeEvent } from '../../../src/index.js';
import { migrateCalendar } from '../../../src/pipeline/calendar-file.js';
import { type Coverage, coverage } from '../../../src/pipeline/coverage.js';
import { type Job, openJob } from '../../../src/pipeline/job.js';
import { runInterval } from '../../../src/pipeline/run.js';
import { systemClock } from '../../../src/runtime/system.js';
import { type Bench, job, openBench, rowsAt, run } from './support.js';

let bench: Bench;
beforeAll(async () => {
  bench = await openBench('2024-01-08T12:00:00Z');
});
afterAll(() => bench.close());

const short = ({ entries }: Coverage): Record<string, string> =>
  Object.fromEntries(entries.map(({ interval, state }) => [interval.label.slice(-2), state]));
const stateOf = async (of: Job, label: string): Promise<string | undefined> =>
  (await coverage(of)).entries.find(({ interval }) => interval.label === label)?.state;

describe('coverage', () => {
  test('tells done, empty, missing and open apart', async () => {
    const daily = job(bench, 'states', {
      produce: ({ interval }) =>
        interval.label === '2024-01-03' ? [] : rowsAt(interval.startMs, interval.endMs),
    });
    for (const label of ['2024-01-02', '2024-01-03', '2024-01-05']) await run(daily, label);
    const found = await coverage(daily);
    expect(short(found)).toEqual({
      '01': 'missing',
      '02': 'done',
      '03': 'empty',
      '04': 'missing',
      '05': 'done',
      '06': 'missing',
      '07': 'missing',
      '08': 'open',
    });
    expect(found.counts).toMatchObject({ done: 2, empty: 1, missing: 4, open: 1 });
    expect(found.entries[1]).toMatchObject({ attempt: 1, rows: 2, live: 2, run: { attempt: 1, version: 1 } });
  });

  test('sees rows that others added or removed', async () => {
    const daily = job(bench, 'changed');
    for (const label of ['2024-01-02', '2024-01-03', '2024-01-04']) await run(daily, label);
    const table = await openTable(daily.definition.url, { runtime: bench.runtime });
    await table.append(rowsAt(Date.parse('2024-01-02'), Date.parse('2024-01-03')));
    await table.delete({ where: "day = '2024-01-03' AND hour(ts) = 0" });
    const found = await coverage(daily);
    expect(found.entries.slice(1, 4).map(({ state, rows, live }) => [state, rows, live])).toEqual([
      ['changed', 2, 4],
      ['changed', 2, 1],
      ['done', 2, 2],
    ]);
  });

  test('counts rows of files that hold several intervals, and of other types of column', async () => {
    for (const column of ['ts', 'day', 'wall', 'label'] as const) {
      const schema = 'ts timestamp, day date, wall timestamp_ntz, label string, id long';
      const produce: NonNullable<Parameters<typeof job>[2]>['produce'] = ({ interval }) => [
        { ts: interval.start, day: interval.date, wall: interval.wallStart, label: interval.label, id: 1n },
        { ts: interval.start, day: interval.date, wall: interval.wallStart, label: interval.label, id: 2n },
      ];
      const daily = job(bench, `types-${column}`, { create: { schema }, column, produce });
      for (const label of ['2024-01-02', '2024-01-03']) await run(daily, label);
      expect(short(await coverage(daily))).toMatchObject({ '01': 'missing', '02': 'done', '03': 'done' });
      const table = await openTable(daily.definition.url, { runtime: bench.runtime });
      // One file with both days, as OPTIMIZE would make it.
      const rows = await table.scan().toArray();
      await table.overwrite(rows, { all: true });
      expect(short(await coverage(daily))).toMatchObject({ '01': 'missing', '02': 'done', '03': 'done' });
      await table.overwrite(rows.slice(1), { all: true });
      expect((await coverage(daily)).counts.changed).toBe(1);
    }
  });

  test('calls a run stale when what it read has changed, and no other', async () => {
    const url = bench.url('stale-source');
    const source = await createTable(url, {
      runtime: bench.runtime,
      schema: 'day date, id long',
      partitionBy: ['day'],
      rows: ['02', '03', '04'].map((day) => ({ day: `2024-01-${day}`, id: 1n })),
    });
    const daily = job(bench, 'stale', {
      async *produce({ interval, read }) {
        for await (const { id } of await read(url, { where: `day = '${interval.label}'` }))
          yield { ts: interval.start, day: interval.label, id };
      },
    });
    for (const label of ['2024-01-02', '2024-01-03', '2024-01-04']) await run(daily, label);
    expect((await coverage(daily)).counts).toMatchObject({ done: 3, stale: 0 });
    await source.append([{ day: '2024-01-03', id: 2n }]);
    expect(short(await coverage(daily))).toMatchObject({ '02': 'done', '03': 'stale', '04': 'done' });
    await run(daily, '2024-01-03');
    await source.delete({ where: "day = '2024-01-04'" });
    expect(short(await coverage(daily))).toMatchObject({ '02': 'done', '03': 'done', '04': 'stale' });
    expect((await coverage(daily, { inputs: false })).counts).toMatchObject({ done: 3, stale: 0 });
  });

  test('does without notes, and writes those that are lacking', async () => {
    const daily = job(bench, 'notes', { produce: () => [] });
    await run(daily, '2024-01-02');
    const { store } = daily.table;
    const notes = async (): Promise<string[]> => {
      const keys: string[] = [];
      for await (const page of store.list('_intervale/runs/')) keys.push(...page.map(({ key }) => key));
      return keys;
    };
    const before = await notes();
    expect(before).toEqual(['_intervale/runs/events/20240102T000000Z-20240103T000000Z/1.json']);
    await store.delete(before[0]!);
    expect(await stateOf(daily, '2024-01-02')).toBe('empty');
    expect(await notes()).toEqual(before);
    await store.put(before[0]!, new TextEncoder().encode('{"torn'));
    expect(await stateOf(daily, '2024-01-02')).toBe('empty');
  });

  test('rolls many notes up', async () => {
    const hourly = job(bench, 'many', { every: 'hour', produce: () => [] });
    for (let hour = 0; hour < 40; hour++) {
      const at = new Date(Date.parse('2024-01-02') + hour * 3_600_000).toISOString().slice(0, 16);
      await run(hourly, `${at}Z`);
    }
    expect((await coverage(hourly)).counts.empty).toBe(40);
    const reads: string[] = [];
    const { store } = hourly.table;
    const get = store.get.bind(store);
    store.get = (key, options) => {
      reads.push(key);
      return get(key, options);
    };
    expect((await coverage(hourly)).counts.empty).toBe(40);
    expect(reads.filter((key) => key.startsWith('_intervale/runs/'))).toEqual([
      '_intervale/runs/events/rollup.jsonl',
    ]);
  });

  test('counts runs of an earlier calendar where they cover an interval', async () => {
    const daily = job(bench, 'migrated');
    await run(daily, '2024-01-02');
    const hourly = job(bench, 'migrated', { every: 'hour' });
    expect(await migrateCalendar(hourly, await hourly.table.latest.get())).toEqual({ changed: true });
    expect(await migrateCalendar(hourly, await hourly.table.latest.get())).toEqual({ changed: false });
    const { entries } = await coverage(hourly);
    expect(entries.filter(({ state }) => state === 'done').map(({ interval }) => interval.label)).toEqual(
      Array.from({ length: 24 }, (_, hour) => `2024-01-02T${String(hour).padStart(2, '0')}:00Z`),
    );
    await run(hourly, '2024-01-03T00:00Z');
    await expect(run(daily, '2024-01-04')).rejects.toMatchObject({ code: 'CALENDAR_CHANGED' });
  });

  test('does not call missing what the table may have forgotten', async () => {
    const properties = { 'delta.setTransactionRetentionDuration': 'interval 3 days' };
    const options = { create: { schema: 'ts timestamp, day date, id long, value string', properties } };
    const strict = job(bench, 'forgets', options);
    await expect(run(strict, '2024-01-02')).rejects.toThrow(/forget/);
    const daily = job(bench, 'forgets', { ...options, allowForgetting: true });
    await run(daily, '2024-01-02');
    expect(short(await coverage(daily))).toEqual({
      '01': 'unknown',
      '02': 'done',
      '03': 'unknown',
      '04': 'unknown',
      '05': 'missing',
      '06': 'missing',
      '07': 'missing',
      '08': 'open',
    });
  });
});

test('a pipeline of very many intervals is warned of, once', async () => {
  const warnings: string[] = [];
  const clock = { ...systemClock, now: () => bench.now };
  const onEvent = (event: RuntimeEvent): void => {
    if (event.type === 'warning') warnings.push(event.message);
  };
  const runtime = createRuntime({ workers: 1, fsync: false, clock, onEvent });
  try {
    for (const [every, start] of [
      ['minute', '2023-01-01'],
      ['hour', '2023-01-01'],
      ['minute', '2024-01-01'],
    ]) {
      const { definition } = job(bench, `many-${every}-${start}`, { every, start, produce: () => [] });
      const of = openJob(definition, runtime);
      const [first] = definition.calendar.between(definition.startMs, definition.startMs + 3_600_000);
      for (let i = 0; i < 2; i++) await runInterval(of, first!);
    }
    expect(warnings).toEqual([expect.stringContaining('has some 536400 intervals')]);
  } finally {
    await runtime.close();
  }
});

describe('keys in two intervals', () => {
  const rows = (
    of: Record<string, [id: number, value: string][]>,
  ): NonNullable<Parameters<typeof job>[2]> => ({
    produce: ({ interval }) =>
      (of[interval.label.slice(-2)] ?? []).map(([id, value]) => ({
        ts: interval.start,
        day: interval.date,
        id: BigInt(id),
        value,
      })),
  });
  const told = ({ keys }: Coverage) => ({
    ...keys,
    examples: keys!.examples
      .map(({ key, intervals }) => [key.id, key.value, intervals.map(({ label }) => label.slice(-2)).join()])
      .sort((a, b) => Number(a[0]) - Number(b[0])),
  });

  test('are told with the intervals that they lie in, for any column of intervals', async () => {
    for (const column of ['ts', 'day']) {
      const daily = job(bench, `keys-${column}`, {
        column,
        ...rows({
          '02': [
            [1, 'a'],
            [2, 'a'],
            [2, 'a'],
          ],
          '03': [
            [1, 'b'],
            [3, 'a'],
          ],
          '05': [
            [1, 'a'],
            [3, 'b'],
          ],
        }),
      });
      for (const label of ['2024-01-02', '2024-01-03', '2024-01-05']) await run(daily, label);
      expect(told(await coverage(daily, { keys: ['ID'] }))).toEqual({
        columns: ['id'],
        count: 2,
        examples: [
          [1n, undefined, '02,03,05'],
          [3n, undefined, '03,05'],
        ],
      });
      expect(told(await coverage(daily, { keys: ['id', 'value'] }))).toEqual({
        columns: ['id', 'value'],
        count: 1,
        examples: [[1n, 'a', '02,05']],
      });
      const range = { fromMs: Date.parse('2024-01-03'), untilMs: Date.parse('2024-01-06') };
      expect(told(await coverage(daily, { keys: ['id'], ...range })).examples).toEqual([
        [1n, undefined, '03,05'],
        [3n, undefined, '03,05'],
      ]);
      expect((await coverage(daily, { keys: ['id', column] })).keys).toMatchObject({
        count: 0,
        examples: [],
      });
      expect((await coverage(daily)).keys).toBeUndefined();
    }
  });

  test('are those of the pipeline, where it has one, and of its scope alone', async () => {
    const upsert = job(bench, 'keys-upsert', {
      mode: 'upsert',
      on: ['id'],
      scope: "value = 'ours'",
      ...rows({ '02': [[1, 'ours']], '03': [[2, 'ours']] }),
    });
    for (const label of ['2024-01-02', '2024-01-03']) await run(upsert, label);
    const table = await openTable(upsert.definition.url, { runtime: bench.runtime });
    await table.append([
      { ts: '2024-01-03T05:00:00Z', day: '2024-01-03', id: 1n, value: 'theirs' },
      { ts: null, day: '2024-01-03', id: 2n, value: 'ours' },
      { ts: '2023-01-03T05:00:00Z', day: '2023-01-03', id: 2n, value: 'ours' },
    ]);
    expect((await coverage(upsert, { keys: true })).keys).toMatchObject({ columns: ['id'], count: 0 });
    await table.append([{ ts: '2024-01-04T05:00:00Z', day: '2024-01-04', id: 2n, value: 'ours' }]);
    expect(told(await coverage(upsert, { keys: true }))).toMatchObject({
      count: 1,
      examples: [[2n, undefined, '03,04']],
    });
  });

  test('need columns that there are', async () => {
    const daily = job(bench, 'keys-none');
    await run(daily, '2024-01-02');
    await expect(coverage(daily, { keys: true })).rejects.toThrow(/no key/);
    await expect(coverage(daily, { keys: ['no'] })).rejects.toMatchObject({ code: 'UNKNOWN_COLUMN' });
  });
});
