import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createTable, parseDdl, type Row } from '../../src/index.js';
import type { BuiltColumn } from '../support/engines/client.js';
import { folder, open, ownLines, schemaOf, shared, sorted, startSpark } from './engines.js';

const root = folder();
const { engines, runtime } = shared();
startSpark();

interface Feature {
  readonly name: string;
  readonly columns: string | readonly BuiltColumn[];
  readonly properties: string;
  /** A row as this library takes it; generated columns left out. */
  readonly row: (id: number, n: number, day: string) => Row;
  /** Instead of partitions. */
  readonly clusterBy?: string;
  /** What Spark does to the table once it has rows. */
  readonly alter?: string;
}

const plain = (id: number, n: number, day: string): Row => ({ id, n, day });
/** For statements of a few rows, compiling them costs more than it saves. */
const SETTINGS = {
  'spark.sql.codegen.wholeStage': 'false',
  'spark.sql.codegen.factoryMode': 'NO_CODEGEN',
  'spark.sql.shuffle.partitions': '1',
  'spark.databricks.delta.snapshotPartitions': '1',
};
const COLUMNS = 'id INT, n INT, day DATE';
const FEATURES: readonly Feature[] = [
  {
    name: 'many',
    columns: 'id INT NOT NULL, n INT, day DATE, t TIMESTAMP_NTZ',
    properties: ['domainMetadata', 'vacuumProtocolCheck', 'checkpointProtection', 'deletionVectors']
      .map((feature) => `'delta.feature.${feature}' = 'supported'`)
      .concat("'delta.enableDeletionVectors' = 'true'")
      .join(', '),
    row: (id, n, day) => ({ id, n, day, t: `${day}T00:00:00.000001` }),
  },
  {
    name: 'widened',
    columns: 'id INT, n SMALLINT, day DATE',
    properties: "'delta.enableTypeWidening' = 'true'",
    row: plain,
    alter: 'ALTER COLUMN n TYPE INT',
  },
  { name: 'clusters', columns: COLUMNS, properties: '', row: plain, clusterBy: 'id' },
  {
    name: 'generated',
    columns: [
      { name: 'id', type: 'INT' },
      { name: 'n', type: 'INT' },
      { name: 'day', type: 'DATE' },
      { name: 'twice', type: 'INT', generated: 'n * 2' },
      { name: 'month', type: 'STRING', generated: "date_format(day, 'yyyy-MM')" },
    ],
    properties: '',
    row: plain,
  },
  {
    name: 'check',
    columns: 'id INT, n INT, day DATE',
    properties: "'delta.feature.checkConstraints' = 'supported', 'delta.constraints.small' = 'n < 1000'",
    row: plain,
  },
  {
    name: 'row-tracking',
    columns: 'id INT, n INT, day DATE',
    properties: "'delta.enableRowTracking' = 'true'",
    row: plain,
  },
  {
    name: 'row-tracking-vectors',
    columns: 'id INT, n INT, day DATE',
    properties: "'delta.enableRowTracking' = 'true', 'delta.enableDeletionVectors' = 'true'",
    row: plain,
  },
  {
    name: 'v2-checkpoint',
    columns: 'id INT, n INT, day DATE',
    properties: "'delta.checkpointPolicy' = 'v2'",
    row: plain,
  },
  {
    name: 'defaults',
    columns: "id INT, n INT, day DATE, s STRING DEFAULT 'none'",
    properties: "'delta.feature.allowColumnDefaults' = 'supported'",
    row: plain,
  },
  {
    name: 'changes',
    columns: 'id INT, n INT, day DATE',
    properties: "'delta.enableChangeDataFeed' = 'true'",
    row: plain,
  },
  {
    name: 'changes-vectors',
    columns: 'id INT, n INT, day DATE',
    properties: "'delta.enableChangeDataFeed' = 'true', 'delta.enableDeletionVectors' = 'true'",
    row: plain,
  },
  {
    name: 'mapped-name',
    columns: 'id INT, n INT, day DATE',
    properties: "'delta.columnMapping.mode' = 'name'",
    row: plain,
  },
  {
    name: 'mapped-id',
    columns: 'id INT, n INT, day DATE',
    properties: "'delta.columnMapping.mode' = 'id', 'delta.enableDeletionVectors' = 'true'",
    row: plain,
  },
  {
    name: 'in-commit',
    columns: 'id INT, n INT, day DATE',
    properties: "'delta.enableInCommitTimestamps' = 'true'",
    row: plain,
  },
];

describe.each(FEATURES)('a table of Spark with $name', (feature) => {
  const { name, columns, properties, row, clusterBy, alter } = feature;
  it('is written here by every verb, and read and written again by Spark', async () => {
    const url = join(root, name);
    const target = `delta.\`${url}\``;
    const ask = (text: string) => engines.ask('spark.sql', { text, settings: SETTINGS });
    const layout = clusterBy ? `CLUSTER BY (${clusterBy})` : 'PARTITIONED BY (day)';
    const told = properties ? ` TBLPROPERTIES (${properties})` : '';
    if (typeof columns === 'string')
      await ask(`CREATE TABLE ${target} (${columns}) USING delta ${layout}${told}`);
    else await engines.ask('spark.create', { url, columns, partitionBy: ['day'] });
    const table = await open(url);
    const agree = async () => {
      const ours = await ownLines(await open(url));
      const answer = await engines.ask('spark.read', { url });
      const spark = sorted(answer.lines);
      expect.soft(ours).toEqual(spark);
      return spark.map((line) => JSON.parse(line) as { id: number; n: number; day: string });
    };
    await table.append([
      row(1, 1, '2024-01-01'),
      row(2, 2, '2024-01-01'),
      row(3, 3, '2024-01-02'),
      row(4, 4, '2024-01-02'),
    ]);
    if (alter) await ask(`ALTER TABLE ${target} ${alter}`);
    const second = [row(5, 5, '2024-01-02'), row(6, 6, '2024-01-02')];
    if (clusterBy) await table.overwrite(second, { where: "day = '2024-01-02'" });
    else await table.overwritePartitions(second);
    await table.merge([row(5, 50, '2024-01-02'), row(7, 70, '2024-01-03')], { on: ['id'] });
    await table.delete({ where: 'id = 1' });
    await table.update({ set: { n: 'n + 1' }, where: 'id = 2' });
    await table.overwrite([row(8, 8, '2024-01-03')], { where: "n >= 8 and day = '2024-01-03'" });
    await table.checkpoint();
    const pairs = (rows: readonly { id: number; n: number }[]) =>
      rows.map(({ id, n }) => `${id}=${n}`).sort();
    expect(pairs(await agree())).toEqual(['2=3', '5=50', '6=6', '8=8']);
    await ask(`UPDATE ${target} SET n = 9 WHERE id = 6`);
    await ask(`DELETE FROM ${target} WHERE id = 8`);
    await (await open(url)).update({ set: { n: 'n * 2' }, where: 'true' });
    expect(pairs(await agree())).toEqual(['2=6', '5=100', '6=18']);
    // Spark reads every row to check it, writes the files again, and reads its own checkpoint of all that.
    await ask(
      `ALTER TABLE ${target} ADD CONSTRAINT sane CHECK (id > 0 AND n > 0 AND day >= DATE '2024-01-01')`,
    );
    await ask(`OPTIMIZE ${target}`);
    await engines.ask('spark.checkpoint', { url });
    await (await open(url)).delete({ where: 'id = 5' });
    expect(pairs(await agree())).toEqual(['2=6', '6=18']);
    if (name === 'generated') {
      const sound = `(twice <=> n * 2 AND month <=> date_format(day, 'yyyy-MM'))`;
      expect(await ask(`SELECT count_if(NOT ${sound}) AS wrong FROM ${target}`)).toEqual([{ wrong: 0 }]);
    }
    if (name.startsWith('row-tracking')) {
      const ids = await ask(`SELECT id, _metadata.row_id AS r FROM ${target} ORDER BY id`);
      expect(new Set(ids.map(({ r }) => r)).size).toBe(2);
      expect(ids.find(({ id }) => id === 2)).toEqual({ id: 2, r: 1 });
    }
    if (name.startsWith('changes')) {
      const { version } = await (await open(url)).snapshot();
      const feed = `table_changes_by_path('${url}', 1, ${version})`;
      const theirs = await ask(`SELECT _change_type AS c, id, n, _commit_version AS v FROM ${feed}`);
      const ours: unknown[] = [];
      for await (const change of (await open(url)).changes({ from: 1 }))
        ours.push({ c: change._change_type, id: change.id, n: change.n, v: Number(change._commit_version) });
      const text = (rows: readonly unknown[]) => rows.map((each) => JSON.stringify(each)).sort();
      expect(text(ours)).toEqual(text(theirs));
    }
  });
});

describe('rules that Spark put into a table', () => {
  it('are kept here as Spark keeps them', async () => {
    const url = join(root, 'rules');
    const target = `delta.\`${url}\``;
    await engines.ask('spark.sql', { text: `CREATE TABLE ${target} (id INT, n INT) USING delta` });
    await engines.ask('spark.sql', { text: `ALTER TABLE ${target} ADD CONSTRAINT positive CHECK (n > 0)` });
    const table = await open(url);
    await expect(table.append([{ id: 1, n: null }])).rejects.toMatchObject({ code: 'INVALID_ROW' });
    await expect(
      engines.ask('spark.sql', { text: `INSERT INTO ${target} VALUES (1, NULL)` }),
    ).rejects.toThrow(/CHECK constraint/);
    await table.append([{ id: 1, n: 1 }]);
    expect((await engines.ask('spark.read', { url })).lines).toEqual(['{"id":1,"n":1}']);
  });
});

describe('a table of Spark with an identity column', () => {
  it('is read here, and refused to every verb by the name of the feature', async () => {
    const url = join(root, 'identity');
    const columns = [
      { name: 'k', type: 'BIGINT', identity: true },
      { name: 'id', type: 'INT' },
    ];
    await engines.ask('spark.create', { url, columns, partitionBy: [] });
    await engines.ask('spark.sql', { text: `INSERT INTO delta.\`${url}\` (id) VALUES (1), (2)` });
    const table = await open(url);
    expect(await ownLines(table)).toEqual(sorted((await engines.ask('spark.read', { url })).lines));
    const refusal = { code: 'UNSUPPORTED_FEATURE', message: expect.stringMatching(/identityColumns/) };
    await expect(table.append([{ id: 3 }])).rejects.toMatchObject(refusal);
    await expect(table.delete({ where: 'id = 1' })).rejects.toMatchObject(refusal);
  });
});

describe('a clustered table of Spark', () => {
  it('is written here with statistics of its clustering columns, and keeps them', async () => {
    const url = join(root, 'clustered');
    const target = `delta.\`${url}\``;
    const ask = (text: string) => engines.ask('spark.sql', { text, settings: SETTINGS });
    await ask(`CREATE TABLE ${target} (a INT, b STRING, id INT) USING delta CLUSTER BY (id)`);
    const table = await open(url);
    await table.append([
      { a: 1, b: 'x', id: 1 },
      { a: 2, b: 'y', id: 2 },
    ]);
    await table.merge([{ a: 3, b: 'z', id: 2 }], { on: ['id'] });
    for (const { stats } of await (await table.snapshot()).files())
      expect(JSON.parse(stats!).minValues).toHaveProperty('id');
    await ask(`OPTIMIZE ${target}`);
    const detail = await engines.ask('spark.detail', { url });
    expect(detail).toMatchObject({ clusteringColumns: ['id'] });
    expect(sorted((await engines.ask('spark.read', { url })).lines)).toEqual(await ownLines(await open(url)));
  });
});

describe('a table of Spark that takes appends alone', () => {
  it('is appended to and checkpointed here and by Spark; neither deletes', async () => {
    const url = join(root, 'append-only');
    const target = `delta.\`${url}\``;
    const ask = (text: string) => engines.ask('spark.sql', { text, settings: SETTINGS });
    await ask(`CREATE TABLE ${target} (${COLUMNS}) USING delta TBLPROPERTIES ('delta.appendOnly' = 'true')`);
    const table = await open(url);
    await table.append([plain(1, 1, '2024-01-01')]);
    await table.merge([plain(2, 2, '2024-01-02')], { on: ['id'], whenMatched: [] });
    await table.checkpoint();
    await ask(`INSERT INTO ${target} VALUES (3, 3, DATE '2024-01-03')`);
    await expect(table.delete({ where: 'id = 1' })).rejects.toMatchObject({ code: 'APPEND_ONLY' });
    await expect(ask(`DELETE FROM ${target} WHERE id = 1`)).rejects.toThrow(/append/i);
    const { lines } = await engines.ask('spark.read', { url });
    expect(lines).toHaveLength(3);
    expect(await ownLines(await open(url))).toEqual(sorted(lines));
  });
});

describe('a table made here', () => {
  it('with a generated column is read and written by Spark, which keeps its rule', async () => {
    const url = join(root, 'ours-generated');
    const { fields } = parseDdl('id int, t timestamp, day date');
    const day = { ...fields[2]!, metadata: { 'delta.generationExpression': 'CAST(t AS DATE)' } };
    const table = await createTable(url, {
      schema: { type: 'struct', fields: [fields[0]!, fields[1]!, day] },
      partitionBy: ['day'],
      rows: [{ id: 1, t: '2024-01-01T10:00:00Z' }],
      runtime,
    });
    const target = `delta.\`${url}\``;
    await engines.ask('spark.sql', {
      text: `INSERT INTO ${target} (id, t) VALUES (2, TIMESTAMP '2024-01-02 10:00:00')`,
    });
    const wrong = `INSERT INTO ${target} VALUES (3, TIMESTAMP '2024-01-02 10:00:00', DATE '2020-01-01')`;
    await expect(engines.ask('spark.sql', { text: wrong })).rejects.toThrow(/CHECK constraint/);
    await table.update({ set: { t: "timestamp '2024-03-03T10:00:00Z'" }, where: 'id = 2' });
    const { lines } = await engines.ask('spark.read', { url, where: "day = '2024-03-03'" });
    expect(lines).toEqual(['{"id":2,"t":"2024-03-03T10:00:00.000000Z","day":"2024-03-03"}']);
  });

  it.each(['name', 'id'])('with columns mapped by %s is read and written by Spark', async (mode) => {
    const url = join(root, `ours-${mode}`);
    const schema = parseDdl('id int, `a b` string');
    const table = await createTable(url, {
      schema,
      properties: { 'delta.columnMapping.mode': mode },
      rows: [{ id: 1, 'a b': 'x' }],
      runtime,
    });
    await engines.ask('spark.write', { url, schema: schemaOf(schema), lines: ['{"id":2,"a b":"y"}'] });
    await table.delete({ where: 'id = 1' });
    expect((await engines.ask('spark.read', { url })).lines).toEqual(['{"id":2,"a b":"y"}']);
    expect(await ownLines(await open(url))).toEqual(['{"id":2,"a b":"y"}']);
  });
});
