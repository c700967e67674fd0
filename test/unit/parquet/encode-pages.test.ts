import fc from 'fast-check';
import { readColumnIndex } from 'hyparquet';
import { describe, expect, test } from 'vitest';
import { encodeParquet } from '../../../src/parquet/encode.js';
import { columnOf } from '../../../src/parquet/encode-columns.js';
import { textPages } from '../../../src/parquet/encode-pages.js';
import { fileSchema } from '../../../src/parquet/encode-schema.js';
import { bytesSource, readFooter } from '../../../src/parquet/flat/read.js';
import { parsePageIndex } from '../../../src/parquet/page-index.js';
import { parseDdl } from '../../../src/schema/ddl.js';
import { batchFromRows } from '../../../src/schema/rows-in.js';

const SCHEMA = parseDdl('s string');

function columnOfTexts(values: readonly (string | null)[]) {
  const batch = batchFromRows(
    values.map((s) => ({ s })),
    SCHEMA,
  );
  return columnOf(batch.data.children[0]!, { kind: 'bytes' });
}

/** The index as another reader of Parquet understands it. */
function readIndex(index: Uint8Array) {
  const view = new DataView(index.slice().buffer);
  // The unsigned bytes themselves, not text.
  const element = { name: 's', type: 'BYTE_ARRAY', repetition_type: 'OPTIONAL' } as const;
  return readColumnIndex({ view, offset: 0 }, element, {
    stringFromBytes: (bytes: Uint8Array) => bytes,
  } as never);
}

describe('the pages of a column of strings', () => {
  test('have bounds that enclose their values, an order that holds, and as many NULLs as there are', () => {
    const unit = fc.constantFrom('a', 'b', '\0', 'é', '￿', '😀', '\u{10ffff}');
    const text = fc.oneof(
      fc.string({ unit, maxLength: 4 }),
      fc.string({ unit, minLength: 60, maxLength: 70 }),
    );
    const values = fc.array(fc.option(text), { minLength: 1, maxLength: 30 });
    const starts = fc.uniqueArray(fc.integer({ min: 1, max: 29 }), { maxLength: 6 });
    fc.assert(
      fc.property(values, starts, fc.constantFrom('none', 'up', 'down'), (given, cuts, order) => {
        const sign = order === 'up' ? 1 : -1;
        const sorted = [...given].sort(
          (a, b) => sign * Buffer.compare(Buffer.from(a ?? ''), Buffer.from(b ?? '')),
        );
        const texts = order === 'none' ? given : sorted;
        const firstRows = [0, ...cuts.filter((row) => row < texts.length).sort((a, b) => a - b)];
        const { bounds, index } = textPages(columnOfTexts(texts), firstRows);
        const bytes = texts.filter((each) => each !== null).map((each) => Buffer.from(each));
        const all = bytes.sort(Buffer.compare);
        expect(bounds && Buffer.from(bounds.min)).toEqual(all[0]);
        expect(bounds && Buffer.from(bounds.max)).toEqual(all.at(-1));
        if (index === undefined) {
          const raisable = (each: string | null) => !each?.startsWith('\u{10ffff}'.repeat(16));
          expect(firstRows.length === 1 || !texts.every(raisable)).toBe(true);
          return;
        }
        const read = readIndex(index);
        const mins = read.min_values as unknown as Uint8Array[];
        const maxes = read.max_values as unknown as Uint8Array[];
        firstRows.forEach((first, page) => {
          const own = texts.slice(first, firstRows[page + 1]);
          const there = own.filter((each) => each !== null);
          expect(read.null_pages[page]).toBe(there.length === 0);
          expect(Number(read.null_counts![page])).toBe(own.length - there.length);
          for (const each of there) {
            expect(Buffer.compare(mins[page]!, Buffer.from(each))).toBeLessThanOrEqual(0);
            expect(Buffer.compare(maxes[page]!, Buffer.from(each))).toBeGreaterThanOrEqual(0);
          }
        });
        const pages = [...firstRows.keys()].filter((page) => !read.null_pages[page]);
        const follow = (list: Uint8Array[], way: number) =>
          pages.every((page, i) => i === 0 || Buffer.compare(list[page]!, list[pages[i - 1]!]!) * way >= 0);
        if (read.boundary_order === 'ASCENDING') expect(follow(mins, 1) && follow(maxes, 1)).toBe(true);
        if (read.boundary_order === 'DESCENDING') expect(follow(mins, -1) && follow(maxes, -1)).toBe(true);
      }),
    );
  });

  test('stand in a file of several row groups', async () => {
    const schema = parseDdl('id int, key string, maybe string');
    const keyOf = (id: number) => `k${String(id).padStart(8, '0')}`;
    const rows = Array.from({ length: 90_000 }, (_, id) => ({
      id,
      key: keyOf(id),
      maybe: id < 30_000 ? null : id % 2 === 0 ? null : 'there',
    }));
    const { bytes } = await encodeParquet([batchFromRows(rows, schema)], fileSchema(schema), {
      rowGroupRows: 50_000,
    });
    const footer = await readFooter(bytesSource(bytes));
    let start = 0;
    footer.rowGroups.forEach(({ chunks, rows: count }, group) => {
      for (const column of [1, 2]) {
        const { places, bounds } = chunks[column]!.pageIndex!;
        const part = (range: { start: number; end: number }) => bytes.subarray(range.start, range.end);
        const index = parsePageIndex(footer, group, column, part(places), part(bounds!))!;
        const { firstRows } = index.places;
        expect(firstRows.length).toBeGreaterThan(1);
        firstRows.forEach((first, page) => {
          const last = (firstRows[page + 1] ?? count) - 1;
          const own = rows.slice(start + first, start + last + 1);
          const { min, max, nullCount } = index.bounds!(page)!;
          const text = (given: Uint8Array | undefined) => given && Buffer.from(given).toString();
          if (column === 1) expect([text(min), text(max)]).toEqual([own[0]!.key, own.at(-1)!.key]);
          else expect(nullCount).toBe(own.filter(({ maybe }) => maybe === null).length);
        });
      }
      start += count;
    });
  });
});

test('floats and doubles among which there is a NaN have no bounds, wherever they stand; others have', async () => {
  const schema = parseDdl('a double, s struct<f: float, l: array<double>>, b double, t string');
  const encodeRows = async (count: number, nan: number) => {
    const rows = Array.from({ length: count }, (_, i) => ({
      a: nan,
      s: { f: nan, l: [1, nan, null] },
      b: i,
      t: 'x',
    }));
    rows.push({ a: 1, s: { f: 2, l: [] }, b: 3, t: 'y' });
    const { bytes } = await encodeParquet([batchFromRows(rows, schema)], fileSchema(schema));
    const { leaves, rowGroups } = await readFooter(bytesSource(bytes));
    return leaves.map(({ path, index }) => {
      const { statistics, pageIndex } = rowGroups[0]!.chunks[index]!;
      return [path[0], statistics?.min !== undefined, statistics?.nullCount, pageIndex?.bounds !== undefined];
    });
  };
  expect(await encodeRows(300, Number.NaN)).toEqual([
    ['a', false, 0, false],
    ['s', false, 0, false],
    ['s', false, 301, false],
    ['b', true, 0, true],
    ['t', true, 0, false],
  ]);
  expect((await encodeRows(300, 7)).map(([, isBounded]) => isBounded)).toEqual([
    true,
    true,
    true,
    true,
    true,
  ]);
});
