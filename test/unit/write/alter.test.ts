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
