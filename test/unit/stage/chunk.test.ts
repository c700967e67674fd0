import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { columnOf, type Range, shapeOf } from '../../../src/parquet/encode-columns.js';
import { parseDdl } from '../../../src/schema/ddl.js';
import { batchFromRows, type Row } from '../../../src/schema/rows-in.js';
import { measureChunk, openChunk, orderChunk, packChunk } from '../../../src/stage/chunk.js';
import { orderByCode, partitionRows } from '../../../src/stage/partition.js';
import { cellsOf } from '../../support/column-cells.js';

const SCHEMA = parseDdl(
  'id long, b boolean, sh short, s string, dec decimal(20,2), tags array<string>, m map<string,int>, st struct<a:int,t:array<boolean>>',
);
const TYPES = SCHEMA.fields.map((field) => field.dataType);
const SHAPES = TYPES.map(shapeOf);

const nullable = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: null, freq: 4 });
const row: fc.Arbitrary<Row> = fc.record({
  id: nullable(fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n })),
  b: nullable(fc.boolean()),
  sh: nullable(fc.integer({ min: -32768, max: 32767 })),
  s: nullable(fc.string({ unit: 'grapheme', maxLength: 90 })),
  dec: nullable(fc.integer({ min: -999999, max: 999999 }).map((n) => `${n}.25`)),
  tags: nullable(fc.array(nullable(fc.string({ maxLength: 5 })), { maxLength: 4 })),
  m: nullable(
    fc
      .dictionary(fc.string({ maxLength: 3 }), nullable(fc.integer({ min: 0, max: 9 })), { maxKeys: 3 })
      .map((d) => new Map(Object.entries(d))),
  ),
  st: nullable(
    fc.record({
      a: nullable(fc.integer({ min: 0, max: 9 })),
      t: nullable(fc.array(nullable(fc.boolean()), { maxLength: 9 })),
    }),
  ),
});
const table = fc.array(row, { minLength: 1, maxLength: 40 });

function columnsOf(rows: readonly Row[], start = 0, end = rows.length) {
  const batch = batchFromRows(rows, SCHEMA).slice(start, end);
  return SHAPES.map((shape, i) => columnOf(batch.data.children[i]!, shape));
}

function cells(columns: ReturnType<typeof columnsOf>) {
  return columns.map((column, i) => cellsOf(TYPES[i]!, column));
}

describe('a chunk', () => {
  test('of ranges of several batches, sliced or not, holds their rows in turn', () => {
    fc.assert(
      fc.property(table, table, fc.nat(), fc.nat(), (first, second, a, b) => {
        const start = a % first.length;
        const length = 1 + (b % (first.length - start));
        const left = columnsOf(first);
        const sliced = columnsOf(second, b % second.length);
        const rows = length + sliced[0]!.length;
        const ranges: Range[][] = SHAPES.map((_, i) => [
          { column: left[i]!, start, length },
          { column: sliced[i]!, start: 0, length: sliced[i]!.length },
        ]);
        const memory = new SharedArrayBuffer(64 + measureChunk(SHAPES, ranges));
        const chunk = packChunk(SHAPES, ranges, rows, memory, 64);
        expect(chunk.bytes).toBeLessThanOrEqual(memory.byteLength - 64);
        const expected = [...first.slice(start, start + length), ...second.slice(b % second.length)];
        expect(cells(openChunk(SHAPES, memory, 64))).toEqual(cells(columnsOf(expected)));
      }),
      { numRuns: 60 },
    );
  });

  test('in another order holds the same rows in that order', () => {
    fc.assert(
      fc.property(table, fc.array(fc.nat(3), { minLength: 40, maxLength: 40 }), (rows, keys) => {
        const codes = Int32Array.from(rows, (_, i) => keys[i]!);
        const { order, starts } = orderByCode(codes, 4);
        const memory = new SharedArrayBuffer(64 * 1024);
        orderChunk(columnsOf(rows), order, memory, 0);
        const expected = [0, 1, 2, 3].flatMap((code) => rows.filter((_, i) => codes[i] === code));
        expect(cells(openChunk(SHAPES, memory, 0))).toEqual(cells(columnsOf(expected)));
        expect([...starts]).toEqual([0, 1, 2, 3, 4].map((code) => [...codes].filter((c) => c < code).length));
      }),
      { numRuns: 60 },
    );
  });
});

describe('rows by partition', () => {
  test('of equal values have one code, in order of first appearance, NULL a value like others', () => {
    fc.assert(
      fc.property(table, (rows) => {
        const columns = columnsOf(rows);
        const chosen = [3, 2, 1];
        const { codes, groups } = partitionRows(
          chosen.map((i) => columns[i]!),
          chosen.map((i) => TYPES[i]!),
          rows.length,
        );
        const texts = rows.map(({ s, sh, b }) => JSON.stringify([s, sh, b]));
        const distinct = [...new Set(texts)];
        expect([...codes]).toEqual(texts.map((text) => distinct.indexOf(text)));
        expect(groups.map((group) => JSON.stringify(group))).toEqual(distinct);
      }),
    );
  });

  test('are told apart when there are very many values', () => {
    const rows = Array.from(
      { length: 9000 },
      (_, i): Row => ({ s: `value ${i % 4500}`, id: BigInt(i % 4500) * 10n ** 14n }),
    );
    const columns = columnsOf(rows);
    for (const i of [0, 3]) {
      const { codes, groups } = partitionRows([columns[i]!], [TYPES[i]!], rows.length);
      expect(groups.length).toBe(4500);
      expect(codes[8999]).toBe(4499);
    }
  });
});
