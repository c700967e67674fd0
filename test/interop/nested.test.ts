import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createTable, parseDdl } from '../../src/index.js';
import { expectRows, folder, open, rowOf, schemaOf, shared, startSpark } from './engines.js';

const root = folder();
const { engines, runtime } = shared();
startSpark();

const DDL = `id int, l array<string>, s struct<a:int,b:struct<c:string,d:decimal(12,3)>>, m map<string,long>,
  ls array<struct<x:long,y:timestamp>>, ms map<int,array<double>>, lll array<array<array<int>>>`;
const schema = parseDdl(DDL);

const LINES = [
  {
    l: ['a', null, ''],
    s: { a: 1, b: { c: 'x', d: '-1.500' } },
    m: [
      ['k', '9007199254740993'],
      ['n', null],
    ],
    ls: [{ x: '1', y: '2024-01-01T00:00:00.000001Z' }, null, { x: null, y: null }],
    ms: [[1, [0.1, null]]],
    lll: [[[1, 2], [], null], [], null],
  },
  { l: [], s: { a: null, b: null }, m: [], ls: [], ms: [[2, []]], lll: [] },
  {
    l: [null],
    s: { a: 2, b: { c: null, d: null } },
    m: [['', '0']],
    ls: [null],
    ms: [[3, null]],
    lll: [[null]],
  },
  { l: null, s: null, m: null, ls: null, ms: null, lll: null },
  { l: ['last'], s: null, m: [['z', '1']], ls: null, ms: [], lll: [[[null]]] },
].map((row, id) => JSON.stringify({ id, ...row }));

describe('nested types', () => {
  it('written here are read by every engine, NULL, empty and NULL inside told apart', async () => {
    const url = join(root, 'ours');
    const table = await createTable(url, { schema, runtime });
    await table.append(LINES.map((line) => rowOf(line, schema)));
    await expectRows(url, LINES);
  });

  it('written by Spark are read here', async () => {
    const url = join(root, 'spark');
    await engines.ask('spark.write', { url, schema: schemaOf(schema), lines: LINES });
    await expectRows(url, LINES);
  });

  it('written by delta-rs are read here, and appended to', async () => {
    const url = join(root, 'deltars');
    await engines.ask('deltars.write', { url, schema: schemaOf(schema), lines: LINES });
    await expectRows(url, LINES);
    const result = await (await open(url)).append(LINES.slice(0, 1).map((line) => rowOf(line, schema)));
    expect(result.added.rows).toBe(1);
    await expectRows(url, [...LINES, LINES[0]!]);
  });

  it('whole columns of empty lists and maps are read by every engine', async () => {
    const url = join(root, 'empty');
    const lines = [0, 1, 2].map((id) =>
      JSON.stringify({ id, l: [], s: null, m: [], ls: [], ms: [], lll: [] }),
    );
    const table = await createTable(url, { schema, runtime });
    await table.append(lines.map((line) => rowOf(line, schema)));
    await expectRows(url, lines);
  });
});
