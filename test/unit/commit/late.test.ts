import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { commitPath } from '../../../src/log/paths.js';
import { countRows } from '../../../src/scan/count.js';
import { Pool } from '../../../src/stage/pool.js';
import { MemoryObjects, MemoryStore } from '../../../src/store/memory.js';
import type { Store } from '../../../src/store/store.js';
import { Table } from '../../../src/table.js';
import { create } from '../../../src/write/create.js';
import { FakeClock, fakeContext } from '../../support/fake-context.js';
import { tableContextOver } from '../../support/table-context.js';

const RETENTION = { 'delta.checkpointInterval': '12' };
const TEN_MINUTES_MS = 600_000;

describe('a snapshot held while the log is cleaned up', () => {
  let clock: FakeClock;
  let objects: MemoryObjects;
  const ctx = fakeContext();
  const pool = new Pool(ctx, { workers: 1 });
  let names = 0;

  beforeEach(() => {
    clock = new FakeClock();
    objects = new MemoryObjects();
    names++;
  });
  afterAll(() => pool.close());

  function contextOver(wrap: (store: Store) => Store = (store) => store) {
    const own = fakeContext(clock);
    return tableContextOver(wrap(new MemoryStore(own, `memory://late-${names}`, objects)), own, pool);
  }

  /** Another engine goes on to version 12, writes its checkpoint and removes the commits before. */
  async function goOn(): Promise<void> {
    const other = contextOver();
    const table = new Table(other);
    for (let version = 2; version <= 12; version++) await table.append([{ id: version }]);
    for (let version = 0; version < 12; version++) await other.store.delete(commitPath(version));
  }

  async function hold(wrap?: (store: Store) => Store): Promise<Table> {
    const context = contextOver(wrap);
    await create(context, { schema: 'id long', properties: RETENTION });
    const table = new Table(context);
    await table.append([{ id: 1 }]);
    return table;
  }

  async function visible(): Promise<{ version: number; rows: number }> {
    const context = contextOver();
    const state = await context.latest.get();
    return { version: state.version, rows: await countRows(context.store, context.ctx, state) };
  }

  test('commits after the newest version when it was held for ten minutes', async () => {
    const held = await hold();
    await goOn();
    clock.advance(TEN_MINUTES_MS);
    expect(await held.append([{ id: 100 }])).toMatchObject({ status: 'committed', version: 13 });
    expect(await visible()).toEqual({ version: 13, rows: 13 });
  });

  test('makes the write again when the put itself took ten minutes and nobody would see it', async () => {
    let slow = false;
    const held = await hold((store) => ({
      ...delegate(store),
      putIfAbsent: async (key, bytes, options) => {
        if (slow && key === commitPath(2)) {
          slow = false;
          await goOn();
          clock.advance(TEN_MINUTES_MS);
        }
        return store.putIfAbsent(key, bytes, options);
      },
    }));
    slow = true;
    expect(await held.append([{ id: 100 }], { retryFor: 2 * TEN_MINUTES_MS })).toMatchObject({
      status: 'committed',
      version: 13,
    });
    expect(await visible()).toEqual({ version: 13, rows: 13 });
  });

  test('keeps a commit whose put took ten minutes when nobody was faster', async () => {
    let slow = false;
    const held = await hold((store) => ({
      ...delegate(store),
      putIfAbsent: async (key, bytes, options) => {
        if (slow) clock.advance(TEN_MINUTES_MS);
        return store.putIfAbsent(key, bytes, options);
      },
    }));
    slow = true;
    expect(await held.append([{ id: 100 }])).toMatchObject({ status: 'committed', version: 2 });
    expect(await visible()).toEqual({ version: 2, rows: 2 });
  });
});

/** A store as plain methods, so that some can be replaced. */
function delegate(store: Store): Store {
  return {
    url: store.url,
    ordered: store.ordered,
    get: (...args) => store.get(...args),
    getRange: (...args) => store.getRange(...args),
    getTail: (...args) => store.getTail(...args),
    head: (...args) => store.head(...args),
    put: (...args) => store.put(...args),
    putStream: (...args) => store.putStream(...args),
    putIfAbsent: (...args) => store.putIfAbsent(...args),
    list: (...args) => store.list(...args),
    delete: (...args) => store.delete(...args),
  };
}
