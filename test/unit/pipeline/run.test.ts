import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createTable } from '../../../src/index.js';
import { parseInterval } from '../../../src/interval/argument.js';
import { readHistory } from '../../../src/log/history.js';
import type { Definition, ProduceContext } from '../../../src/pipeline/definition.js';
import { factsOfCommit } from '../../../src/pipeline/facts.js';
import { type Job, openJob } from '../../../src/pipeline/job.js';
import { attemptOf, readLedger } from '../../../src/pipeline/ledger.js';
import { readNotes } from '../../../src/pipeline/notes.js';
import { type Bench, contents, EVENTS, type Gate, gate, job, openBench, rowsAt, run } from './support.js';

let bench: Bench;
beforeAll(async () => {
  bench = await openBench();
});
afterAll(() => bench.close());

async function lastFacts(of: Job) {
  const { metadata } = await of.table.latest.get();
  for await (const entry of readHistory(of.table.store, { metadata, limit: 1 })) return entry;
  throw new Error('no history');
}

const newer: Definition['produce'] = ({ interval }) => rowsAt(interval.startMs, interval.endMs, 'new');

describe('a run', () => {
  test('keeps what its table demands of rows', async () => {
    const create = {
      schema: EVENTS,
      partitionBy: ['day'],
      properties: { 'delta.constraints.known': "value <> 'a'" },
    };
    await expect(run(job(bench, 'constrained', { create }), '2024-01-05')).rejects.toMatchObject({
      code: 'INVALID_ROW',
      context: { constraint: 'CHECK constraint known' },
    });
  });

  test('commits its rows with its entry, its facts and a note', async () => {
    const daily = job(bench, 'once', { codeVersion: 'abc' });
    const result = await run(daily, '2024-01-05');
    expect(result).toMatchObject({ status: 'committed', attempt: 1, rows: 2, version: 1 });
    const { commitInfo } = await lastFacts(daily);
    const facts = factsOfCommit(commitInfo)!;
    expect(facts).toMatchObject({
      pipeline: 'events',
      label: '2024-01-05',
      attempt: 1,
      codeVersion: 'abc',
      rows: 2,
    });
    expect(JSON.parse(commitInfo!.userMetadata!)).toEqual({ intervale: facts });
    const interval = parseInterval(daily.definition.calendar, '2024-01-05');
    expect(await readNotes(daily.table, 'events', interval)).toEqual([
      { status: 'committed', version: 1, ...facts },
    ]);
  });

  test('replaces what the last run of the interval wrote, and nothing else', async () => {
    let value = 'a';
    const daily = job(bench, 'again', {
      produce: ({ interval }) => rowsAt(interval.startMs, interval.endMs, value),
    });
    await run(daily, '2024-01-05');
    await run(daily, '2024-01-06');
    const once = await contents(daily);
    const second = await run(daily, '2024-01-05');
    expect(second).toMatchObject({ status: 'committed', attempt: 2 });
    expect(await contents(daily)).toEqual(once);
    value = 'b';
    await run(daily, '2024-01-05');
    const rows = await contents(daily);
    expect(rows).toHaveLength(4);
    expect(rows.filter((row) => row.includes('"b"'))).toHaveLength(2);
  });

  test('adds the columns that its rows have, where it may, in the same commit', async () => {
    const produce = ({ interval: { startMs, endMs } }: ProduceContext) =>
      rowsAt(startMs, endMs).map((row) => ({ ...row, channel: 'web' }));
    const strict = job(bench, 'columns', { produce });
    await expect(run(strict, '2024-01-05')).rejects.toMatchObject({ code: 'UNKNOWN_COLUMN' });
    for (const mode of ['replace', 'upsert', 'append-once'] as const) {
      const name = `columns-${mode}`;
      const key = mode === 'upsert' ? { on: ['id'] } : {};
      await run(job(bench, name, { mode, ...key }), '2024-01-04');
      const evolving = job(bench, name, { mode, ...key, produce, evolve: 'add-columns' });
      expect(await run(evolving, '2024-01-05')).toMatchObject({ status: 'committed', version: 2, rows: 2 });
      const { schema } = await evolving.table.latest.get();
      expect(schema.fields.map((field) => field.name)).toEqual(['ts', 'day', 'id', 'value', 'channel']);
      expect((await contents(evolving)).filter((row) => row.includes('"web"'))).toHaveLength(2);
    }
  });

  test('that adds a column goes on when another run added the same', async () => {
    const gates = [gate(), gate()];
    const adding = (name: string, hour: number, at: Gate) =>
      job(bench, 'columns-raced', {
        name,
        scope: `value = '${name}'`,
        evolve: 'add-columns',
        produce: async ({ interval: { startMs, endMs } }) => {
          await at.opened;
          return rowsAt(startMs, endMs, name).map((row) => ({ ...row, channel: hour }));
        },
      });
    const jobs = [adding('a', 1, gates[0]!), adding('b', 2, gates[1]!)];
    const second = run(jobs[1]!, '2024-01-05');
    gates[0]!.open();
    await run(jobs[0]!, '2024-01-05');
    gates[1]!.open();
    expect(await second).toMatchObject({ status: 'committed', rows: 2 });
    expect((await contents(jobs[0]!)).filter((row) => row.includes('"channel"'))).toHaveLength(4);
  });

  test('an older interval after a newer one is written', async () => {
    const daily = job(bench, 'older');
    await run(daily, '2024-01-05');
    expect((await run(daily, '2024-01-01')).status).toBe('committed');
    expect(await contents(daily)).toHaveLength(4);
  });

  test('without rows clears the interval and is done', async () => {
    let isEmpty = false;
    const daily = job(bench, 'cleared', {
      produce: ({ interval }) => (isEmpty ? [] : rowsAt(interval.startMs, interval.endMs)),
    });
    await run(daily, '2024-01-05');
    isEmpty = true;
    expect(await run(daily, '2024-01-05')).toMatchObject({ status: 'committed', attempt: 2, rows: 0 });
    expect(await contents(daily)).toEqual([]);
    expect(readLedger(await daily.table.latest.get(), 'events').size).toBe(1);
  });

  test('refuses rows outside of the interval, NULL included, and leaves the table as it was', async () => {
    for (const [name, outside] of [
      ['next', { ts: '2024-01-06T00:00:00Z', day: '2024-01-06' }],
      ['null', { ts: null, day: '2024-01-05' }],
    ] as const) {
      const daily = job(bench, `outside-${name}`, {
        produce: ({ interval }) => [...rowsAt(interval.startMs, interval.endMs), outside],
      });
      await expect(run(daily, '2024-01-05')).rejects.toMatchObject({
        code: 'OUTSIDE_TARGET',
        context: { rows: 1 },
      });
      expect((await daily.table.latest.get()).version).toBe(0);
    }
  });

  test('that fails halfway leaves the old rows and no entry, but a note', async () => {
    let fails = false;
    const daily = job(bench, 'fails', {
      async *produce({ interval }) {
        yield* rowsAt(interval.startMs, interval.endMs);
        if (fails) throw new Error('the source is gone');
      },
    });
    await run(daily, '2024-01-05');
    const before = await contents(daily);
    fails = true;
    await expect(run(daily, '2024-01-05')).rejects.toThrow('the source is gone');
    expect(await contents(daily)).toEqual(before);
    const interval = parseInterval(daily.definition.calendar, '2024-01-05');
    expect(attemptOf(await daily.table.latest.get(), 'events', interval)).toBe(1);
    const notes = await readNotes(daily.table, 'events', interval);
    expect(notes.map(({ status, attempt }) => [status, attempt])).toEqual([
      ['committed', 1],
      ['failed', 2],
    ]);
    fails = false;
    expect((await run(daily, '2024-01-05')).attempt).toBe(2);
  });

  test('that wakes up late is superseded, unless it is to produce again', async () => {
    let [released, reached] = [gate(), gate()];
    let isSlow = false;
    const late = job(bench, 'late', {
      async *produce({ interval }) {
        const slow = isSlow;
        isSlow = false;
        yield* rowsAt(interval.startMs, interval.endMs, slow ? 'late' : 'new');
        if (!slow) return;
        reached.open();
        await released.opened;
      },
    });
    for (const force of [false, true]) {
      [released, reached, isSlow] = [gate(), gate(), true];
      const slow = run(late, '2024-01-05', { force });
      await reached.opened;
      await run(late, '2024-01-05');
      released.open();
      expect((await slow).status).toBe(force ? 'committed' : 'superseded');
      const rows = await contents(late);
      expect(rows).toHaveLength(2);
      expect(rows.every((row) => row.includes('"new"'))).toBe(true);
    }
  });

  test('that is held up right before its commit is superseded by another process', async () => {
    const daily = job(bench, 'held-up', {
      produce: ({ interval }) => rowsAt(interval.startMs, interval.endMs, 'old'),
    });
    await run(daily, '2024-01-04');
    const others = await openBench();
    try {
      const { store } = daily.table;
      const [reached, released] = [gate(), gate()];
      const put = store.putIfAbsent.bind(store);
      store.putIfAbsent = async (key, ...rest) => {
        if (key.startsWith('_delta_log/')) {
          reached.open();
          await released.opened;
        }
        return put(key, ...rest);
      };
      const held = run(daily, '2024-01-05');
      await reached.opened;
      const definition = { ...daily.definition, produce: newer };
      const other = openJob(definition, others.runtime);
      expect(await run(other, '2024-01-05')).toMatchObject({ status: 'committed', attempt: 1 });
      released.open();
      expect(await held).toMatchObject({ status: 'superseded', attempt: 1 });
      store.putIfAbsent = put;
      const rows = (await contents(daily)).filter((row) => row.includes('2024-01-05'));
      expect(rows.map((row) => JSON.parse(row).value)).toEqual(['new', 'new']);
      // What it had staged is gone.
      const { files } = await daily.table.latest.get();
      const live = new Set(Array.from(files.ids(), (id) => decodeURIComponent(files.path(id))));
      for await (const page of store.list('day='))
        for (const { key } of page) expect([key, live.has(key)]).toEqual([key, true]);
    } finally {
      await others.close();
    }
  });

  test('adds once where rows are appended', async () => {
    const once = job(bench, 'append', { mode: 'append-once' });
    await run(once, '2024-01-05');
    expect(await run(once, '2024-01-05')).toMatchObject({ status: 'skipped', attempt: 1 });
    expect(await contents(once)).toHaveLength(2);
  });

  test('puts rows by key and keeps the newer one, in any order of intervals', async () => {
    const make = (name: string) =>
      job(bench, name, {
        mode: 'upsert',
        on: ['id'],
        order: 'ts',
        produce: ({ interval }) => [
          { ts: interval.start, day: interval.label, id: 1n, value: interval.label },
          { ts: interval.start, day: interval.label, id: BigInt(interval.startMs), value: 'x' },
        ],
      });
    const [forwards, backwards] = [make('upsert-f'), make('upsert-b')];
    for (const label of ['2024-01-05', '2024-01-06']) await run(forwards, label);
    for (const label of ['2024-01-06', '2024-01-05', '2024-01-06']) await run(backwards, label);
    expect(await contents(backwards)).toEqual(await contents(forwards));
    expect((await contents(forwards)).filter((row) => row.includes('"id":"1"'))[0]).toContain('2024-01-06');
  });

  test('does not take an interval that is open, before the start, or of another calendar', async () => {
    const daily = job(bench, 'refused');
    await expect(run(daily, '2024-02-01')).rejects.toThrow(/has not ended/);
    await expect(run(daily, '2023-12-31')).rejects.toThrow(/before the start/);
    await run(daily, '2024-01-05');
    const hourly = job(bench, 'refused', { every: 'hour' });
    await expect(run(hourly, '2024-01-05T01:00')).rejects.toMatchObject({ code: 'CALENDAR_CHANGED' });
  });

  test('keeps to its scope, and a second pipeline has to be apart', async () => {
    const scoped = (name: string, value: string) =>
      job(bench, 'scoped', {
        name,
        scope: `value = '${value}'`,
        produce: ({ interval }) => rowsAt(interval.startMs, interval.endMs, value),
      });
    await run(scoped('web', 'web'), '2024-01-05');
    await run(scoped('app', 'app'), '2024-01-05');
    await run(scoped('web', 'web'), '2024-01-05');
    expect(await contents(scoped('web', 'web'))).toHaveLength(4);
    await expect(run(scoped('other', 'web'), '2024-01-05')).rejects.toMatchObject({ code: 'SCOPE_OVERLAP' });
    await expect(run(job(bench, 'scoped', { name: 'all' }), '2024-01-05')).rejects.toMatchObject({
      code: 'SCOPE_OVERLAP',
    });
  });

  test('records what it read, and reads it again where that is asked', async () => {
    const source = job(bench, 'source');
    await run(source, '2024-01-05');
    const seen: number[] = [];
    const derived = job(bench, 'derived', {
      async *produce({ interval, read }) {
        const scan = await read(source.definition.url, { where: `day = '${interval.label}'` });
        const rows = await scan.toArray();
        seen.push(rows.length);
        yield* rows;
      },
    });
    await run(derived, '2024-01-05');
    await run(job(bench, 'source', { produce: () => [] }), '2024-01-05');
    await run(derived, '2024-01-05', { asRecorded: true });
    await run(derived, '2024-01-05');
    expect(seen).toEqual([2, 2, 0]);
    const { commitInfo } = await lastFacts(derived);
    expect(factsOfCommit(commitInfo)!.inputs).toMatchObject([{ version: 2, where: "day = '2024-01-05'" }]);
  });

  test.each([
    [
      'ts',
      'Europe/Berlin',
      "ts >= TIMESTAMP '2024-01-04T23:00:00Z' AND ts < TIMESTAMP '2024-01-05T23:00:00Z'",
      2,
    ],
    ['day', 'Europe/Berlin', "day >= DATE '2024-01-05' AND day < DATE '2024-01-06'", 1],
    ['value', 'UTC', "value = '2024-01-05'", 1],
  ])('reads the rows of its interval by %s in %s', async (column, timeZone, where, count) => {
    const source = await createTable(bench.url(`during-${column}`), {
      schema: EVENTS,
      runtime: bench.runtime,
    });
    const row = (ts: string, day: string, value: string) => ({ ts, day, id: 1, value });
    await source.append([
      row('2024-01-04T22:59:59.999999Z', '2024-01-04', 'a'),
      row('2024-01-04T23:00:00Z', '2024-01-04', '2024-01-04'),
      row('2024-01-05T22:59:59.999999Z', '2024-01-05', '2024-01-05'),
      row('2024-01-05T23:00:00Z', '2024-01-06', 'b'),
    ]);
    let seen = 0;
    const derived = job(bench, `from-${column}`, {
      timeZone,
      async produce({ read }) {
        seen = await (await read(source, { during: column, where: 'id = 1' })).count();
        return [];
      },
    });
    await run(derived, '2024-01-05');
    expect(seen).toBe(count);
    const { commitInfo } = await lastFacts(derived);
    expect(factsOfCommit(commitInfo)!.inputs[0]!.where).toBe(`${where} AND id = 1`);
  });

  test('does not read by a column that cannot be cut', async () => {
    const source = await createTable(bench.url('uncut'), { schema: EVENTS, runtime: bench.runtime });
    const reading = (column: string) =>
      job(bench, 'from-uncut', {
        async produce({ read }) {
          return (await read(source, { during: column })).batches();
        },
      });
    await expect(run(reading('id'), '2024-01-05')).rejects.toThrow(
      /'id' of type bigint cannot be cut every day/,
    );
    await expect(run(reading('tss'), '2024-01-05')).rejects.toMatchObject({ code: 'UNKNOWN_COLUMN' });
  });

  test('that reads its own target is produced again when that changed', async () => {
    const gates = new Map<string, Gate>();
    const hasRead = gate();
    const produced: string[] = [];
    const totals = job(bench, 'totals', {
      async *produce({ interval, read }) {
        const before = interval.startMs - 86_400_000;
        const scan = await read(totals.definition.url, {
          where: `day = '${new Date(before).toISOString().slice(0, 10)}'`,
        });
        const [last] = await scan.toArray();
        produced.push(interval.label);
        if (gates.has(interval.label)) hasRead.open();
        await gates.get(interval.label)?.opened;
        yield { ts: interval.start, day: interval.label, id: ((last?.id as bigint) ?? 0n) + 1n };
      },
    });
    const held = gate();
    gates.set('2024-01-06', held);
    const later = run(totals, '2024-01-06');
    await hasRead.opened;
    await run(totals, '2024-01-05');
    held.open();
    expect((await later).status).toBe('committed');
    expect((await contents(totals)).map((row) => JSON.parse(row).id)).toEqual(['1', '2']);
    expect(produced).toEqual(['2024-01-06', '2024-01-05', '2024-01-06']);
  });
});
