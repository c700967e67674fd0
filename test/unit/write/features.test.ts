import { afterAll, describe, expect, test } from 'vitest';
import {
  createRuntime,
  createTable,
  openOrCreate,
  parseDdl,
  type Row,
  type StructType,
  type Table,
} from '../../../src/index.js';
import { classicCheckpointKey, commitPath } from '../../../src/log/paths.js';
import type { DataSkipping } from '../../../src/log/properties.js';
import { bytesSource, readFooter } from '../../../src/parquet/flat/read.js';
import { planScan } from '../../../src/scan/plan.js';
import { scanBatches } from '../../../src/scan/read.js';
import { rowsFromBatch } from '../../../src/schema/rows-out.js';
import { loadState } from '../../../src/snapshot/load.js';
import { planStatistics } from '../../../src/stage/statistics.js';

const runtime = createRuntime({ workers: 1 });
afterAll(() => runtime.close());
let names = 0;

function tableOf(
  schema: string | StructType,
  options: { partitionBy?: string[]; properties?: Record<string, string>; rows?: Row[] } = {},
): Promise<Table> {
  return createTable(`memory://features-${names++}`, { schema, ...options, runtime });
}

/** DDL with metadata of top-level columns. */
function schemaWith(
  ddl: string,
  metadata: Record<string, StructType['fields'][number]['metadata']>,
): StructType {
  const { fields } = parseDdl(ddl);
  return {
    type: 'struct',
    fields: fields.map((field) => ({ ...field, metadata: { ...field.metadata, ...metadata[field.name] } })),
  };
}

const sorted = (rows: readonly Row[]): string[] =>
  rows
    .map((row) => JSON.stringify(row, (_, value) => (typeof value === 'bigint' ? Number(value) : value)))
    .sort();
const all = async (table: Table): Promise<string[]> =>
  sorted(await table.scan({ timestamp: 'string' }).toArray());

describe.each([false, true])('change data (deletion vectors: %s)', (vectors) => {
  const properties = {
    'delta.enableChangeDataFeed': 'true',
    ...(vectors ? { 'delta.enableDeletionVectors': 'true' } : {}),
  };
  const rows = [
    { id: 1, n: 10, p: 'a' },
    { id: 2, n: 20, p: 'a' },
    { id: 3, n: 30, p: 'b' },
  ];

  async function changesOf(write: (table: Table) => Promise<unknown>): Promise<string[]> {
    const table = await tableOf('id long, n long, p string', { partitionBy: ['p'], properties, rows });
    await write(table);
    const { version } = await table.snapshot();
    const changes: string[] = [];
    for await (const row of table.changes({ from: version })) {
      changes.push(`${row._change_type} ${row.id} ${row.n} ${row.p}`);
    }
    return changes.sort();
  }

  test('of an update', async () => {
    expect(
      await changesOf((table) => table.update({ set: { n: 'n + 1', p: "'b'" }, where: 'id = 1' })),
    ).toEqual(['update_postimage 1 11 b', 'update_preimage 1 10 a']);
  });

  test('of a delete, in part and of whole files', async () => {
    expect(await changesOf((table) => table.delete({ where: 'id >= 2' }))).toEqual([
      'delete 2 20 a',
      'delete 3 30 b',
    ]);
    expect(await changesOf((table) => table.delete({ where: "p = 'b'" }))).toEqual(['delete 3 30 b']);
  });

  test('of a merge', async () => {
    const source = [
      { id: 2, n: 21, p: 'a' },
      { id: 4, n: 40, p: 'c' },
    ];
    expect(await changesOf((table) => table.merge(source, { on: ['id', 'p'] }))).toEqual([
      'insert 4 40 c',
      'update_postimage 2 21 a',
      'update_preimage 2 20 a',
    ]);
  });

  test('of an overwrite: what went and what came', async () => {
    const source = [{ id: 5, n: 50, p: 'a' }];
    expect(await changesOf((table) => table.overwrite(source, { where: 'id >= 2' }))).toEqual([
      'delete 2 20 a',
      'delete 3 30 b',
      'insert 5 50 a',
    ]);
    expect(await changesOf((table) => table.overwritePartitions(source))).toEqual([
      'delete 1 10 a',
      'delete 2 20 a',
      'insert 5 50 a',
    ]);
  });
});

describe('constraints', () => {
  const properties = { 'delta.constraints.positive': 'n > 0' };

  test('refuse rows for which they are FALSE or NULL, by every verb', async () => {
    const table = await tableOf('id long, n long', { properties, rows: [{ id: 1, n: 1 }] });
    const refused = { code: 'INVALID_ROW', context: { constraint: 'CHECK constraint positive' } };
    await expect(table.append([{ id: 2, n: 0 }])).rejects.toMatchObject(refused);
    await expect(table.append([{ id: 2, n: null }])).rejects.toMatchObject(refused);
    await expect(table.update({ set: { n: 'n - 1' }, where: 'id = 1' })).rejects.toMatchObject(refused);
    await expect(table.merge([{ id: 1, n: -1 }], { on: ['id'] })).rejects.toMatchObject(refused);
    await expect(table.merge([{ id: 5, n: -1 }], { on: ['id'] })).rejects.toMatchObject(refused);
    await table.merge([{ id: 1, n: 7 }], { on: ['id'] });
    expect(await all(table)).toEqual(['{"id":1,"n":7}']);
  });

  test('that cannot be evaluated stop the table from being made', async () => {
    await expect(
      tableOf('id long', { properties: { 'delta.constraints.odd': 'no_such_function(id) = 1' } }),
    ).rejects.toMatchObject({ code: 'UNSUPPORTED_FEATURE' });
  });

  test('invariants count alike', async () => {
    const schema = schemaWith('id long', {
      id: { 'delta.invariants': '{"expression":{"expression":"id > 3"}}' },
    });
    const table = await tableOf(schema);
    await expect(table.append([{ id: 3 }])).rejects.toMatchObject({ code: 'INVALID_ROW' });
    await table.append([{ id: 4 }]);
  });
});

describe('generated columns', () => {
  const schema = schemaWith('t timestamp, day date not null, n long', {
    day: { 'delta.generationExpression': 'CAST(t AS DATE)' },
  });
  const row = { t: '2024-01-01T23:30:00Z', n: 1 };

  test('are computed where left out, compared where given, and followed by updates and merges', async () => {
    const table = await tableOf(schema, { partitionBy: ['day'], rows: [row] });
    await table.append([{ ...row, day: '2024-01-01', n: 2 }]);
    await expect(table.append([{ ...row, day: '2024-01-02' }])).rejects.toMatchObject({
      code: 'INVALID_ROW',
      context: { expected: '2024-01-01', got: '2024-01-02' },
    });
    await table.update({ set: { t: "timestamp '2024-02-02T00:00:00Z'" }, where: 'n = 2' });
    await table.merge([{ t: '2024-03-03T01:00:00Z', n: 1 }], { on: ['n'] });
    expect(await all(table)).toEqual([
      '{"t":"2024-02-02T00:00:00.000000Z","day":"2024-02-02","n":2}',
      '{"t":"2024-03-03T01:00:00.000000Z","day":"2024-03-03","n":1}',
    ]);
    const partitions = await (await table.snapshot()).partitions();
    expect(partitions.map(({ values }) => values.day).sort()).toEqual(['2024-02-02', '2024-03-03']);
  });
});

describe('defaults', () => {
  const schema = schemaWith('id long, s string, d decimal(5,2) not null', {
    s: { CURRENT_DEFAULT: "'none'" },
    d: { CURRENT_DEFAULT: '1.5' },
  });

  test('stand where a row says nothing; NULL says something', async () => {
    const table = await tableOf(schema, {
      rows: [{ id: 1 }, { id: 2, S: undefined, d: '2' }, { id: 3, s: null, D: 3 }],
    });
    expect(await all(table)).toEqual([
      '{"id":1,"s":"none","d":"1.50"}',
      '{"id":2,"s":"none","d":"2.00"}',
      '{"id":3,"s":null,"d":"3.00"}',
    ]);
    await expect(table.append([{ id: 4, d: null }])).rejects.toMatchObject({ code: 'INVALID_ROW' });
    await table.merge([{ id: 9 }], { on: ['id'], whenNotMatched: { insert: { id: 'source.id' } } });
    expect(await table.scan({ where: 'id = 9' }).toArray()).toMatchObject([{ s: 'none', d: '1.50' }]);
  });

  test('stand in Arrow batches that lack the column', async () => {
    const table = await tableOf(schema);
    const other = await tableOf('id long', { rows: [{ id: 1 }] });
    await table.append(other.scan().batches());
    expect(await all(table)).toEqual(['{"id":1,"s":"none","d":"1.50"}']);
  });
});

describe.each(['name', 'id'])('columns mapped by %s', (mode) => {
  test('are written, rewritten and pruned under their physical names', async () => {
    const table = await tableOf('id long, `a b` struct<x:int>, p string', {
      partitionBy: ['p'],
      properties: { 'delta.columnMapping.mode': mode },
      rows: [
        { id: 1, 'a b': { x: 1 }, p: 'u' },
        { id: 2, 'a b': null, p: 'v' },
      ],
    });
    const snapshot = await table.snapshot();
    expect(snapshot.properties['delta.columnMapping.maxColumnId']).toBe('4');
    const [add] = await snapshot.files();
    expect(Object.keys(add!.partitionValues)[0]).toMatch(/^col-/);
    expect(add!.stats).not.toContain('"id"');
    await openOrCreate(table.url, {
      schema: 'id long, `a b` struct<x:int>, p string',
      partitionBy: ['p'],
      runtime,
    });
    await table.append([{ id: 3, 'a b': { x: 3 }, p: 'u' }]);
    await table.overwrite([{ id: 4, 'a b': null, p: 'u' }], { where: 'id >= 3' });
    await table.overwritePartitions([{ id: 5, 'a b': { x: 5 }, p: 'v' }]);
    await table.update({ set: { id: 'id * 10' }, where: '`a b`.x = 1' });
    expect(await all(table)).toEqual([
      '{"id":10,"a b":{"x":1},"p":"u"}',
      '{"id":4,"a b":null,"p":"u"}',
      '{"id":5,"a b":{"x":5},"p":"v"}',
    ]);
    await table.overwrite([{ z: 1, p: 'w' }], { all: true, schema: 'z int, p string' });
    expect(await all(table)).toEqual(['{"z":1,"p":"w"}']);
    expect((await table.snapshot()).properties['delta.columnMapping.maxColumnId']).toBe('6');
  });
});

describe.each([false, true])('rows that are tracked (deletion vectors: %s)', (vectors) => {
  const properties = {
    'delta.enableRowTracking': 'true',
    ...(vectors ? { 'delta.enableDeletionVectors': 'true' } : {}),
  };
  const rows = [1, 2, 3, 4].map((id) => ({ id, n: id, p: id < 4 ? 'a' : 'b' }));

  /** `id: row id, row commit version` of every row. */
  async function tracked(table: Table): Promise<string[]> {
    const { state } = await table.snapshot();
    const plan = await planScan(state, { columns: ['id'], rowIds: true });
    const context = runtime.table(table.url);
    const found: string[] = [];
    for await (const batch of scanBatches(context.store, context.ctx, plan))
      for (const row of rowsFromBatch(batch, plan.schema))
        found.push(`${row.id}: ${row._row_id}, ${row._row_commit_version}`);
    return found.sort();
  }

  test('get ids of their own, and keep them when copied or changed', async () => {
    const table = await tableOf('id long, n long, p string', { partitionBy: ['p'], properties, rows });
    await table.append([{ id: 5, n: 5, p: 'a' }]);
    expect(await tracked(table)).toEqual(['1: 0, 0', '2: 1, 0', '3: 2, 0', '4: 3, 0', '5: 4, 1']);
    await table.delete({ where: 'id = 1' });
    await table.update({ set: { n: 'n + 1' }, where: 'id = 2' });
    await table.merge(
      [
        { id: 3, n: 30, p: 'b' },
        { id: 6, n: 60, p: 'a' },
      ],
      { on: ['id'] },
    );
    const found = await tracked(table);
    expect(found.slice(0, 4)).toEqual(['2: 1, 3', '3: 2, 4', '4: 3, 0', '5: 4, 1']);
    expect(new Set(found.map((each) => each.split(/[ ,]+/)[1])).size).toBe(5);
    const { state } = await table.snapshot();
    const domain = state.domains.get('delta.rowTracking')!;
    expect(JSON.parse(domain.configuration).rowIdHighWaterMark).toBeGreaterThanOrEqual(5);
    expect(await table.count()).toBe(5);
  });
});

describe('a table whose policy is v2', () => {
  test('has checkpoints of the second form, which are read back', async () => {
    const table = await tableOf('id long, p string', {
      partitionBy: ['p'],
      properties: { 'delta.checkpointPolicy': 'v2' },
      rows: [
        { id: 1, p: 'a' },
        { id: 2, p: null },
      ],
    });
    await table.append([{ id: 3, p: 'a' }], { txn: { appId: 'job', version: 1 } });
    await table.overwritePartitions([{ id: 4, p: 'a' }]);
    await table.checkpoint();
    const { store, ctx } = runtime.table(table.url);
    const footer = await readFooter(bytesSource(await store.get(classicCheckpointKey(2))));
    expect(footer.leaves.some(({ path }) => path[0] === 'checkpointMetadata')).toBe(true);
    for (const version of [0, 1, 2]) await store.delete(commitPath(version));
    const state = await loadState(store, ctx, {});
    expect([state.version, state.files.count, state.txns.get('job')?.version]).toEqual([2, 2, 1]);
    expect(await all(table)).toEqual(['{"id":2,"p":null}', '{"id":4,"p":"a"}']);
  });
});

test('columns that a table is clustered by have statistics, whatever its properties say', () => {
  const schema = parseDdl('a long, b struct<c:long,d:long>');
  const paths = (skipping: DataSkipping) =>
    planStatistics(schema, 'none', skipping).map(({ path }) => path.join('.'));
  expect(paths({ indexedColumns: 1, always: [['b', 'd']] })).toEqual(['a', 'b.d']);
  expect(paths({ indexedColumns: 0, statsColumns: [['b', 'c']], always: [['a']] })).toEqual(['a', 'b.c']);
});
