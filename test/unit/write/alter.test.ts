import { afterAll, describe, expect, test } from 'vitest';
import { createRuntime, createTable, openTable, type Runtime } from '../../../src/index.js';
import { printDdl } from '../../../src/schema/ddl.js';
import { Pool } from '../../../src/stage/pool.js';
import { MemoryObjects, MemoryStore } from '../../../src/store/memory.js';
import { Table } from '../../../src/table.js';
import { create } from '../../../src/write/create.js';
import { FakeClock, fakeContext } from '../../support/fake-context.js';
import { tableContextOver } from '../../support/table-context.js';

const runtimes: Runtime[] = [createRuntime({ workers: 1 }), createRuntime({ workers: 1 })];
afterAll(async () => {
  for (const runtime of runtimes) await runtime.close();
});
let ours: Table;
let theirs: Table;
let names = 0;

async function race(schema: string, properties: Record<string, string> = {}) {
  const url = `memory://alter-${names++}`;
  ours = await createTable(url, { schema, properties, runtime: runtimes[0] });
  theirs = await openTable(url, { runtime: runtimes[1] });
}

const ddl = async (table: Table): Promise<string> => printDdl((await table.snapshot()).schema);

describe('beaten by another commit', () => {
  test('of rows, changes are made all the same', async () => {
    await race('id int');
    await ours.snapshot();
    await theirs.append([{ id: 1 }]);
    expect(await ours.alter({ addColumns: 'x int' })).toMatchObject({ status: 'committed', version: 2 });
  });

  test('of other changes, both stay', async () => {
    await race('id int');
    await Promise.all([
      ours.alter({ addColumns: 'x int' }),
      theirs.alter({ addColumns: 'y int' }),
      ours.alter({ setProperties: { owner: 'us' } }),
      theirs.alter({ description: 'd' }),
    ]);
    const snapshot = await ours.snapshot();
    expect(snapshot.version).toBe(4);
    expect(snapshot.schema.fields.map(({ name }) => name).sort()).toEqual(['id', 'x', 'y']);
    expect([snapshot.properties.owner, snapshot.description]).toEqual(['us', 'd']);
  });

  test('that makes them impossible, it is a conflict', async () => {
    await race('id int');
    const results = await Promise.allSettled(
      [ours, theirs, ours, theirs].map((table) => table.alter({ addColumns: 'x int' })),
    );
    const errors = results.flatMap((each) => (each.status === 'rejected' ? [each.reason.code] : []));
    expect(errors).toHaveLength(3);
    for (const code of errors) expect(['COMMIT_CONFLICT', 'INVALID_SCHEMA']).toContain(code);
    expect(await ddl(ours)).toBe('id int, x int');
  });

  test('strict rows that were staged before do not go in', async () => {
    await race('id int');
    const staged = await ours.stage([{ id: 1 }], 'append');
    await theirs.alter({ addConstraint: 'c', check: 'id > 1' });
    await expect(staged.commit()).rejects.toMatchObject({ code: 'COMMIT_CONFLICT' });
  });

  test('a new constraint is checked against the rows of the winner too', async () => {
    await race('id int');
    await ours.append([{ id: 5 }]);
    const results = await Promise.allSettled([
      ours.alter({ addConstraint: 'c', check: 'id > 1' }),
      theirs.append([{ id: 0 }]),
    ]);
    const [constraint, rows] = results;
    expect([constraint.status, rows.status].filter((status) => status === 'fulfilled')).toHaveLength(1);
    const { properties } = await ours.snapshot();
    expect(await ours.count()).toBe(properties['delta.constraints.c'] ? 1 : 2);
  });
});

test('a plan tells what would be, and commits nothing', async () => {
  await race('id int');
  const plan = await ours.planAlter([
    { addColumns: 't timestamp_ntz' },
    { setProperties: { 'delta.enableDeletionVectors': 'true' } },
  ]);
  expect(plan).toMatchObject({
    version: 0,
    operation: 'ALTER TABLE',
    changes: ['add t timestamp_ntz', 'set delta.enableDeletionVectors = true'],
    newFeatures: ['deletionVectors', 'timestampNtz'],
    protocol: { minReaderVersion: 3, minWriterVersion: 7 },
  });
  expect((await ours.snapshot()).version).toBe(0);
  await expect(ours.planAlter({ dropColumn: 'id' })).rejects.toMatchObject({ code: 'INVALID_SCHEMA' });
});

test('the commit that turns in-commit timestamps on is later than those before, even where the clock stands still', async () => {
  const ctx = fakeContext(new FakeClock());
  const pool = new Pool(ctx, { workers: 1 });
  const context = tableContextOver(
    new MemoryStore(ctx, `memory://alter-${names++}`, new MemoryObjects()),
    ctx,
    pool,
  );
  await create(context, { schema: 'id int' });
  const table = new Table(context);
  await table.append([{ id: 1 }]);
  await table.append([{ id: 2 }]);
  await table.alter({ setProperties: { 'delta.enableInCommitTimestamps': 'true' } });
  await table.append([{ id: 3 }]);
  await pool.close();
  const entries = [];
  for await (const entry of table.history()) entries.push(entry);
  const [last, enabling, before] = entries;
  const { properties } = await table.snapshot();
  expect(properties['delta.inCommitTimestampEnablementVersion']).toBe('3');
  expect(properties['delta.inCommitTimestampEnablementTimestamp']).toBe(String(enabling!.inCommitTimestamp));
  expect(enabling!.inCommitTimestamp).toBeGreaterThan(before!.timestamp);
  expect(last!.inCommitTimestamp).toBeGreaterThan(enabling!.inCommitTimestamp!);
});

test('a table with feature lists gains what it needs and nothing else', async () => {
  await race('id int', { 'delta.enableDeletionVectors': 'true' });
  await ours.alter({ addColumns: 'x int' });
  expect((await ours.alter({ addConstraint: 'c', check: 'id > 1' })).newFeatures).toEqual([
    'checkConstraints',
  ]);
  expect((await theirs.snapshot()).protocol.readerFeatures).toEqual(['deletionVectors']);
});

test('operations are told as other engines tell them', async () => {
  await race('id int, s struct<a:int>', { 'delta.columnMapping.mode': 'name' });
  await ours.alter([
    { addColumns: "x long comment 'c'", after: 'id' },
    { addColumns: 'b string', within: 's' },
  ]);
  await ours.alter({ renameColumn: ['s', 'b'], to: 'c d' });
  await ours.alter([{ dropColumn: 'x' }, { dropColumn: ['s', 'c d'] }]);
  await ours.alter({ addConstraint: 'Cc', check: 'id < 100' });
  await ours.alter({ dropConstraint: 'cc' });
  await ours.alter({ setProperties: { a: 'b' } });
  await ours.alter({ unsetProperties: ['a'] });
  const told = [];
  for await (const { commitInfo } of ours.history({ from: 1 }))
    told.unshift([commitInfo?.operation, commitInfo?.operationParameters]);
  expect(told).toEqual([
    [
      'ADD COLUMNS',
      {
        columns: JSON.stringify([
          {
            column: { name: 'x', type: 'long', nullable: true, metadata: { comment: 'c' } },
            position: 'AFTER id',
          },
          { column: { name: 's.b', type: 'string', nullable: true, metadata: {} } },
        ]),
      },
    ],
    ['RENAME COLUMN', { oldColumnPath: 's.b', newColumnPath: 's.`c d`' }],
    ['DROP COLUMNS', { columns: '["x","s.`c d`"]' }],
    ['ADD CONSTRAINT', { name: 'Cc', expr: 'id < 100' }],
    ['DROP CONSTRAINT', { name: 'cc', expr: 'id < 100', existed: 'true' }],
    ['SET TBLPROPERTIES', { properties: '{"a":"b"}' }],
    ['UNSET TBLPROPERTIES', { properties: '["a"]', ifExists: true }],
  ]);
});

describe('a default of the time', () => {
  const at = Date.parse('2024-05-06T07:08:09.012Z');

  async function timed(): Promise<{ table: Table; clock: FakeClock }> {
    const clock = new FakeClock(at);
    const ctx = fakeContext(clock);
    const pool = new Pool(ctx, { workers: 1 });
    const context = tableContextOver(
      new MemoryStore(ctx, `memory://time-${names++}`, new MemoryObjects()),
      ctx,
      pool,
    );
    await create(context, { schema: 'id int, t timestamp, n timestamp_ntz, d date, x date' });
    return { table: new Table(context), clock };
  }

  test('is the time of the write, one for all rows of it, in UTC', async () => {
    const { table, clock } = await timed();
    await table.alter([
      { changeColumn: 't', default: 'current_timestamp()' },
      { changeColumn: 'n', default: 'LOCALTIMESTAMP' },
      { changeColumn: 'd', default: 'now()' },
      { changeColumn: 'x', default: 'date_add(current_date, 1)' },
    ]);
    await table.append(Array.from({ length: 3 }, (_, id) => ({ id })));
    clock.advance(86_400_000);
    await table.merge([{ id: 9 }], { on: ['id'], whenNotMatched: { insert: { id: 'source.id' } } });
    const rows = await table.scan({ timestamp: 'string', where: 'id in (2, 9)' }).toArray();
    expect(rows.map(({ t, n, d, x }) => [t, n, d, x].map(String)).sort()).toEqual([
      ['2024-05-06T07:08:09.012000Z', '2024-05-06T07:08:09.012000', '2024-05-06', '2024-05-07'],
      ['2024-05-07T07:08:09.012000Z', '2024-05-07T07:08:09.012000', '2024-05-07', '2024-05-08'],
    ]);
    expect(await table.count({ where: "t = timestamp '2024-05-06T07:08:09.012Z'" })).toBe(3);
  });

  test('stands in text as what it is', async () => {
    const { table } = await timed();
    await expect(table.alter({ changeColumn: 'id', default: "length('now()') + now" })).rejects.toMatchObject(
      {
        code: 'INVALID_SCHEMA',
      },
    );
    await table.alter({ changeColumn: 'id', default: "length('now()')" });
    await table.append([{ d: null }]);
    await table.alter({ changeColumn: 'id', default: null });
    await table.append([{ d: null }]);
    const ids = (await table.scan({ columns: ['id'] }).toArray()).map(({ id }) => id);
    expect(ids.sort()).toEqual([5, null]);
  });
});

describe('a feature that readers of older versions need', () => {
  test.each([
    [
      'deletionVectors',
      { 'delta.enableDeletionVectors': 'true' },
      { 'delta.enableDeletionVectors': 'false' },
    ],
    ['v2Checkpoint', { 'delta.checkpointPolicy': 'v2' }, { 'delta.checkpointPolicy': 'classic' }],
  ])('is dropped when no version that can be read has traces of it: %s', async (feature, on, off) => {
    const ctx = fakeContext();
    const pool = new Pool(ctx, { workers: 1 });
    const objects = new MemoryObjects();
    const context = tableContextOver(new MemoryStore(ctx, `memory://drop-${names++}`, objects), ctx, pool);
    await create(context, { schema: 'id int', properties: on });
    const table = new Table(context);
    await table.append([{ id: 1 }, { id: 2 }]);
    await table.checkpoint();
    await table.delete({ where: 'id = 1' });
    await table.alter({ setProperties: off });
    const drop = { dropFeature: feature };
    const refused = { code: 'UNSUPPORTED_FEATURE' };
    await expect(table.alter(drop)).rejects.toMatchObject(refused);
    // The files are written again, and the log before a new checkpoint is cleaned up.
    await table.overwrite([{ id: 2 }], { all: true });
    await table.append([{ id: 3 }]);
    const version = await table.checkpoint();
    await expect(table.planAlter(drop)).rejects.toMatchObject(refused);
    for (const key of [...objects.keys()]) {
      const at = Number(/_delta_log\/(\d{20})/.exec(key)?.[1] ?? version);
      if (at < version) await context.store.delete(key);
    }
    const dropped = await table.alter(drop);
    expect(dropped).toMatchObject({ status: 'committed', droppedFeatures: [feature], newFeatures: [] });
    expect(dropped.protocol).toEqual({ minReaderVersion: 1, minWriterVersion: 2 });
    expect(await new Table(context).count()).toBe(2);
  });
});
