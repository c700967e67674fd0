import { describe, expect, test } from 'vitest';
import { parseDdl } from '../../../src/schema/ddl.js';
import { batchFromRows, type Row } from '../../../src/schema/rows-in.js';
import { rowsFromBatch } from '../../../src/schema/rows-out.js';
import { batchOf } from '../../../src/write/columns.js';
import { Spool } from '../../../src/write/spool.js';
import { fakeContext } from '../../support/fake-context.js';

const schema = parseDdl(
  'id long, s string, b boolean, l array<string>, m map<string,int>, t struct<a:int,d:decimal(20,2)>',
);
const rows: Row[] = Array.from({ length: 300 }, (_, i) => ({
  id: i % 7 === 0 ? null : BigInt(i),
  s: i % 5 === 0 ? null : `text ${i}`,
  b: i % 3 === 0,
  l: i % 4 === 0 ? null : ['x', null, String(i)].slice(0, i % 4),
  m: i % 6 === 0 ? null : new Map([['k', i]]),
  t: i % 8 === 0 ? null : { a: i, d: i % 9 === 0 ? null : `${i}.50` },
}));

async function spooled(memory: number): Promise<{ spool: Spool; spilled: number; found: Row[] }> {
  const ctx = fakeContext();
  const spool = new Spool(schema, ctx, memory);
  for (let at = 0; at < rows.length; at += 30)
    await spool.add(batchFromRows(rows.slice(at, at + 30), schema));
  await spool.end();
  const found: Row[] = [];
  for (let part = 0; part < spool.parts; part++) {
    expect(spool.startOf(part)).toBe(found.length);
    expect(spool.partOf(found.length)).toBe(part);
    found.push(...rowsFromBatch(batchOf(await spool.part(part), schema), schema));
  }
  return { spool, spilled: ctx.events.filter(({ type }) => type === 'spilled').length, found };
}

describe('a spool', () => {
  test('holds what fits in memory as one part', async () => {
    const { spool, spilled, found } = await spooled(1e9);
    expect([spool.parts, spilled, spool.rows]).toEqual([1, 0, 300]);
    expect(found).toEqual(rows);
    await spool.close();
  });

  test('gives the same rows in the same order from the disk', async () => {
    const { spool, spilled, found } = await spooled(10_000);
    expect(spilled).toBeGreaterThan(1);
    expect(found).toEqual(rows);
    await spool.close();
  });
});
