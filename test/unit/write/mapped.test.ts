import { afterAll, describe, expect, test } from 'vitest';
import {
  createRuntime,
  createTable,
  openTable,
  parseDdl,
  type StructType,
  type Table,
} from '../../../src/index.js';

const runtime = createRuntime({ workers: 1 });
const fresh = createRuntime({ workers: 1 });
afterAll(async () => {
  await runtime.close();
  await fresh.close();
});
let names = 0;

const lines = async (table: Table): Promise<string[]> =>
  (await table.scan({ int64: 'string' }).toArray()).map((row) => JSON.stringify(row)).sort();

/** A column whose name has a dot beside a struct that has such a field. */
function schema(): StructType {
  return parseDdl('id long, BATCH_ID string, `a.b` int, a struct<b: int>');
}

describe.each(['name', 'id'])('columns mapped by %s', (mode) => {
  test('keep their values through a new name of the partition column, every verb and a checkpoint', async () => {
    const url = `memory://mapped-${names++}`;
    const table = await createTable(url, {
      schema: schema(),
      partitionBy: ['BATCH_ID'],
      properties: { 'delta.columnMapping.mode': mode },
      rows: [
        { id: 1, BATCH_ID: 'x', 'a.b': 10, a: { b: 100 } },
        { id: 2, BATCH_ID: 'y', 'a.b': 20, a: { b: 200 } },
      ],
      runtime,
    });
    await table.alter({ renameColumn: 'BATCH_ID', to: 'batch' });
    await table.append([{ id: 3, batch: 'z', 'a.b': 30, a: { b: 300 } }]);
    await table.overwrite([{ id: 4, batch: 'y', 'a.b': 40, a: null }], { where: "batch = 'y'" });
    await table.merge([{ id: 1, batch: 'x', 'a.b': null, a: { b: 101 } }], { on: ['batch', 'id'] });
    await table.delete({ where: '`a.b` = 30 and a.b = 300' });
    const expected = [
      '{"id":"1","batch":"x","a.b":null,"a":{"b":101}}',
      '{"id":"4","batch":"y","a.b":40,"a":null}',
    ];
    expect(await lines(table)).toEqual(expected);
    await table.checkpoint();
    const opened = await openTable(url, { runtime: fresh });
    expect(await lines(opened)).toEqual(expected);
    expect(await opened.count({ where: '`a.b` = 40 and batch is not null' })).toBe(1);
    const snapshot = await opened.snapshot();
    const physical = snapshot.schema.fields[1]!.metadata['delta.columnMapping.physicalName'] as string;
    expect(snapshot.partitionColumns).toEqual(['batch']);
    expect(physical).not.toBe('batch');
    for (const { partitionValues, stats } of await snapshot.files()) {
      expect(Object.keys(partitionValues)).toEqual([physical]);
      expect(Object.keys(JSON.parse(stats!).nullCount)).not.toContain('a.b');
    }
  });

  test('have names that differ in more than case', async () => {
    const properties = { 'delta.columnMapping.mode': mode };
    const table = await createTable(`memory://mapped-${names++}`, { schema: 'id long', properties, runtime });
    await expect(table.alter({ addColumns: 'ID long' })).rejects.toMatchObject({ code: 'INVALID_SCHEMA' });
    await expect(
      table.append([{ id: 1, ID: 2 }], { evolve: 'add-columns', evolveTo: 'ID long' }),
    ).rejects.toMatchObject({ code: expect.any(String) });
    expect((await table.snapshot()).version).toBe(0);
  });
});

test('a write of data leaves the metadata as it was, whatever the order of the columns in its rows', async () => {
  const table = await createTable(`memory://mapped-${names++}`, {
    schema: 'id long not null, first string, second string',
    partitionBy: ['second', 'first'],
    runtime,
  });
  const before = (await table.snapshot()).state.metadata;
  await table.append([{ second: 'B', first: 'A', id: 1 }]);
  await table.overwritePartitions([{ first: 'A', id: 2, second: 'B' }]);
  await table.overwrite([{ id: 3, first: 'B', second: 'A' }], { where: "first = 'B'" });
  expect((await table.snapshot()).state.metadata).toEqual(before);
  expect(await lines(table)).toEqual([
    '{"id":"2","first":"A","second":"B"}',
    '{"id":"3","first":"B","second":"A"}',
  ]);
});
