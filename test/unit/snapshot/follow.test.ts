import { afterAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { commitPath } from '../../../src/log/paths.js';
import { createRuntime } from '../../../src/runtime/runtime.js';
import { systemClock } from '../../../src/runtime/system.js';
import type { TableContext } from '../../../src/runtime/table-context.js';
import { type FollowedVersion, type FollowOptions, follow } from '../../../src/snapshot/follow.js';
import { Pool } from '../../../src/stage/pool.js';
import { MemoryObjects, MemoryStore } from '../../../src/store/memory.js';
import { createTable, Table } from '../../../src/table.js';
import { create } from '../../../src/write/create.js';
import { fakeContext } from '../../support/fake-context.js';
import { tableContextOver } from '../../support/table-context.js';

const ctx = fakeContext(systemClock);
const pool = new Pool(ctx, { workers: 1 });
const FEED = { 'delta.enableChangeDataFeed': 'true' };
let objects: MemoryObjects;
let name: string;
let names = 0;

beforeEach(() => {
  objects = new MemoryObjects();
  name = `memory://follow-${++names}`;
});
afterAll(() => pool.close());

/** The table as one more process has it. */
function contextOf(): TableContext {
  return tableContextOver(new MemoryStore(ctx, name, objects), ctx, pool);
}

async function tableWith(properties: Record<string, string> = {}): Promise<Table> {
  const context = contextOf();
  await create(context, { schema: 'id long', properties });
  return new Table(context);
}

/** The next versions, which must come. */
async function take(versions: AsyncIterator<FollowedVersion>, count: number): Promise<FollowedVersion[]> {
  const taken: FollowedVersion[] = [];
  while (taken.length < count) {
    const { value, done } = await versions.next();
    if (done) break;
    taken.push(value as FollowedVersion);
  }
  return taken;
}

function start(options: FollowOptions = {}, context = contextOf()) {
  return follow(context, { pollMs: 2, ...options });
}

describe('following a table', () => {
  test('gives each new version once and in order, pinned', async () => {
    const table = await tableWith();
    const versions = start();
    const first = versions.next();
    await new Promise((resolve) => setTimeout(resolve, 10));
    for (let id = 1; id <= 3; id++) await table.append([{ id }]);
    const taken = [(await first).value as FollowedVersion, ...(await take(versions, 2))];
    expect(taken.map(({ version }) => version)).toEqual([1, 2, 3]);
    expect(await Promise.all(taken.map(({ snapshot }) => snapshot.count()))).toEqual([1, 2, 3]);
    expect(taken.every(({ reset }) => reset === undefined)).toBe(true);
    await versions.return();
  });

  test('reads one commit for the changes of a version, however far behind it is', async () => {
    const table = await tableWith(FEED);
    const versions = start({ changes: true, from: 1 });
    for (let id = 1; id <= 25; id++) await table.append([{ id }]);
    await take(versions, 2);
    for (let id = 26; id <= 30; id++) await table.append([{ id }]);
    ctx.events.length = 0;
    const [third] = await take(versions, 1);
    const reads = ctx.events.flatMap((event) => (event.type === 'request' ? [event] : []));
    const files = reads.filter(({ operation }) => operation.startsWith('get')).map(({ key }) => key);
    expect(files.filter((key) => key.includes('checkpoint'))).toEqual([]);
    expect(files.filter((key) => key === commitPath(3)).length).toBeLessThanOrEqual(2);
    expect(files.length).toBeLessThanOrEqual(2);
    expect(third!.version).toBe(3);
    expect(await third!.changes!.toArray()).toMatchObject([{ id: 3n, _change_type: 'insert' }]);
    await versions.return();
  });

  test('starts from an older version, with every one since, or from one that is still to come', async () => {
    const table = await tableWith();
    for (let id = 1; id <= 5; id++) await table.append([{ id }]);
    const since = start({ from: 2 });
    expect((await take(since, 4)).map(({ version }) => version)).toEqual([2, 3, 4, 5]);
    const later = start({ from: 7 });
    const next = later.next();
    for (let id = 6; id <= 7; id++) await table.append([{ id }]);
    expect((await next).value).toMatchObject({ version: 7 });
    await Promise.all([since.return(), later.return()]);
  });

  test('costs one listing a look when nothing is new', async () => {
    await tableWith();
    const context = contextOf();
    const stop = new AbortController();
    const versions = start({ signal: stop.signal }, context);
    await context.latest.get();
    ctx.events.length = 0;
    const ended = versions.next();
    const requests = () => ctx.events.flatMap((event) => (event.type === 'request' ? [event.operation] : []));
    await vi.waitFor(() => expect(requests().length).toBeGreaterThan(3), 10_000);
    stop.abort();
    expect(await ended).toEqual({ done: true, value: undefined });
    expect(new Set(requests())).toEqual(new Set(['list']));
  });

  test('goes on with a marked snapshot where log cleanup took versions away', async () => {
    const table = await tableWith();
    await table.append([{ id: 1 }]);
    const context = contextOf();
    const versions = start({ from: 1 }, context);
    expect(await take(versions, 1)).toMatchObject([{ version: 1 }]);
    for (let id = 2; id <= 5; id++) await table.append([{ id }]);
    await table.checkpoint();
    for (let version = 0; version < 5; version++) await context.store.delete(commitPath(version));
    const [fifth] = await take(versions, 1);
    expect(fifth).toMatchObject({ version: 5, reset: 'cleaned' });
    expect(await fifth!.snapshot.count()).toBe(5);
    await table.append([{ id: 6 }]);
    const [sixth] = await take(versions, 1);
    expect(sixth).toMatchObject({ version: 6 });
    expect(sixth!.reset).toBeUndefined();
    const old = start({ from: 2 });
    expect(await take(old, 1)).toMatchObject([{ version: 6, reset: 'cleaned' }]);
    await Promise.all([versions.return(), old.return()]);
  });

  test('says that another table stands at the same place', async () => {
    const table = await tableWith();
    await table.append([{ id: 1 }]);
    const versions = start({ from: 1 });
    expect(await take(versions, 1)).toMatchObject([{ version: 1 }]);
    for (const version of [0, 1]) await contextOf().store.delete(commitPath(version));
    await tableWith();
    expect(await take(versions, 1)).toMatchObject([{ version: 0, reset: 'recreated' }]);
    await versions.return();
  });

  test('gives the changes where the table records them, and a marked snapshot where it does not', async () => {
    const table = await tableWith(FEED);
    await table.append([{ id: 1 }, { id: 2 }]);
    await table.delete({ where: 'id = 1' });
    const versions = start({ from: 1, changes: true, int64: 'number' });
    const [added, deleted] = await take(versions, 2);
    expect(await added!.changes!.toArray()).toMatchObject([
      { id: 1, _change_type: 'insert', _commit_version: 1 },
      { id: 2, _change_type: 'insert', _commit_version: 1 },
    ]);
    expect(await deleted!.changes!.toArray()).toMatchObject([{ id: 1, _change_type: 'delete' }]);
    await versions.return();

    objects = new MemoryObjects();
    const plain = await tableWith();
    await plain.append([{ id: 1 }]);
    const marked = start({ from: 1, changes: true });
    const [only] = await take(marked, 1);
    expect(only).toMatchObject({ version: 1, reset: 'unrecorded' });
    expect(only!.changes).toBeUndefined();
    await marked.return();
  });

  test('keeps planned changes readable when the log is cleaned up behind them', async () => {
    const table = await tableWith(FEED);
    await table.append([{ id: 1 }]);
    const versions = start({ from: 1, changes: true });
    const [first] = await take(versions, 1);
    await table.append([{ id: 2 }]);
    await table.checkpoint();
    for (const version of [0, 1]) await contextOf().store.delete(commitPath(version));
    expect(await first!.changes!.toArray()).toHaveLength(1);
    await versions.return();
  });

  test('ends with its signal and with the runtime', async () => {
    const stop = new AbortController();
    const runtime = createRuntime();
    const table = await createTable(`${name}-runtime`, { schema: 'id long', runtime });
    const bySignal = table.follow({ signal: stop.signal, pollMs: 3_600_000 }).next();
    const byRuntime = table.follow({ pollMs: 3_600_000 }).next();
    stop.abort();
    expect(await bySignal).toEqual({ done: true, value: undefined });
    await runtime.close();
    expect(await byRuntime).toEqual({ done: true, value: undefined });
    expect(await table.follow({ signal: stop.signal }).next()).toEqual({ done: true, value: undefined });
  });
});
