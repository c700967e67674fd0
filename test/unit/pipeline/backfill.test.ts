import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openTable } from '../../../src/index.js';
import { parseInterval } from '../../../src/interval/argument.js';
import { type BackfillReport, executePlan } from '../../../src/pipeline/backfill.js';
import { coverage } from '../../../src/pipeline/coverage.js';
import { checkDefinition } from '../../../src/pipeline/definition.js';
import { type Job, openJob, prepareJob } from '../../../src/pipeline/job.js';
import { planBackfill, planCatchUp, type RunPlan } from '../../../src/pipeline/plan.js';
import { createRuntime } from '../../../src/runtime/runtime.js';
import { type Bench, contents, job, openBench, rowsAt, run } from './support.js';

let bench: Bench;
beforeAll(async () => {
  bench = await openBench('2024-01-11T12:00:00Z');
});
afterAll(() => bench.close());

const days = ({ items }: RunPlan): string[] => items.map(({ interval }) => interval.label.slice(-2));
const told = ({ outcomes }: BackfillReport): string[] =>
  outcomes.map(({ interval, status }) => `${interval.label.slice(-2)} ${status}`);

describe('a backfill', () => {
  test('plans the range without its end, then runs exactly that', async () => {
    const daily = job(bench, 'range');
    const plan = await planBackfill(daily, { from: '2024-01-05', to: '2024-01-07' });
    expect(days(plan)).toEqual(['05', '06']);
    expect(plan.items[0]).toMatchObject({ why: 'missing', attempt: 0, replaces: 0 });
    const seen: string[] = [];
    const report = await executePlan(daily, plan, {
      onOutcome: ({ interval }, { done, total }) => seen.push(`${interval.label} ${done}/${total}`),
    });
    expect(told(report)).toEqual(['05 committed', '06 committed']);
    expect(seen).toEqual(['2024-01-05 1/2', '2024-01-06 2/2']);
    expect(days(await planBackfill(daily, { from: '2024-01-05', to: '2024-01-07' }))).toEqual([]);
  });

  test.each([
    [{ from: '2024-01-07', to: '2024-01-05' }, /before its start/],
    [{ from: '2024-01-05T06:00', to: '2024-01-07' }, /no bound/],
    [{ from: '2024-01-05', to: '2024-01-07T12:00' }, /no bound/],
    [{ from: '2023-12-01' }, /before the pipeline's start/],
    [{ shard: { index: 2, of: 2 } }, /shard/],
    [{ reprocess: 'some' as 'all' }, /reprocess/],
  ])('refuses %j', async (range, message) => {
    await expect(planBackfill(job(bench, 'refuses'), range)).rejects.toThrow(message);
  });

  test('goes on after failures; resuming runs what failed, and then nothing', async () => {
    const broken = new Set(['2024-01-04', '2024-01-07']);
    const produced: string[] = [];
    const daily = job(bench, 'resume', {
      lookback: 3,
      produce: ({ interval }) => {
        produced.push(interval.label);
        if (broken.has(interval.label)) throw new Error('no source');
        return rowsAt(interval.startMs, interval.endMs);
      },
    });
    const range = { from: '2024-01-01', to: '2024-01-11' };
    const first = await executePlan(daily, await planBackfill(daily, range), { retries: 1, retryDelay: 1 });
    expect(first.counts).toMatchObject({ committed: 8, failed: 2 });
    expect(first.outcomes[3]).toMatchObject({ tries: 2, error: { code: 'Error' } });
    expect(first.outcomes[3]!.error!.message).toMatch(/^no source \(at .*backfill\.test\.ts:\d+:\d+\)$/);
    broken.clear();
    produced.length = 0;
    bench.now += 3 * 86_400_000;
    const second = await executePlan(daily, await planBackfill(daily, range));
    expect(produced).toEqual(['2024-01-04', '2024-01-07']);
    expect(second.counts.committed).toBe(2);
    expect((await executePlan(daily, await planBackfill(daily, range))).outcomes).toEqual([]);
    bench.now -= 3 * 86_400_000;
  });

  test('does not try again what cannot pass', async () => {
    const daily = job(bench, 'input', { produce: () => [{ ts: null }] });
    const plan = await planBackfill(daily, { from: '2024-01-05', to: '2024-01-06' });
    const { outcomes } = await executePlan(daily, plan, { retries: 5 });
    expect(outcomes[0]).toMatchObject({ status: 'failed', tries: 1, error: { code: 'OUTSIDE_TARGET' } });
  });

  test('runs again what is stale or everything, backwards, in lists and in parts', async () => {
    const daily = job(bench, 'again');
    await executePlan(daily, await planBackfill(daily, { to: '2024-01-05' }));
    expect(days(await planBackfill(daily, { order: 'backwards' }))).toEqual([
      '10',
      '09',
      '08',
      '07',
      '06',
      '05',
    ]);
    expect(days(await planBackfill(daily, { reprocess: 'completed', to: '2024-01-04' }))).toEqual([
      '01',
      '02',
      '03',
    ]);
    const intervals = ['2024-01-02', '2024-01-09'].map((label) =>
      parseInterval(daily.definition.calendar, label),
    );
    expect(days(await planBackfill(daily, { intervals, reprocess: 'all' }))).toEqual(['02', '09']);
    expect(days(await planBackfill(daily, { intervals }))).toEqual(['09']);
    const parts = await Promise.all(
      [0, 1, 2].map(async (index) => days(await planBackfill(daily, { shard: { index, of: 3 } }))),
    );
    expect(parts).toEqual([
      ['07', '10'],
      ['05', '08'],
      ['06', '09'],
    ]);
  });

  test('takes rows that went missing for missing, and leaves rows that came', async () => {
    const daily = job(bench, 'lost');
    await executePlan(daily, await planBackfill(daily));
    const table = await openTable(daily.definition.url, { runtime: bench.runtime });
    await table.delete({ where: "day = '2024-01-03' AND hour(ts) = 0" });
    await table.append(rowsAt(Date.parse('2024-01-05'), Date.parse('2024-01-06')));
    const plan = await planBackfill(daily);
    expect(plan.items.map(({ interval, why }) => [interval.label, why])).toEqual([['2024-01-03', 'changed']]);
    expect(plan.left).toMatchObject({ changed: 1, done: 8 });
  });

  test('many at once, into one file', async () => {
    const monthly = job(bench, 'one-file', {
      create: { schema: 'ts timestamp, day date, id long, value string' },
    });
    await executePlan(monthly, await planBackfill(monthly), { maxActive: 16 });
    const before = await contents(monthly);
    const table = await openTable(monthly.definition.url, { runtime: bench.runtime });
    await table.overwrite(await table.scan().toArray(), { all: true });
    const plan = await planBackfill(monthly, { reprocess: 'all' });
    const report = await executePlan(monthly, plan, { maxActive: 16 });
    expect(report.counts.committed).toBe(10);
    expect(await contents(monthly)).toEqual(before);
  });

  test('stops between intervals when it is to drain, and at once when it is to stop', async () => {
    for (const how of ['drain', 'signal'] as const) {
      const stop = new AbortController();
      const daily = job(bench, `stop-${how}`, {
        async *produce({ interval }) {
          if (interval.label === '2024-01-03') stop.abort();
          yield* rowsAt(interval.startMs, interval.endMs);
        },
      });
      const report = await executePlan(daily, await planBackfill(daily), { [how]: stop.signal });
      expect(report.stopped).toBe(true);
      expect(report.counts).toMatchObject(
        how === 'drain' ? { committed: 3, 'not-run': 7 } : { committed: 2, 'not-run': 8 },
      );
      expect((await coverage(daily)).counts.done).toBe(report.counts.committed);
    }
  });

  test('four workers that know nothing of each other produce hardly anything twice', async () => {
    let produced = 0;
    const definition = checkDefinition({
      name: 'shared',
      table: bench.url('workers'),
      create: { schema: 'ts timestamp, id long' },
      every: 'hour',
      start: '2024-01-01',
      column: 'ts',
      async produce({ interval }) {
        produced++;
        await new Promise((resolve) => setTimeout(resolve, 5));
        return [{ ts: interval.start, id: 1n }];
      },
    });
    const runtimes = [1, 2, 3, 4].map(() =>
      createRuntime({ workers: 1, fsync: false, clock: bench.runtime.context.clock }),
    );
    const jobs: Job[] = runtimes.map((runtime) => openJob(definition, runtime));
    const reports = await Promise.all(
      jobs.map(async (each) => executePlan(each, await planBackfill(each, { to: '2024-01-05T04:00' }))),
    );
    expect((await coverage(jobs[0]!)).counts.done).toBe(100);
    expect(reports.every(({ counts }) => counts.failed === 0)).toBe(true);
    expect(reports.reduce((sum, { counts }) => sum + counts.committed, 0)).toBe(100);
    expect(produced).toBeLessThanOrEqual(105);
    await Promise.all(runtimes.map((runtime) => runtime.close()));
  });
});

describe('a worker that comes later', () => {
  test('is not a step behind one that claims nothing', async () => {
    const produced = { first: [] as string[], second: [] as string[] };
    const told = new Set<string>();
    let atWork: string | undefined;
    let isFree = false;
    const until = async (holds: () => boolean): Promise<void> => {
      while (!holds()) await new Promise((resolve) => setImmediate(resolve));
    };
    /** The first is by itself by its sixth interval, and then goes on whenever the second has begun one, for a while. */
    const firstWaits = async (label: string): Promise<void> => {
      atWork = label;
      produced.first.push(label);
      const before = produced.second.length;
      isFree ||= label >= '2024-01-01T15';
      if (label >= '2024-01-01T05' && !isFree) await until(() => produced.second.length > before);
      atWork = undefined;
    };
    /** The second always loses an interval that the first is at. */
    const secondWaits = async (label: string): Promise<void> => {
      await until(() => atWork !== undefined || isFree);
      const isBoth = atWork === label;
      produced.second.push(label);
      if (isBoth) await until(() => told.has(label));
    };
    const worker = (wait: (label: string) => Promise<void>) => {
      const runtime = createRuntime({ workers: 1, fsync: false, clock: bench.runtime.context.clock });
      const definition = checkDefinition({
        name: 'joined',
        table: bench.url('joined'),
        create: { schema: 'ts timestamp, id long' },
        every: 'hour',
        start: '2024-01-01',
        column: 'ts',
        async produce({ interval }) {
          await wait(interval.label);
          return [{ ts: interval.start, id: 1n }];
        },
      });
      return { runtime, job: openJob(definition, runtime) };
    };
    const [first, second] = [worker(firstWaits), worker(secondWaits)];
    const range = { to: '2024-01-02T00:00' };
    const running = executePlan(first.job, await planBackfill(first.job, range), {
      onOutcome: ({ interval }) => told.add(interval.label),
    });
    await until(() => atWork !== undefined && atWork >= '2024-01-01T05');
    const later = await executePlan(second.job, await planBackfill(second.job, range));
    const { counts } = await running;
    expect(counts.committed + later.counts.committed).toBe(24);
    expect(later.counts.committed).toBeGreaterThan(1);
    expect(produced.first.length + produced.second.length).toBeLessThanOrEqual(26);
    await Promise.all([first, second].map(({ runtime }) => runtime.close()));
  });
});

describe('a catch-up', () => {
  test('runs what has ended and is missing, and looks back', async () => {
    const daily = job(bench, 'catch-up', { lookback: 2 });
    const plan = await planCatchUp(daily, { until: '2024-01-05' });
    expect(days(plan)).toEqual(['01', '02', '03', '04']);
    await executePlan(daily, plan);
    expect(days(await planCatchUp(daily, { until: '2024-01-05' }))).toEqual(['03', '04']);
    expect(days(await planCatchUp(daily, { until: '2024-01-05', lookback: 0 }))).toEqual([]);
    expect(days(await planCatchUp(daily))).toEqual(['05', '06', '07', '08', '09', '10']);
  });

  test('waits for its cadence', async () => {
    const daily = job(bench, 'cadence', { cadence: '0 18 * * *' });
    expect(days(await planCatchUp(daily)).at(-1)).toBe('09');
  });

  test('has nothing to do before the start', async () => {
    const daily = job(bench, 'later', { start: '2024-02-01' });
    expect(days(await planCatchUp(daily))).toEqual([]);
    expect((await coverage(daily)).entries).toEqual([]);
    // Looking alone records no calendar.
    await prepareJob(daily);
    expect(
      await run(
        job(bench, 'later', { start: '2024-01-01', name: 'x', scope: 'id = 1', produce: () => [] }),
        '2024-01-02',
      ).catch((e) => e.code),
    ).toBe('SCOPE_OVERLAP');
  });
});
