import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createTable, parseDdl, type Table } from '../../src/index.js';
import { folder, open, ownLines, rowOf, shared, sorted, startSpark } from './engines.js';

const root = folder();
const { engines, runtime } = shared();
startSpark();
const schema = parseDdl('id int, n int, c string');
const line = (id: number, n: number | null, c: string | null) => JSON.stringify({ id, n, c });
const rows = (lines: readonly string[]) => lines.map((each) => rowOf(each, schema));
const BASE = Array.from({ length: 40 }, (_, i) =>
  line(i, i % 7, i % 3 === 0 ? null : i % 3 === 1 ? 'a' : 'b'),
);

async function ourTable(
  name: string,
  properties?: Record<string, string>,
): Promise<{ url: string; table: Table }> {
  const url = join(root, name);
  const table = await createTable(url, { schema, partitionBy: ['c'], properties, runtime });
  await table.append(rows(BASE));
  return { url, table };
}

/** What the same operations make of the lines. */
class Model {
  rows = new Map(BASE.map((each) => [(JSON.parse(each) as { id: number }).id, JSON.parse(each)]));
  get lines(): string[] {
    return [...this.rows.values()].map((row) => JSON.stringify(row));
  }
  delete(test: (row: { id: number; n: number; c: string | null }) => boolean): void {
    for (const [id, row] of this.rows) if (test(row)) this.rows.delete(id);
  }
  put(...lines: string[]): void {
    for (const each of lines) this.rows.set((JSON.parse(each) as { id: number }).id, JSON.parse(each));
  }
}

describe.each([
  ['copies', {}],
  ['deletion vectors', { 'delta.enableDeletionVectors': 'true' }],
])('the verbs, by %s', (name, properties: Record<string, string>) => {
  it('make tables that every engine reads alike, and Spark goes on with', async () => {
    const { url, table } = await ourTable(`verbs-${name.length}`, properties);
    const model = new Model();
    const check = async () => {
      const expected = sorted(model.lines);
      expect.soft(await ownLines(await open(url)), 'read here').toEqual(expected);
      expect
        .soft(sorted((await engines.ask('spark.read', { url })).lines), 'read by Spark')
        .toEqual(expected);
      expect
        .soft(sorted((await engines.ask('deltars.read', { url })).lines), 'read by delta-rs')
        .toEqual(expected);
    };
    await table.delete({ where: 'n = 3' });
    model.delete(({ n }) => n === 3);
    await check();
    await table.update({ set: { n: 'n + 100' }, where: "c = 'a' and id < 20" });
    for (const row of model.rows.values()) if (row.c === 'a' && row.id < 20) row.n += 100;
    await check();
    await table.merge(rows([line(1, -1, 'a'), line(2, null, 'b'), line(77, 7, null)]), { on: ['id', 'c'] });
    model.put(line(1, -1, 'a'), line(2, null, 'b'), line(77, 7, null));
    await check();
    const target = `delta.\`${url}\``;
    await engines.ask('spark.sql', { text: `DELETE FROM ${target} WHERE id IN (5, 6, 12)` });
    model.delete(({ id }) => [5, 6, 12].includes(id));
    await table.checkpoint();
    await table.delete({ where: 'id in (8, 9)' });
    model.delete(({ id }) => [8, 9].includes(id));
    await check();
    await engines.ask('spark.sql', { text: `UPDATE ${target} SET n = 0 WHERE id = 11` });
    model.rows.get(11)!.n = 0;
    await table.overwrite(rows([line(200, 1, 'a'), line(201, 2, 'a')]), { where: "c = 'a' and id >= 16" });
    model.delete(({ id, c }) => c === 'a' && id >= 16);
    model.put(line(200, 1, 'a'), line(201, 2, 'a'));
    await table.replaceUsing(rows([line(200, 5, 'b')]), { columns: ['id'] });
    model.put(line(200, 5, 'b'));
    await check();
    const [told] = await engines.ask('spark.history', { url, limit: 1 });
    expect(told).toMatchObject({
      operation: 'WRITE',
      operationMetrics: { numOutputRows: expect.any(String) },
    });
  });
});

describe('write-serializable, with Spark in between', () => {
  it('takes its appends for blind, and its other writes for what they are', async () => {
    const { url, table } = await ourTable('isolation', { 'delta.isolationLevel': 'WriteSerializable' });
    const target = `delta.\`${url}\``;
    const model = new Model();
    const staged = await table.stage(undefined, { verb: 'update', set: { n: '50' }, where: 'id >= 30' });
    const files = staged.files.map(({ path }) => path);
    await engines.ask('spark.sql', { text: `INSERT INTO ${target} VALUES (90, 1, 'a')` });
    expect(await staged.commit()).toMatchObject({ version: 3, rows: { updated: 10 } });
    expect(staged.files.map(({ path }) => path)).toEqual(files);
    for (const row of model.rows.values()) if (row.id >= 30) row.n = 50;
    model.put(line(90, 1, 'a'));
    expect.soft(await ownLines(table)).toEqual(sorted(model.lines));

    const again = await table.stage(undefined, { verb: 'delete', where: 'id >= 35' });
    await engines.ask('spark.sql', {
      text: `INSERT INTO ${target} SELECT id + 1, n, c FROM ${target} WHERE id = 90`,
    });
    expect(await again.commit()).toMatchObject({ rows: { deleted: 7 } });
    model.delete(({ id }) => id >= 35);
    expect(await ownLines(table)).toEqual(sorted(model.lines));
    expect(sorted((await engines.ask('spark.read', { url })).lines)).toEqual(sorted(model.lines));
    const [told] = await engines.ask('spark.history', { url, limit: 1 });
    expect(told).toMatchObject({ operation: 'DELETE', isolationLevel: 'WriteSerializable' });
  });
});
