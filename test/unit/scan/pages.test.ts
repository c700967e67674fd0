import type { RecordBatch } from 'apache-arrow';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { canonicalLines } from '../../../src/cli/canonical.js';
import { isTableError } from '../../../src/errors.js';
import { fileSchema } from '../../../src/parquet/encode-schema.js';
import { decodeRowGroup, fetchRowGroup } from '../../../src/parquet/read.js';
import { rememberingReader } from '../../../src/parquet/source.js';
import { bindPredicate } from '../../../src/scan/bind.js';
import { evaluateRow } from '../../../src/scan/evaluate.js';
import { batchOf as batchOfPart, rowsOf } from '../../../src/scan/file-rows.js';
import { lookFirst, readingOf } from '../../../src/scan/late.js';
import { Locator } from '../../../src/scan/location.js';
import { type PlanOptions, planScan, type ScanPlan } from '../../../src/scan/plan.js';
import { scanBatches } from '../../../src/scan/read.js';
import { openUnits } from '../../../src/scan/units.js';
import { parseDdl } from '../../../src/schema/ddl.js';
import { batchFromRows } from '../../../src/schema/rows-in.js';
import { compareDatum } from '../../../src/schema/value.js';
import {
  batchOf,
  datumIn,
  field,
  LEAVES,
  type Leaves,
  leavesArbitrary,
  predicateArbitrary,
  SCHEMA,
} from './fixtures.js';
import { indexesOf, type PagedOptions, pagedFile, tableOfFile, vectorOf } from './paged.js';

type Table = Awaited<ReturnType<typeof tableOfFile>>;

/** A row and its position in the file. */
type Line = [position: number, json: string];

/** The plan with the position of each row as its last column. */
function withPosition(plan: ScanPlan): ScanPlan {
  const { fields } = plan.schema;
  const position = { from: 'position', field: field('_position', { type: 'long' }) } as const;
  return {
    ...plan,
    schema: { type: 'struct', fields: [...fields, position.field] },
    columns: [...plan.columns.slice(0, fields.length), position, ...plan.columns.slice(fields.length)],
  };
}

function linesIn(batch: RecordBatch, { schema }: ScanPlan): Line[] {
  return canonicalLines(batch, schema).map((line) => {
    const { _position, ...rest } = JSON.parse(line);
    return [Number(_position), JSON.stringify(rest)];
  });
}

/** The rows that a plan gives. */
async function linesOf({ store, ctx }: Table, asked: ScanPlan): Promise<Line[]> {
  const plan = withPosition(asked);
  const lines: Line[] = [];
  for await (const batch of scanBatches(store, ctx, plan)) lines.push(...linesIn(batch, plan));
  return lines;
}

/** The same, each row group by the columns of the predicate first, whether or not that pays. */
async function linesByLookingFirst({ store, ctx }: Table, asked: ScanPlan): Promise<Line[]> {
  const plan = withPosition(asked);
  const lines: Line[] = [];
  const locator = new Locator(store, ctx, {});
  for (const file of plan.files) {
    const reading = readingOf(plan);
    for (const { open, groups } of await openUnits(ctx, locator, reading, file, undefined)) {
      const nodes = open.nodes.filter((node) => node !== undefined);
      for (const group of groups) {
        const source = rememberingReader(open.source);
        const left = await lookFirst(reading, open, group, source);
        if (left === undefined) continue;
        const task = await fetchRowGroup(source, open.footer, left.index, nodes, left.selection);
        const parts = rowsOf(
          plan,
          open,
          left,
          decodeRowGroup(task),
          reading.filter,
          Number.POSITIVE_INFINITY,
        );
        for (const part of parts) lines.push(...linesIn(batchOfPart(plan, part), plan));
      }
    }
  }
  return lines;
}

/** Rows in the order of one of their columns, so that pages differ; some stay in disorder. */
function ordered(rows: readonly Leaves[], by: string | undefined): Leaves[] {
  const type = LEAVES.find(([name]) => name === by)?.[1];
  if (type === undefined) return [...rows];
  const rank = (row: Leaves) => row[by!]!;
  return [...rows].sort((a, b) =>
    rank(a) === null ? 1 : rank(b) === null ? -1 : compareDatum(type, rank(a), rank(b)),
  );
}

describe('pages', () => {
  it('never change what a predicate finds: any order, pages, nulls, vectors, indexes that are missing', async () => {
    const file = fc.record({
      rows: fc.array(leavesArbitrary, { minLength: 1, maxLength: 40 }),
      by: fc.option(fc.constantFrom(...LEAVES.map(([name]) => name)), { nil: undefined }),
      pageBytes: fc.integer({ min: 1, max: 60 }),
      rowsPerGroup: fc.integer({ min: 5, max: 40 }),
      dictionary: fc.boolean(),
      dictionaryBytes: fc.integer({ min: 1, max: 100 }),
      deniesDictionary: fc.boolean(),
      version: fc.constantFrom(1 as const, 2 as const),
      bare: fc.uniqueArray(fc.nat(LEAVES.length - 1), { maxLength: 4 }),
      boundless: fc.uniqueArray(fc.nat(LEAVES.length - 1), { maxLength: 4 }),
      deleted: fc.array(fc.constantFrom(0, 0, 1), { minLength: 40, maxLength: 40 }),
      limit: fc.option(fc.integer({ min: 1, max: 12 }), { nil: undefined }),
    });
    const trees = fc.array(predicateArbitrary, { minLength: 6, maxLength: 6 });
    await fc.assert(
      fc.asyncProperty(file, trees, async (made, conditions) => {
        const rows = ordered(made.rows, made.by);
        const bytes = await pagedFile(batchOf(rows), fileSchema(SCHEMA), {
          ...made,
          withoutIndex: (leaf) => made.bare.includes(leaf),
          withoutBounds: (leaf) => made.boundless.includes(leaf),
        });
        const flags = Uint8Array.from(made.deleted.slice(0, rows.length));
        const table = await tableOfFile(SCHEMA, bytes, vectorOf(flags));
        const all = await linesOf(table, await planScan(table.state));
        expect(all.map(([position]) => position)).toEqual([...rows.keys()].filter((row) => flags[row] === 0));
        for (const where of conditions) {
          const bound = bindPredicate(where, SCHEMA);
          const wanted = all.filter(([position]) => evaluateRow(bound, datumIn(rows[position]!)) === true);
          const { limit } = made;
          expect(await linesOf(table, await planScan(table.state, { where, limit }))).toEqual(
            wanted.slice(0, limit),
          );
          const plan = await planScan(table.state, { where });
          if (plan.where) expect(await linesByLookingFirst(table, plan)).toEqual(wanted);
          const narrow = await planScan(table.state, { where, columns: ['flag', 's'] });
          expect((await linesOf(table, narrow)).map(([position]) => position)).toEqual(
            wanted.map(([position]) => position),
          );
        }
      }),
      { numRuns: 40 },
    );
  });

  it('of lists, maps and structs are cut where rows begin', async () => {
    const schema = parseDdl(
      'id int, tags array<string>, deep array<struct<x: int, more: array<int>>>, m map<string, int>, s struct<a: int, b: string>',
    );
    const list = <T>(of: fc.Arbitrary<T>) => fc.option(fc.array(fc.option(of), { maxLength: 3 }));
    const row = fc.record({
      tags: list(fc.string({ maxLength: 3 })),
      deep: list(fc.record({ x: fc.option(fc.nat(9)), more: list(fc.nat(9)) })),
      m: fc.option(fc.dictionary(fc.string({ maxLength: 2 }), fc.option(fc.nat(9)), { maxKeys: 3 })),
      s: fc.option(fc.record({ a: fc.option(fc.nat(9)), b: fc.option(fc.string({ maxLength: 3 })) })),
    });
    const rows = fc.array(row, { minLength: 1, maxLength: 30 });
    const made = fc.record({
      pageBytes: fc.integer({ min: 1, max: 40 }),
      version: fc.constantFrom(1 as const, 2 as const),
    });
    await fc.assert(
      fc.asyncProperty(
        rows,
        made,
        fc.nat(29),
        fc.integer({ min: 1, max: 8 }),
        async (some, options, from, count) => {
          const numbered = some.map((each, id) => ({
            id,
            ...each,
            m: each.m && new Map(Object.entries(each.m)),
          }));
          const batch = batchFromRows(numbered, schema);
          const table = await tableOfFile(schema, await pagedFile(batch, fileSchema(schema), options));
          const all = await linesOf(table, await planScan(table.state));
          const plan = await planScan(table.state, { where: `id >= ${from} AND id < ${from + count}` });
          const wanted = all.filter(([id]) => id >= from && id < from + count);
          expect(await linesOf(table, plan)).toEqual(wanted);
          expect(await linesByLookingFirst(table, plan)).toEqual(wanted);
          const first = await planScan(table.state, { limit: count });
          expect(await linesOf(table, first)).toEqual(all.slice(0, count));
        },
      ),
      { numRuns: 60 },
    );
  });
});

const ROWS = 20_000;

/** A table of one file of ids in order with two texts that do not compress: some pages of numbers, many of text. */
async function largeTable(options: Partial<PagedOptions> = {}, deleted?: Uint8Array) {
  const schema = parseDdl('id long, shuffled long, text string, more string');
  const rows = Array.from({ length: ROWS }, (_, i) => ({
    id: BigInt(i),
    shuffled: BigInt((i * 1237) % ROWS),
    text: noise(i, 100),
    more: noise(i + ROWS, 100),
  }));
  const bytes = await pagedFile(batchFromRows(rows, schema), fileSchema(schema), {
    pageBytes: 16_384,
    ...options,
  });
  return tableOfFile(schema, bytes, deleted && vectorOf(deleted));
}

function noise(seed: number, length: number): string {
  let state = seed + 1;
  return Array.from({ length }, () => {
    state = (Math.imul(state, 1103515245) + 12345) >>> 0;
    return String.fromCharCode(33 + ((state >>> 16) % 90));
  }).join('');
}

/** What reading a plan costs. */
async function costOf(table: Table, options: PlanOptions) {
  const plan = await planScan(table.state, options);
  table.ctx.events.length = 0;
  const lines = await linesOf(table, plan);
  const events = table.ctx.events.filter((event) => event.type === 'request');
  return {
    ids: lines.map(([position]) => position),
    requests: events.length,
    received: events.reduce((sum, event) => sum + event.received, 0),
    size: plan.files[0]!.size,
  };
}

describe('a large file', () => {
  it('costs its tail, which has the indexes, and the pages of the rows wanted', async () => {
    const table = await largeTable();
    const { ids, requests, received, size } = await costOf(table, { where: 'id = 777' });
    expect(ids).toEqual([777]);
    expect(requests).toBeLessThanOrEqual(4);
    expect(received).toBeLessThan(64 * 1024 + 0.15 * size);
    // The footer and the indexes are kept; of the rows' pages alone is the second time.
    const again = await costOf(table, { where: 'id = 778' });
    expect(again.ids).toEqual([778]);
    expect(again.received).toBeLessThan(received - 60 * 1024);
  });

  it('is asked for the columns of the predicate first where others are most of it', async () => {
    const table = await largeTable({ withoutBounds: () => true });
    const { ids, received, size } = await costOf(table, { where: 'shuffled = 1237' });
    expect(ids).toEqual([1]);
    expect(received).toBeLessThan(64 * 1024 + 0.15 * size);
  });

  it('costs no other column where no row passes', async () => {
    const table = await largeTable({ withoutIndex: () => true });
    const { ids, requests, received } = await costOf(table, { where: 'shuffled * 2 = 1237' });
    expect(ids).toEqual([]);
    expect(requests).toBe(2);
    expect(received).toBeLessThan(200 * 1024);
  });

  it('is not asked for the dictionaries that the pages wanted do without', async () => {
    const dictionary = { dictionary: true, dictionaryBytes: 200_000 };
    const where = 'id = 19999';
    const table = await largeTable(dictionary);
    const { ids, received, size } = await costOf(table, { where });
    expect(ids).toEqual([19_999]);
    expect(received).toBeLessThan(64 * 1024 + 0.2 * size);
  });

  it('is asked for a dictionary after all where its footer says that no page uses it', async () => {
    const schema = parseDdl('id int, t string');
    // Pages of indices are ended by their number of rows alone.
    const rows = Array.from({ length: 45_000 }, (_, id) => ({ id, t: `t${id % 50}` }));
    const options = { pageBytes: 1 << 20, dictionary: true, deniesDictionary: true };
    const bytes = await pagedFile(batchFromRows(rows, schema), fileSchema(schema), options);
    const table = await tableOfFile(schema, bytes);
    const found = await linesOf(table, await planScan(table.state, { where: 'id = 44999' }));
    expect(found).toEqual([[44_999, '{"id":44999,"t":"t49"}']]);
  });

  it('is fetched whole, once, where all of it is wanted in spite of a predicate', async () => {
    const table = await largeTable();
    const { ids, requests, received, size } = await costOf(table, {
      where: 'length(text) + length(more) > 5',
    });
    expect(ids).toHaveLength(ROWS);
    expect(requests).toBe(2);
    expect(received).toBeLessThanOrEqual(size + 64 * 1024);
  });

  it('costs the pages of as many rows as a limit asks for, after those that are deleted', async () => {
    const table = await largeTable(
      {},
      Uint8Array.from({ length: ROWS }, (_, i) => (i < 45 ? 1 : 0)),
    );
    const { ids, received, size } = await costOf(table, { limit: 3 });
    expect(ids).toEqual([45, 46, 47]);
    expect(received).toBeLessThan(64 * 1024 + 0.15 * size);
    const some = await costOf(table, { limit: 3, where: 'shuffled % 2 = 0' });
    expect(some.ids).toEqual([46, 48, 50]);
    expect(some.received).toBeLessThan(0.15 * size);
    const wide = await costOf(table, { limit: 3, where: 'length(text) > 5' });
    expect(wide.ids).toEqual([45, 46, 47]);
    expect(wide.received).toBeLessThan(0.3 * size);
    const last = await costOf(table, { limit: 3, where: 'length(text) > 5 AND shuffled * 1 = 18763' });
    expect(last.ids).toEqual([19_999]);
  });

  it('of which an index lies ends in an error or is read as a whole', async () => {
    const schema = parseDdl('id int, t string');
    const batch = batchFromRows(
      Array.from({ length: 40 }, (_, id) => ({ id, t: `t${id}` })),
      schema,
    );
    const bytes = await pagedFile(batch, fileSchema(schema), { pageBytes: 16 });
    const all = await linesOf(
      await tableOfFile(schema, bytes),
      await planScan((await tableOfFile(schema, bytes)).state),
    );
    const [start, end] = indexesOf(bytes);
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: start, max: end - 1 }),
        fc.integer({ min: 1, max: 255 }),
        async (at, by) => {
          const lying = bytes.slice();
          lying[at] = (lying[at]! + by) & 255;
          const table = await tableOfFile(schema, lying);
          const found = await planScan(table.state, { where: 'id = 17' })
            .then((plan) => linesOf(table, plan))
            .catch((error: unknown) => error);
          if (Array.isArray(found)) expect(all).toEqual(expect.arrayContaining(found));
          else expect(isTableError(found, 'CORRUPT_DATA_FILE', 'LIMIT_EXCEEDED')).toBe(true);
        },
      ),
      { numRuns: 300 },
    );
  });
});
