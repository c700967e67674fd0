import { afterEach, describe, expect, test } from 'vitest';
import { createRuntime, createTable, openTable, type Runtime, type Table } from '../../../src/index.js';
import { commitPath } from '../../../src/log/paths.js';
import { Latest } from '../../../src/snapshot/latest.js';
import { loadState } from '../../../src/snapshot/load.js';
import type { State } from '../../../src/snapshot/state.js';
import { MemoryStore } from '../../../src/store/memory.js';
import { openStore } from '../../../src/store/open.js';
import { FakeClock, fakeContext } from '../../support/fake-context.js';
import { add, metadata, PROTOCOL, putCommit, remove } from '../../support/log-table.js';

describe('the newest known state', () => {
  const runtimes: Runtime[] = [];
  let names = 0;

  function runtime(): Runtime {
    const made = createRuntime({ workers: 1 });
    runtimes.push(made);
    return made;
  }
  afterEach(async () => {
    await Promise.all(runtimes.splice(0).map((each) => each.close()));
  });

  async function remove(url: string): Promise<void> {
    const store = openStore(url, fakeContext());
    const keys: string[] = [];
    for await (const page of store.list('')) keys.push(...page.map(({ key }) => key));
    for (const key of keys) await store.delete(key);
  }

  async function grown(url: string, appends: number, own: Runtime, from = 0): Promise<Table> {
    const table = await createTable(url, { schema: 'id long', runtime: own });
    for (let id = from; id < from + appends; id++) await table.append([{ id }]);
    return table;
  }

  async function idsOf(table: Table): Promise<number[]> {
    const rows = await table.scan().toArray();
    return rows.map(({ id }) => Number(id)).sort((a, b) => a - b);
  }

  test('follows a table that was removed and made anew, shorter, by the same runtime', async () => {
    const own = runtime();
    const url = `memory://latest-${names++}`;
    await grown(url, 3, own);
    await remove(url);
    const table = await grown(url, 1, own);
    expect((await table.snapshot()).version).toBe(1);
    expect(await table.count()).toBe(1);
  });

  test('follows a table that was removed and made anew, shorter, by another', async () => {
    const own = runtime();
    const url = `memory://latest-${names++}`;
    const held = await grown(url, 3, own);
    await remove(url);
    await grown(url, 1, runtime());
    expect((await held.snapshot()).version).toBe(1);
    expect(await held.count()).toBe(1);
  });

  test('follows a table that was removed and made anew, longer, by another, after commits of its own', async () => {
    const url = `memory://latest-${names++}`;
    const held = await grown(url, 2, runtime());
    await remove(url);
    await grown(url, 5, runtime());
    expect((await held.snapshot()).version).toBe(5);
    expect(await idsOf(held)).toEqual([0, 1, 2, 3, 4]);
  });

  // The commits have other sizes than those of the first table: how fine the clock is does not matter.
  test.each([2, 3, 7])(
    'follows a table of 2 appends that was made anew with %i, after reading it',
    async (appends) => {
      const url = `memory://latest-${names++}`;
      await grown(url, 2, runtime());
      const held = await openTable(url, { runtime: runtime() });
      expect(await idsOf(held)).toEqual([0, 1]);
      await remove(url);
      await grown(url, appends, runtime(), 1_000_000);
      expect(await idsOf(held)).toEqual(Array.from({ length: appends }, (_, i) => 1_000_000 + i));
    },
  );

  test('costs a listing, and a request for each new commit; one more only after a commit of its own', async () => {
    const url = `memory://latest-${names++}`;
    const other = await grown(url, 1, runtime());
    const seen: string[] = [];
    const own = createRuntime({
      workers: 1,
      onEvent: (event) => {
        if (event.type === 'request') seen.push(`${event.operation} ${event.key.split('/').at(-1)}`);
      },
    });
    runtimes.push(own);
    const requests = () => seen.splice(0).filter((each) => !each.includes('.parquet'));
    const held = await openTable(url, { runtime: own });
    await held.snapshot();
    requests();
    await held.snapshot();
    expect(requests()).toHaveLength(1);
    await other.append([{ id: 5 }]);
    await held.snapshot();
    expect(requests()).toHaveLength(2);
    await held.append([{ id: 6 }]);
    await held.snapshot();
    requests();
    await held.snapshot();
    expect(requests()).toHaveLength(1);
    await other.append([{ id: 7 }]);
    await held.snapshot();
    expect(requests()).toEqual([
      'list 0000',
      'get 00000000000000000003.json',
      'get 00000000000000000004.json',
    ]);
    await other.append([{ id: 8 }]);
    await held.snapshot();
    expect(requests()).toHaveLength(2);
  });

  test('is read by one request for callers at the same time, and covers commits made before the call', async () => {
    const url = `memory://latest-${names++}`;
    let lists = 0;
    const own = createRuntime({
      workers: 1,
      onEvent: (event) => {
        if (event.type === 'request' && event.operation === 'list') lists++;
      },
    });
    runtimes.push(own);
    const other = await grown(url, 1, runtime());
    const table = await openTable(url, { runtime: own });
    lists = 0;
    await other.append([{ id: 7 }]);
    const versions = await Promise.all(
      Array.from({ length: 20 }, async () => (await table.snapshot()).version),
    );
    expect(new Set(versions)).toEqual(new Set([2]));
    expect(lists).toBeLessThanOrEqual(2);
  });
});

describe('versions taken without a listing', () => {
  const START = 1_700_000_000_000;

  async function begun() {
    const ctx = fakeContext(new FakeClock(START));
    const store = new MemoryStore(ctx, 'memory://taken');
    await putCommit(store, 0, [PROTOCOL, { metaData: metadata() }, add('a')]);
    const latest = new Latest(store, ctx);
    await latest.get();
    const requests = () => ctx.events.flatMap((event) => (event.type === 'request' ? [event.operation] : []));
    ctx.events.length = 0;
    return { ctx, store, latest, requests };
  }
  const paths = ({ files }: State): string[] => [...files.ids()].map((id) => files.path(id)).sort();

  test('the file that won a version makes the state of that version, and no request', async () => {
    const { ctx, store, latest, requests } = await begun();
    await putCommit(store, 1, [{ commitInfo: { timestamp: START + 5 } }, add('b'), remove('a')]);
    const file = await store.get(commitPath(1));
    ctx.events.length = 0;
    (ctx.clock as FakeClock).advance(10);
    latest.take(1, file);
    expect(requests()).toEqual([]);
    const state = latest.peek()!;
    expect([state.version, state.timestamp, paths(state)]).toEqual([1, START + 5, ['b']]);
    expect(latest.age()).toBe(10);
    latest.take(1, file);
    latest.take(3, file);
    expect(latest.peek()).toBe(state);
  });

  test('as many are taken as are there, by a request each', async () => {
    const { ctx, store, latest, requests } = await begun();
    for (const version of [1, 2, 4]) await putCommit(store, version, [add(`f${version}`)]);
    ctx.events.length = 0;
    const state = await latest.advance(4);
    expect(requests()).toEqual(['get', 'get', 'get', 'get']);
    expect(state).toBe(latest.peek());
    expect([state.version, paths(state)]).toEqual([2, ['a', 'f1', 'f2']]);
    const listed = await loadState(store, ctx, { version: 2 });
    expect(paths(state)).toEqual(paths(listed));
  });

  test.each([
    ['in the future', START + 1_000_000, START],
    ['long ago', 5, START],
    ['unknown', undefined, START],
  ])(
    'a time of writing %s counts as no later than now and no earlier than the version before',
    async (_, timestamp, expected) => {
      const { store, latest } = await begun();
      await putCommit(store, 1, [
        { commitInfo: { ...(timestamp !== undefined && { timestamp }) } },
        add('b'),
      ]);
      expect((await latest.advance(1)).timestamp).toBe(expected);
    },
  );
});
