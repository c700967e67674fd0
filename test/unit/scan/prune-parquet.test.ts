import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { encodeParquet } from '../../../src/parquet/encode.js';
import { fileSchema } from '../../../src/parquet/encode-schema.js';
import { type Footer, footerLength, type Leaf, parseFooter } from '../../../src/parquet/flat/footer.js';
import { type BoundColumn, bindPredicate } from '../../../src/scan/bind.js';
import { evaluateRow } from '../../../src/scan/evaluate.js';
import { pruneRowGroups, pruneRows } from '../../../src/scan/prune-parquet.js';
import { parseDdl } from '../../../src/schema/ddl.js';
import { batchOf, datumIn, type Leaves, leavesArbitrary, predicateArbitrary, SCHEMA } from './fixtures.js';

async function footerOf(groups: readonly (readonly Leaves[])[]): Promise<Footer> {
  const { bytes } = await encodeParquet(groups.map(batchOf), fileSchema(SCHEMA));
  const length = footerLength(bytes.subarray(-8), bytes.length);
  return parseFooter(bytes.subarray(bytes.length - 8 - length, bytes.length - 8), bytes.length);
}

const leafIn =
  (footer: Footer) =>
  (column: BoundColumn): Leaf | undefined =>
    footer.leaves.find((leaf) => leaf.path.join('.') === column.path.join('.'));

describe('row groups', () => {
  it('are never left out when they hold a row wanted', async () => {
    const groups = fc.array(fc.array(leavesArbitrary, { minLength: 1, maxLength: 3 }), {
      minLength: 1,
      maxLength: 3,
    });
    await fc.assert(
      fc.asyncProperty(
        groups,
        fc.array(predicateArbitrary, { minLength: 10, maxLength: 10 }),
        async (rows, trees) => {
          const footer = await footerOf(rows);
          for (const tree of trees) {
            const bound = bindPredicate(tree, SCHEMA);
            const kept = pruneRowGroups(bound, footer, { leaf: leafIn(footer), constant: () => undefined });
            const wanted = rows.flatMap((group, i) =>
              group.some((row) => evaluateRow(bound, datumIn(row)) === true) ? [i] : [],
            );
            expect([...kept]).toEqual(expect.arrayContaining(wanted));
          }
        },
      ),
      { numRuns: 60 },
    );
  });

  it('are left out by their statistics', async () => {
    const row = (id: bigint, s: string): Leaves => ({
      ...Object.fromEntries(LEAF_NAMES.map((name) => [name, null])),
      id,
      s,
    });
    const footer = await footerOf([
      [row(1n, 'a'), row(5n, 'c')],
      [row(6n, 'd'), row(9n, 'f')],
      [row(10n, 'x')],
    ]);
    const kept = (where: string) => [
      ...pruneRowGroups(bindPredicate(where, SCHEMA), footer, {
        leaf: leafIn(footer),
        constant: () => undefined,
      }),
    ];
    expect(kept('id = 7')).toEqual([1]);
    expect(kept("s >= 'f'")).toEqual([1, 2]);
    expect(kept('id < 3 OR id > 9')).toEqual([0, 2]);
    expect(kept('n IS NOT NULL')).toEqual([]);
    expect(kept('n > 1')).toEqual([]);
  });

  it('take partition values and columns that the file lacks as constants', async () => {
    const footer = await footerOf([[]]);
    const schema = parseDdl('p int, added string');
    const constant = ({ path }: BoundColumn) => (path[0] === 'p' ? 5 : null);
    const one = { rowGroups: [{ rows: 1, chunks: [] }] };
    const kept = (where: string) =>
      pruneRowGroups(bindPredicate(where, schema), one, { leaf: leafIn(footer), constant }).length;
    expect(kept('p = 5')).toBe(1);
    expect(kept('p = 6')).toBe(0);
    expect(kept("added = 'x'")).toBe(0);
    expect(kept('added IS NULL AND p > 1')).toBe(1);
  });
});

const LEAF_NAMES = [
  'id',
  'n',
  'x',
  'f',
  's',
  'day',
  'ts',
  'wall',
  'amount',
  'flag',
  'bin',
  'nest.a',
  'nest.s',
  'part',
  'pday',
];

describe('pages', () => {
  const schema = parseDdl('a int, b int');
  const int32 = (value: number) => new Uint8Array(Int32Array.of(value).buffer);
  const pages = (ranges: readonly (readonly [number, number, number])[]) => ({
    leaf: {
      index: 0,
      path: [],
      physical: 'INT32',
      width: 0,
      maxDefinition: 1,
      maxRepetition: 0,
      meaning: { kind: 'none' },
    } as const,
    firstRows: ranges.map(([first]) => first),
    statistics: (page: number) => ({
      min: int32(ranges[page]![1]),
      max: int32(ranges[page]![2]),
      nullCount: 0,
    }),
  });
  // Pages of `a` begin at 0, 10, 20; those of `b` at 0 and 15.
  const columns: Readonly<Record<string, ReturnType<typeof pages>>> = {
    a: pages([
      [0, 1, 5],
      [10, 6, 9],
      [20, 10, 20],
    ]),
    b: pages([
      [0, 100, 200],
      [15, 300, 400],
    ]),
  };
  const rows = (where: string) =>
    pruneRows(
      bindPredicate(where, schema),
      30,
      ({ path }) => columns[path[0]!],
      () => undefined,
    ).map(({ start, end }) => [start, end]);

  it('give the rows that may be wanted', () => {
    expect(rows('a = 7')).toEqual([[10, 20]]);
    expect(rows('a >= 6')).toEqual([[10, 30]]);
    expect(rows('a > 100')).toEqual([]);
  });

  it('of columns that begin at different rows are put together', () => {
    expect(rows('a = 7 AND b > 250')).toEqual([[15, 20]]);
    expect(rows('a < 3 OR b > 250')).toEqual([
      [0, 10],
      [15, 30],
    ]);
  });
});
