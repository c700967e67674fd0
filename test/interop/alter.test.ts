import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type Alteration, createTable, type Row, type Table } from '../../src/index.js';
import { folder, open, ownLines, shared, sorted, startSpark } from './engines.js';

startSpark();
const root = folder();
const { engines, runtime } = shared();
const sql = (text: string) => engines.ask('spark.sql', { text });

/** Holds when Spark, and delta-rs where it can, read what is read here; gives the rows. */
async function agree(url: string, engine: 'all' | 'spark' = 'all'): Promise<Record<string, unknown>[]> {
  const ours = await ownLines(await open(url));
  expect(sorted((await engines.ask('spark.read', { url })).lines), 'read by Spark').toEqual(ours);
  if (engine === 'all')
    expect(sorted((await engines.ask('deltars.read', { url })).lines), 'read by delta-rs').toEqual(ours);
  return ours.map((line) => JSON.parse(line) as Record<string, unknown>);
}

async function make(
  name: string,
  schema: string,
  rows: Row[],
  options = {},
): Promise<[string, Table, string]> {
  const url = join(root, name);
  const table = await createTable(url, { schema, rows, runtime, ...options });
  return [url, table, `delta.\`${url}\``];
}

const operations = async (url: string): Promise<unknown[]> =>
  (await engines.ask('spark.history', { url })).map(({ operation }) => operation);

describe('columns', () => {
  it('are added by alter and by writes, and Spark writes them too', async () => {
    const [url, table, target] = await make('added', 'id int, s struct<a:int>', [{ id: 1, s: { a: 1 } }]);
    await table.alter([
      { addColumns: "n long comment 'how many'", after: 'id' },
      { addColumns: 'b string', within: 's' },
    ]);
    await sql(`INSERT INTO ${target} VALUES (2, 20, named_struct('a', 2, 'b', 'x'))`);
    await table.append([{ id: 3, n: 30n, s: { a: 3, b: 'y' }, day: new Date(0), l: [{ k: 1.5 }] }], {
      evolve: 'add-columns',
    });
    await table.merge([{ id: 2, n: 21n, s: null, day: null, l: [], ok: true }], {
      on: ['id'],
      evolve: 'add-columns',
    });
    expect(await agree(url)).toHaveLength(3);
    await sql(`ALTER TABLE ${target} ADD COLUMNS (last STRING)`);
    await sql(`UPDATE ${target} SET last = 'z', ok = false WHERE id = 1`);
    await table.alter({ changeColumn: 'last', comment: 'of Spark', first: true });
    await (await open(url)).append([{ last: 'q', id: 4, n: 1n, s: null, day: null, l: null, ok: null }]);
    const rows = await agree(url);
    expect(rows.map(({ id, last, ok }) => [id, last, ok])).toEqual(
      expect.arrayContaining([
        [1, 'z', false],
        [2, null, true],
        [3, null, null],
        [4, 'q', null],
      ]),
    );
    expect(await operations(url)).toEqual(
      expect.arrayContaining(['ADD COLUMNS', 'CHANGE COLUMN', 'WRITE', 'MERGE']),
    );
    const described = await sql(`DESCRIBE ${target}`);
    expect(described).toContainEqual({ col_name: 'n', data_type: 'bigint', comment: 'how many' });
  });

  it.each(['made here', 'made by Spark'])('are mapped, renamed and dropped: a table %s', async (maker) => {
    const isOurs = maker === 'made here';
    const url = join(root, isOurs ? 'mapped-here' : 'mapped-spark');
    const target = `delta.\`${url}\``;
    if (isOurs) {
      await createTable(url, {
        schema: 'id int, n int, p string, s struct<a:int>',
        partitionBy: ['p'],
        runtime,
      });
    } else {
      await sql(
        `CREATE TABLE ${target} (id INT, n INT, p STRING, s STRUCT<a:INT>) USING delta PARTITIONED BY (p) TBLPROPERTIES ('delta.columnMapping.mode' = 'name')`,
      );
    }
    const table = await open(url);
    await table.append([
      { id: 1, n: 10, p: 'x', s: { a: 1 } },
      { id: 2, n: 20, p: 'y', s: { a: 2 } },
    ]);
    if (isOurs) await table.alter({ setProperties: { 'delta.columnMapping.mode': 'name' } });
    await table.alter([
      { renameColumn: 'n', to: 'm m' },
      { renameColumn: 'p', to: 'q' },
      { renameColumn: ['s', 'a'], to: 'b' },
    ]);
    await agree(url);
    await sql(`INSERT INTO ${target} (id, \`m m\`, q, s) VALUES (3, 30, 'x', named_struct('b', 3))`);
    await sql(`UPDATE ${target} SET \`m m\` = 11 WHERE q = 'x' AND id = 1`);
    await table.append([{ id: 4, 'm m': 40, q: 'y', s: { b: 4 } }]);
    await agree(url);
    await table.alter({ dropColumn: 'm m' });
    await table.alter({ addColumns: 'n int' });
    await sql(`ALTER TABLE ${target} RENAME COLUMN id TO key`);
    await table.overwritePartitions([{ key: 5, q: 'y', s: { b: 5 }, n: 50 }]);
    await sql(`UPDATE ${target} SET n = 1 WHERE key = 3`);
    await table.checkpoint();
    const rows = await agree(url);
    expect(rows.map(({ key, q, n, s }) => [key, q, n, s]).sort()).toEqual([
      [1, 'x', null, { b: 1 }],
      [3, 'x', 1, { b: 3 }],
      [5, 'y', 50, { b: 5 }],
    ]);
    expect(await operations(url)).toEqual(expect.arrayContaining(['RENAME COLUMN', 'DROP COLUMNS']));
  });

  it('are renamed by id', async () => {
    const [url, table, target] = await make('by-id', 'id int, n int', [{ id: 1, n: 10 }], {
      properties: { 'delta.columnMapping.mode': 'id' },
    });
    await table.alter({ renameColumn: 'n', to: 'm' });
    await sql(`INSERT INTO ${target} VALUES (2, 20)`);
    await table.append([{ id: 3, m: 30, x: 'new' }], { evolve: 'add-columns' });
    expect((await agree(url)).map(({ m, x }) => [m, x])).toEqual(
      expect.arrayContaining([
        [10, null],
        [20, null],
        [30, 'new'],
      ]),
    );
  });

  it('are widened', async () => {
    const [url, table, target] = await make(
      'widened',
      'id byte, n int, f float, d decimal(4,1), l array<int>, p short',
      [{ id: 1, n: 10, f: 0.5, d: '1.5', l: [1], p: 1 }],
      { partitionBy: ['p'], properties: { 'delta.enableTypeWidening': 'true' } },
    );
    await table.append([{ id: 300, n: 5_000_000_000n, f: 0.5, d: '2.5', l: [2, null], p: 70_000 }], {
      evolve: 'widen',
    });
    await table.alter([
      { changeColumn: 'f', type: 'double' },
      { changeColumn: 'd', type: 'decimal(6,2)' },
      { changeColumn: ['l', 'element'], type: 'bigint' },
      { changeColumn: 'id', type: 'int' },
    ]);
    await table.append([{ id: 70_000, n: 1n, f: 0.1, d: '1234.56', l: [6_000_000_000n], p: 1 }]);
    // delta-rs does not read tables of wider types.
    await agree(url, 'spark');
    await sql(`ALTER TABLE ${target} ALTER COLUMN id TYPE BIGINT`);
    await sql(`UPDATE ${target} SET d = 9.25 WHERE n = 10`);
    await table.update({ set: { f: 'f + 1' }, where: 'p = 1' });
    await table.checkpoint();
    expect((await agree(url, 'spark')).map(({ d, f }) => [d, f])).toEqual(
      expect.arrayContaining([
        ['9.25', 1.5],
        ['2.50', 0.5],
        ['1234.56', 1.1],
      ]),
    );
  });
});

const FEATURES: readonly [string, Alteration][] = [
  ['deletion vectors', { setProperties: { 'delta.enableDeletionVectors': 'true' } }],
  ['the change data feed', { setProperties: { 'delta.enableChangeDataFeed': 'true' } }],
  ['in-commit timestamps', { setProperties: { 'delta.enableInCommitTimestamps': 'true' } }],
  ['checkpoints of the V2 Spec', { setProperties: { 'delta.checkpointPolicy': 'v2' } }],
  ['column mapping', { setProperties: { 'delta.columnMapping.mode': 'name' } }],
  ['a constraint', { addConstraint: 'Positive', check: 'n > 0' }],
];

describe('a table is given', () => {
  it.each(FEATURES)('%s, and Spark goes on with it', async (name, alteration) => {
    const [url, table, target] = await make(`with ${name}`, 'id int, n int', [
      { id: 1, n: 1 },
      { id: 2, n: 2 },
    ]);
    expect((await table.alter(alteration)).newFeatures).toHaveLength(1);
    await table.update({ set: { n: '3' }, where: 'id = 1' });
    await sql(`UPDATE ${target} SET n = 4 WHERE id = 2`);
    await sql(`INSERT INTO ${target} VALUES (3, 5)`);
    await table.delete({ where: 'id = 3' });
    await table.checkpoint();
    expect((await agree(url)).map(({ id, n }) => [id, n])).toEqual([
      [1, 3],
      [2, 4],
    ]);
    if (name === 'a constraint') {
      await expect(sql(`INSERT INTO ${target} VALUES (9, -1)`)).rejects.toThrow(/positive/i);
      await table.alter({ dropConstraint: 'positive' });
      await sql(`INSERT INTO ${target} VALUES (9, -1)`);
      await expect(table.alter({ addConstraint: 'positive', check: 'n > 0' })).rejects.toMatchObject({
        code: 'INVALID_ROW',
      });
    }
    if (name === 'the change data feed') {
      const changes = await sql(`SELECT count(*) AS c FROM table_changes_by_path('${url}', 2)`);
      expect(changes).toEqual([{ c: 6 }]);
    }
  });

  it('rows that are tracked from the first on', async () => {
    const [url, table, target] = await make('tracked', 'id int', []);
    await table.alter({ setProperties: { 'delta.enableRowTracking': 'true' } });
    await table.append([{ id: 1 }, { id: 2 }]);
    await sql(`INSERT INTO ${target} VALUES (3)`);
    const ids = await sql(`SELECT id, _metadata.row_id AS r FROM ${target} ORDER BY id`);
    expect(ids).toEqual([
      { id: 1, r: 0 },
      { id: 2, r: 1 },
      { id: 3, r: 2 },
    ]);
    await agree(url);
  });

  it('properties, a name and a description that Spark shows', async () => {
    const [url, table] = await make('told', 'id int', [{ id: 1 }]);
    await table.alter([
      { name: 'sales' },
      { description: 'of the day' },
      { setProperties: { owner: 'us', 'delta.appendOnly': 'true' } },
    ]);
    await table.alter({ unsetProperties: ['owner'] });
    const detail = await engines.ask('spark.detail', { url });
    expect(detail).toMatchObject({
      name: 'sales',
      description: 'of the day',
      properties: { 'delta.appendOnly': 'true' },
    });
    await agree(url);
  });
});

describe('a default', () => {
  it.each(['made here', 'made by Spark'])('holds for Spark and here: %s', async (maker) => {
    const isOurs = maker === 'made here';
    const [url, table, target] = await make(`defaults ${maker}`, 'id int, s string, t timestamp, d date', []);
    const defaults = { s: "'new'", t: 'current_timestamp()', d: "date_add(date '2024-02-28', 1)" };
    if (isOurs) {
      await table.alter(
        Object.entries(defaults).map(([changeColumn, text]) => ({ changeColumn, default: text })),
      );
    } else {
      await sql(
        `ALTER TABLE ${target} SET TBLPROPERTIES ('delta.feature.allowColumnDefaults' = 'supported')`,
      );
      for (const [name, text] of Object.entries(defaults))
        await sql(`ALTER TABLE ${target} ALTER COLUMN ${name} SET DEFAULT ${text}`);
    }
    await sql(`INSERT INTO ${target} (id) VALUES (1)`);
    await (await open(url)).append([{ id: 2 }, { id: 3 }]);
    const rows = await agree(url, 'spark');
    expect(rows.map(({ s, d }) => [s, d])).toEqual(Array(3).fill(['new', '2024-02-29']));
    expect(rows.every(({ t }) => t !== null)).toBe(true);
    expect(rows[1]!.t).toBe(rows[2]!.t);
    if (isOurs) await sql(`ALTER TABLE ${target} ALTER COLUMN s DROP DEFAULT`);
    else await table.alter({ changeColumn: 's', default: null });
    await sql(`INSERT INTO ${target} (id) VALUES (4)`);
    await (await open(url)).append([{ id: 5 }]);
    const after = await agree(url, 'spark');
    expect(after.filter(({ id }) => Number(id) > 3).map(({ s }) => s)).toEqual([null, null]);
  });
});

describe('a feature that was dropped', () => {
  it.each([
    ['inCommitTimestamp', { 'delta.enableInCommitTimestamps': 'true' }],
    ['changeDataFeed', { 'delta.enableChangeDataFeed': 'true' }],
    ['typeWidening', { 'delta.enableTypeWidening': 'true' }],
  ])('is missed by nobody: %s', async (dropFeature, properties) => {
    const [url, table, target] = await make(`dropped ${dropFeature}`, 'id int', [{ id: 1 }], { properties });
    await table.append([{ id: 2 }]);
    const names = Object.keys(properties);
    const { protocol } = await table.alter([{ unsetProperties: names }, { dropFeature }]);
    expect(protocol).toEqual({ minReaderVersion: 1, minWriterVersion: 2 });
    await sql(`INSERT INTO ${target} VALUES (3)`);
    await table.delete({ where: 'id = 1' });
    expect((await agree(url)).map(({ id }) => id)).toEqual([2, 3]);
    expect(await engines.ask('spark.detail', { url })).toMatchObject({
      minReaderVersion: 1,
      minWriterVersion: 2,
    });
  });
});
