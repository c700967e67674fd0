import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createTable, openTable } from '../../../src/index.js';
import { coverage } from '../../../src/pipeline/coverage.js';
import { definePipeline, type Pipeline } from '../../../src/pipeline/pipeline.js';
import { planCatchUp } from '../../../src/pipeline/plan.js';
import type { Row } from '../../../src/schema/rows-in.js';
import { type Bench, contents, EVENTS, job, openBench, rowsAt, run } from './support.js';

let bench: Bench;
beforeAll(async () => {
  bench = await openBench('2024-01-08T12:00:00Z');
});
afterAll(() => bench.close());

function pipeline(name: string, produce: (startMs: number, endMs: number) => Row[]): Pipeline {
  return definePipeline(
    {
      name: 'events',
      table: bench.url(name),
      create: { schema: EVENTS, partitionBy: ['day'] },
      every: 'day',
      start: '2024-01-01',
      column: 'ts',
      produce: ({ interval }) => produce(interval.startMs, interval.endMs),
    },
    bench.runtime,
  );
}

describe('verify', () => {
  test('finds the same rows, in any order, and commits nothing', async () => {
    let isReversed = false;
    const events = pipeline('same', (from, to) =>
      isReversed ? rowsAt(from, to).reverse() : rowsAt(from, to),
    );
    await events.run('2024-01-05');
    isReversed = true;
    const found = await events.verify('2024-01-05');
    expect(found).toMatchObject({ status: 'same', attempt: 1, recorded: { rows: 2 }, live: { rows: 2 } });
    expect((await (await openTable(events.url, { runtime: bench.runtime })).snapshot()).version).toBe(1);
    expect((await events.verify('2024-01-06')).status).toBe('not-run');
  });

  test('shows rows that only one side has, unless their columns are ignored', async () => {
    let value = 'a';
    const events = pipeline('differs', (from, to) => [
      ...rowsAt(from, to, 'same'),
      { ...rowsAt(from, to)[0], id: 7n, value },
    ]);
    await events.run('2024-01-05');
    value = 'b';
    const found = await events.verify('2024-01-05');
    expect(found).toMatchObject({ status: 'differs', unstable: false });
    expect(found.onlyProduced.map((row) => row.value)).toEqual(['b']);
    expect(found.onlyInTable.map((row) => row.value)).toEqual(['a']);
    expect((await events.verify('2024-01-05', { ignore: ['VALUE'] })).status).toBe('same');
  });

  test('sees a row that others added, and a producer that never gives the same twice', async () => {
    let count = 0;
    const events = pipeline('others', (from, to) => rowsAt(from, to));
    await events.run('2024-01-05');
    const table = await openTable(events.url, { runtime: bench.runtime });
    await table.append([{ ...rowsAt(Date.parse('2024-01-05'), Date.parse('2024-01-06'))[0] }]);
    const found = await events.verify('2024-01-05');
    expect([found.status, found.onlyProduced.length, found.onlyInTable.length]).toEqual(['differs', 0, 1]);
    const random = pipeline('random', (from, to) => rowsAt(from, to, `${count++}`));
    await random.run('2024-01-05');
    expect((await random.verify('2024-01-05')).unstable).toBe(true);
  });
});

describe('undo', () => {
  test('brings the rows back as a new attempt, which a catch-up leaves alone', async () => {
    let value = 'a';
    const events = job(bench, 'undo', {
      produce: ({ interval }) => rowsAt(interval.startMs, interval.endMs, value),
    });
    const undo = definePipeline({ ...base('undo') }, bench.runtime);
    for (const label of ['2024-01-05', '2024-01-06']) await run(events, label);
    const before = await contents(events);
    value = 'wrong';
    await run(events, '2024-01-05');
    expect(await undo.undo('2024-01-05')).toMatchObject({ status: 'committed', attempt: 3, rows: 2 });
    expect(await contents(events)).toEqual(before);
    const { entries } = await coverage(events);
    expect(entries.find(({ interval }) => interval.label === '2024-01-05')).toMatchObject({
      state: 'undone',
      attempt: 3,
    });
    const plan = await planCatchUp(events, { until: '2024-01-07', lookback: 2 });
    expect(plan.items.map(({ interval }) => interval.label)).not.toContain('2024-01-05');
    await run(events, '2024-01-05');
    expect((await coverage(events)).counts).toMatchObject({ undone: 0, done: 2 });
  });

  test('of the first run leaves the interval empty; files that are gone are named', async () => {
    const events = job(bench, 'undo-first');
    const undo = definePipeline({ ...base('undo-first') }, bench.runtime);
    await run(events, '2024-01-05');
    const [file] = Array.from((await events.table.latest.get()).files.ids(), (id) => id);
    const path = (await events.table.latest.get()).files.path(file!);
    expect(await undo.undo('2024-01-05')).toMatchObject({ rows: 0 });
    expect(await contents(events)).toEqual([]);
    await events.table.store.delete(decodeURIComponent(path));
    await expect(undo.undo('2024-01-05', { toVersion: 1 })).rejects.toMatchObject({
      code: 'FILE_NOT_FOUND',
      context: { files: [path] },
    });
    await expect(undo.undo('2024-01-06')).rejects.toThrow(/nothing to undo/);
  });
});

function base(name: string) {
  return {
    name: 'events',
    table: bench.url(name),
    every: 'day',
    start: '2024-01-01',
    column: 'ts',
    produce: () => [],
  };
}

describe('blame', () => {
  test('names the last run of the intervals that rows lie in', async () => {
    const events = job(bench, 'blame', { codeVersion: 'v1' });
    for (const label of ['2024-01-05', '2024-01-06']) await run(events, label);
    await run(events, '2024-01-05');
    const table = await openTable(events.definition.url, { runtime: bench.runtime });
    await table.append(rowsAt(Date.parse('2024-01-06'), Date.parse('2024-01-07')));
    await table.append(rowsAt(Date.parse('2023-01-06'), Date.parse('2023-01-07')));
    const found = await definePipeline({ ...base('blame') }, bench.runtime).blame("value = 'a'");
    expect(
      found.map(({ interval, rows, run: by, state }) => [interval?.label, rows, by?.attempt, state]),
    ).toEqual([
      [undefined, 2, undefined, undefined],
      ['2024-01-05', 2, 2, 'done'],
      ['2024-01-06', 4, 1, 'changed'],
    ]);
  });
});

describe('a pipeline', () => {
  test('backfills, tells its runs, its gaps and its failures', async () => {
    const events = pipeline('whole', (from, to) => {
      if (from === Date.parse('2024-01-03')) throw new Error('no source');
      return rowsAt(from, to);
    });
    let planned = 0;
    const onPlan = ({ items }: { items: readonly unknown[] }): void => {
      planned = items.length;
    };
    expect((await events.backfill({ to: '2024-01-06', dryRun: true, onPlan })).report).toBeUndefined();
    expect(planned).toBe(5);
    const { report } = await events.backfill({ to: '2024-01-06', retries: 0 });
    expect(report!.counts).toMatchObject({ committed: 4, failed: 1 });
    const { committed, failed } = await events.runs();
    expect(committed.map(({ label }) => label)).toEqual([
      '2024-01-01',
      '2024-01-02',
      '2024-01-04',
      '2024-01-05',
    ]);
    expect(failed.map(({ label, error }) => [label, error.message])).toEqual([
      ['2024-01-03', expect.stringMatching(/^no source \(at /)],
    ]);
    expect(await events.gaps()).toEqual([
      { startMs: Date.parse('2024-01-03'), endMs: Date.parse('2024-01-04') },
      { startMs: Date.parse('2024-01-06'), endMs: Date.parse('2024-01-08') },
    ]);
    expect((await events.attempts('2024-01-03')).map(({ status }) => status)).toEqual(['failed']);
    expect((await events.coverage({ from: '2024-01-03', to: '2024-01-05' })).entries).toHaveLength(2);
  });

  test('is checked when it is defined', () => {
    const good = { ...base('checked') };
    for (const [change, message] of [
      [{ name: '' }, /name/],
      [{ mode: 'append' }, /mode/],
      [{ mode: 'upsert' }, /key/],
      [{ on: ['id'] }, /upsert/],
      [{ every: '0 0 * * *' }, /cron/],
      [{ start: '2024-01-01T05:00' }, /no bound/],
      [{ timeZone: 'Nowhere' }, /time zone/],
      [{ lookback: -1 }, /lookback/],
      [{ cadence: 'daily' }, /cron/],
      [{ produce: undefined }, /produce/],
      [{ column: '' }, /column/],
    ] as const) {
      expect(() => definePipeline({ ...good, ...(change as object) })).toThrow(message);
    }
    expect(() => definePipeline(good).run('2024-01')).toThrow(/several intervals/);
  });

  test('works on a table that was there before', async () => {
    const table = await createTable(bench.url('before'), {
      runtime: bench.runtime,
      schema: EVENTS,
      partitionBy: ['day'],
    });
    await table.append(rowsAt(Date.parse('2024-01-05'), Date.parse('2024-01-06'), 'old'));
    const events = pipeline('before', (from, to) => rowsAt(from, to));
    await events.run('2024-01-05');
    expect(await table.count({ where: "value = 'old'" })).toBe(0);
    await expect(
      definePipeline({ ...base('nowhere') }, bench.runtime).run('2024-01-05'),
    ).rejects.toMatchObject({
      code: 'NOT_A_TABLE',
    });
  });
});
