import { afterEach, describe, expect, test } from 'vitest';
import { createRuntime, createTable, openTable, type Runtime, type Table } from '../../../src/index.js';
import { openStore } from '../../../src/store/open.js';
import { fakeContext } from '../../support/fake-context.js';

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

  async function grown(url: string, appends: number, own: Runtime): Promise<Table> {
    const table = await createTable(url, { schema: 'id long', runtime: own });
    for (let id = 0; id < appends; id++) await table.append([{ id }]);
    return table;
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
