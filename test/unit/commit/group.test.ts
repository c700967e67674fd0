import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import type { TableError } from '../../../src/index.js';
import { serializeActions } from '../../../src/log/action-lines.js';
import { commitPath } from '../../../src/log/paths.js';
import { systemClock } from '../../../src/runtime/system.js';
import type { TableContext } from '../../../src/runtime/table-context.js';
import { Pool } from '../../../src/stage/pool.js';
import { MemoryObjects, MemoryStore } from '../../../src/store/memory.js';
import { Table } from '../../../src/table.js';
import { create } from '../../../src/write/create.js';
import { fakeContext } from '../../support/fake-context.js';
import { tableContextOver } from '../../support/table-context.js';

const ctx = fakeContext(systemClock);
const pool = new Pool(ctx, { workers: 1 });
let context: TableContext;
let table: Table;
let names = 0;

beforeEach(async () => {
  context = tableContextOver(
    new MemoryStore(ctx, `memory://group-${++names}`, new MemoryObjects()),
    ctx,
    pool,
  );
  await create(context, { schema: 'id long, p string', partitionBy: ['p'] });
  table = new Table(context);
});
afterAll(() => pool.close());

/** Keeps the table's line busy until the function it gives is called, so that what comes meanwhile waits. */
function holdLine(): () => void {
  let release: () => void = () => undefined;
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  void context.queue.run(() => held);
  return release;
}

async function stagedAppends(count: number, options: (i: number) => object = () => ({})) {
  return Promise.all(
    Array.from({ length: count }, (_, i) => table.stage([{ id: i, p: `p${i}` }], 'append', options(i))),
  );
}

async function ids(): Promise<number[]> {
  return (await table.scan().toArray()).map(({ id }) => Number(id)).sort((a, b) => a - b);
}

async function dataFiles(): Promise<number> {
  let count = 0;
  for await (const page of context.store.list('')) {
    count += page.filter(({ key }) => key.endsWith('.parquet')).length;
  }
  return count;
}

async function history() {
  const entries = [];
  for await (const entry of table.history()) entries.push(entry);
  return entries;
}

describe('appends that wait together', () => {
  test('are one commit, and each is told its own share', async () => {
    const staged = await stagedAppends(5);
    const release = holdLine();
    const all = Promise.all(staged.map((write) => write.commit()));
    release();
    const results = await all;
    for (const result of results) {
      expect(result).toMatchObject({ status: 'committed', version: 1, attempts: 1 });
      expect(result.added).toMatchObject({ files: 1, rows: 1 });
    }
    expect(await ids()).toEqual([0, 1, 2, 3, 4]);
    const [last] = await history();
    expect(last?.commitInfo).toMatchObject({
      operation: 'WRITE',
      isBlindAppend: true,
      operationMetrics: { numFiles: '5', numOutputRows: '5' },
    });
  });

  test('fail alone: a guard or an abort concerns nobody else', async () => {
    const stop = new AbortController();
    const staged = [
      ...(await stagedAppends(2)),
      await table.stage(
        [
          { id: 10, p: 'a' },
          { id: 11, p: 'b' },
        ],
        'append',
        { maxPartitions: 1 },
      ),
      await table.stage([{ id: 12, p: 'a' }], 'append', { signal: stop.signal }),
    ];
    const release = holdLine();
    const all = Promise.allSettled(staged.map((write) => write.commit()));
    stop.abort();
    release();
    const [first, second, guarded, aborted] = await all;
    expect(first).toMatchObject({ status: 'fulfilled', value: { version: 1 } });
    expect(second).toMatchObject({ status: 'fulfilled', value: { version: 1 } });
    expect((guarded as PromiseRejectedResult).reason).toMatchObject({ code: 'GUARD_REFUSED' });
    expect((aborted as PromiseRejectedResult).reason).toMatchObject({ code: 'ABORTED' });
    expect(await ids()).toEqual([0, 1]);
    expect(await dataFiles()).toBe(2);
  });

  test('with other words for people get commits of their own', async () => {
    const staged = await stagedAppends(4, (i) => ({ userMetadata: i % 2 === 0 ? 'even' : 'odd' }));
    const release = holdLine();
    const all = Promise.all(staged.map((write) => write.commit()));
    release();
    expect((await all).map(({ version }) => version)).toEqual([1, 2, 1, 2]);
    const [odd, even] = await history();
    expect([even, odd].map((entry) => entry?.commitInfo?.userMetadata)).toEqual(['even', 'odd']);
  });

  test('with tokens of one application: a rising version comes next, a repeated one is skipped', async () => {
    const versions = [1, 1, 2];
    const staged = await stagedAppends(3, (i) => ({ txn: { appId: 'app', version: versions[i] } }));
    const other = await table.stage([{ id: 9, p: 'z' }], 'append', { txn: { appId: 'else', version: 7 } });
    const release = holdLine();
    const all = Promise.all([...staged, other].map((write) => write.commit()));
    release();
    expect((await all).map(({ status, version }) => [status, version])).toEqual([
      ['committed', 1],
      ['skipped', 1],
      ['committed', 2],
      ['committed', 1],
    ]);
    expect(await ids()).toEqual([0, 2, 9]);
  });

  test('that leave a digest for comparing are not mixed with others', async () => {
    const staged = await stagedAppends(3, (i) =>
      i === 1 ? { txn: { appId: 'compared', version: 1 }, onReplay: 'compare' } : {},
    );
    const release = holdLine();
    const all = Promise.all(staged.map((write) => write.commit()));
    release();
    expect((await all).map(({ version }) => version)).toEqual([1, 2, 1]);
    const replay = await table.append([{ id: 1, p: 'p1' }], {
      txn: { appId: 'compared', version: 1 },
      onReplay: 'compare',
    });
    expect(replay.status).toBe('skipped');
  });

  test('do not pass a verb that was handed in between', async () => {
    const [first, second] = await stagedAppends(2);
    const between = await table.stage([{ id: 5, p: 'p0' }], 'overwritePartitions');
    const release = holdLine();
    const all = Promise.all([first!.commit(), between.commit(), second!.commit()]);
    release();
    expect((await all).map(({ version }) => version)).toEqual([1, 2, 3]);
    expect(await ids()).toEqual([1, 5]);
  });

  test('lose a version to another process together and win the next', async () => {
    const staged = await stagedAppends(3);
    const release = holdLine();
    const all = Promise.all(staged.map((write) => write.commit()));
    await context.store.putIfAbsent(
      commitPath(1),
      serializeActions([{ commitInfo: { operation: 'WRITE' } }]),
    );
    release();
    expect((await all).map(({ version, attempts }) => [version, attempts])).toEqual([
      [2, 2],
      [2, 2],
      [2, 2],
    ]);
    expect(await ids()).toEqual([0, 1, 2]);
  });

  test('all fail where another process changed the schema', async () => {
    const staged = await stagedAppends(3);
    const release = holdLine();
    const all = Promise.allSettled(staged.map((write) => write.commit()));
    const { metadata } = await context.latest.get();
    const configuration = { ...metadata.configuration, 'delta.appendOnly': 'true' };
    await context.store.putIfAbsent(
      commitPath(1),
      serializeActions([{ metaData: { ...metadata, configuration } }]),
    );
    release();
    for (const outcome of await all) {
      expect(((outcome as PromiseRejectedResult).reason as TableError).code).toBe('COMMIT_CONFLICT');
    }
    expect(await ids()).toEqual([]);
    expect(await dataFiles()).toBe(0);
  });
});

test('a hundred appends at once are at most ten commits, every row once', async () => {
  const results = await Promise.all(Array.from({ length: 100 }, (_, id) => table.append([{ id, p: null }])));
  expect(results.every(({ status, added }) => status === 'committed' && added.rows === 1)).toBe(true);
  expect(new Set(results.map(({ version }) => version)).size).toBeLessThanOrEqual(10);
  expect(await ids()).toEqual(Array.from({ length: 100 }, (_, i) => i));
});

test('an append is not kept waiting by one whose rows are slow to come', async () => {
  let last: () => void = () => undefined;
  async function* slow() {
    yield { id: 1, p: 'slow' };
    await new Promise<void>((resolve) => {
      last = resolve;
    });
  }
  const long = table.append(slow());
  expect(await table.append([{ id: 2, p: 'quick' }])).toMatchObject({ version: 1 });
  last();
  expect(await long).toMatchObject({ version: 2 });
});
