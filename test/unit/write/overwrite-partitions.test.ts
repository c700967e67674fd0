import { afterEach, describe, expect, test } from 'vitest';
import { createRuntime, createTable, type Row, type Runtime, type Table } from '../../../src/index.js';

let runtime: Runtime;
let names = 0;

async function tableOf(
  schema: string,
  partitionBy: string[],
  rows: Row[],
  properties?: Record<string, string>,
): Promise<Table> {
  runtime = createRuntime({ workers: 1 });
  return createTable(`memory://overwrite-${names++}`, { schema, partitionBy, rows, properties, runtime });
}

async function paths(table: Table): Promise<string[]> {
  return (await (await table.snapshot()).files()).map(({ path }) => path).sort();
}

afterEach(() => runtime?.close());

describe('overwritePartitions', () => {
  test('replaces the partitions its rows name and leaves the files of the others as they are', async () => {
    const days = Array.from({ length: 30 }, (_, i) => `2024-01-${String(i + 1).padStart(2, '0')}`);
    const table = await tableOf(
      'id long, day date',
      ['day'],
      days.map((day, i) => ({ id: i, day })),
    );
    const before = await paths(table);
    const result = await table.overwritePartitions([
      { id: 100, day: days[3] },
      { id: 101, day: days[7] },
      { id: 102, day: days[7] },
    ]);
    expect(result).toMatchObject({
      status: 'committed',
      version: 1,
      added: { files: 2, rows: 3 },
      removed: { files: 2, rows: 2 },
    });
    const kept = (await paths(table)).filter((path) => before.includes(path));
    expect(kept).toHaveLength(28);
    expect(await table.count()).toBe(31);
    expect((await table.scan({ where: "day = '2024-01-08'" }).toArray()).map(({ id }) => id).sort()).toEqual([
      101n,
      102n,
    ]);
  });

  test('NULL is a partition like any other, replaced by every rerun', async () => {
    const table = await tableOf(
      'id long, p string',
      ['p'],
      [
        { id: 1, p: null },
        { id: 2, p: null },
        { id: 3, p: 'a' },
        { id: 4, p: 'a' },
      ],
    );
    for (const id of [10, 11]) {
      await table.overwritePartitions([{ id, p: null }]);
      expect(await table.count()).toBe(3);
      expect((await table.scan({ where: 'p is null' }).toArray()).map((row) => row.id)).toEqual([BigInt(id)]);
    }
    const values = (await (await table.snapshot()).partitions()).map(({ values }) => values.p);
    expect(values).toEqual(expect.arrayContaining([null, 'a']));
  });

  test('two partition columns, one of them NULL, are told apart', async () => {
    const rows = [
      { id: 1, a: null, b: 'x' },
      { id: 2, a: null, b: null },
      { id: 3, a: 'x', b: null },
    ];
    const table = await tableOf('id long, a string, b string', ['a', 'b'], rows);
    await table.overwritePartitions([{ id: 9, a: null, b: 'x' }]);
    const found = await table.scan().toArray();
    expect(found.map(({ id }) => Number(id)).sort()).toEqual([2, 3, 9]);
  });

  test('no rows commit nothing and say unchanged', async () => {
    const table = await tableOf('id long, p string', ['p'], [{ id: 1, p: 'a' }]);
    expect(await table.overwritePartitions([])).toMatchObject({
      status: 'unchanged',
      version: 0,
      attempts: 0,
    });
    expect((await table.snapshot()).version).toBe(0);
  });

  test('no rows with a token are refused', async () => {
    const table = await tableOf('id long, p string', ['p'], [{ id: 1, p: 'a' }]);
    await expect(table.overwritePartitions([], { txn: { appId: 'job', version: 1 } })).rejects.toMatchObject({
      code: 'INVALID_INPUT',
    });
  });

  test('a table without partitions is refused before a row is read', async () => {
    const table = await tableOf('id long', [], [{ id: 1 }]);
    // biome-ignore lint/correctness/useYield: it must fail before it could.
    const rows = (function* (): Generator<Row> {
      throw new Error('was read');
    })();
    await expect(table.overwritePartitions(rows)).rejects.toMatchObject({ code: 'INVALID_INPUT' });
  });

  test('an append-only table refuses to lose rows, and takes new partitions', async () => {
    const table = await tableOf('id long, p string', ['p'], [{ id: 1, p: 'a' }], {
      'delta.appendOnly': 'true',
    });
    await expect(table.overwritePartitions([{ id: 2, p: 'a' }])).rejects.toMatchObject({
      code: 'APPEND_ONLY',
    });
    expect(await table.overwritePartitions([{ id: 2, p: 'b' }])).toMatchObject({
      status: 'committed',
      version: 1,
    });
    expect(await table.count()).toBe(2);
  });

  test('a guard refuses and leaves the table and the store as they were', async () => {
    const table = await tableOf(
      'id long, p string',
      ['p'],
      [
        { id: 1, p: 'a' },
        { id: 2, p: 'b' },
      ],
    );
    const rows = [
      { id: 3, p: 'a' },
      { id: 4, p: 'b' },
    ];
    for (const guard of [{ maxPartitions: 1 }, { maxFilesRemoved: 1 }, { maxRowsRemoved: 1 }]) {
      await expect(table.overwritePartitions(rows, guard)).rejects.toMatchObject({ code: 'GUARD_REFUSED' });
    }
    expect((await table.snapshot()).version).toBe(0);
  });

  test('a token makes a rerun a skip, whatever version was recorded later', async () => {
    const table = await tableOf('id long, p string', ['p'], []);
    const txn = { appId: 'job', version: 3 };
    expect(await table.append([{ id: 1, p: 'a' }], { txn })).toMatchObject({
      status: 'committed',
      version: 1,
    });
    expect(await table.append([{ id: 1, p: 'a' }], { txn })).toMatchObject({ status: 'skipped', version: 1 });
    expect(await table.append([{ id: 1, p: 'a' }], { txn: { ...txn, version: 2 } })).toMatchObject({
      status: 'skipped',
    });
    expect(await table.append([{ id: 2, p: 'a' }], { txn: { ...txn, version: 4 } })).toMatchObject({
      status: 'committed',
    });
    expect(await table.count()).toBe(2);
  });
});
