import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { canonicalLines } from '../../../src/cli/canonical.js';
import { toRecordBatch } from '../../../src/parquet/arrow-data.js';
import { decodeBulk, isBulk } from '../../../src/parquet/bulk.js';
import type { ColumnData } from '../../../src/parquet/column/assemble.js';
import { resolveColumns } from '../../../src/parquet/column/read-tree.js';
import { encodeParquet } from '../../../src/parquet/encode.js';
import { fileSchema } from '../../../src/parquet/encode-schema.js';
import { FlatFault } from '../../../src/parquet/flat/fault.js';
import { readFooter } from '../../../src/parquet/flat/read.js';
import { decodeRowGroup, fetchRowGroup } from '../../../src/parquet/read.js';
import { StoreSource } from '../../../src/parquet/source.js';
import { toArrowSchema } from '../../../src/schema/arrow.js';
import { batchFromRows } from '../../../src/schema/rows-in.js';
import type { DataType, StructField, StructType } from '../../../src/schema/types.js';
import { MemoryStore } from '../../../src/store/memory.js';
import { fakeContext } from '../../support/fake-context.js';

async function sourceOf(bytes: Uint8Array): Promise<StoreSource> {
  const store = new MemoryStore(fakeContext());
  await store.put('f', bytes);
  return new StoreSource(store, 'f', bytes.length, { wholeBelow: Number.POSITIVE_INFINITY });
}

async function decodeLines(bytes: Uint8Array, schema: StructType): Promise<string[]> {
  const source = await sourceOf(bytes);
  const footer = await readFooter(source);
  const nodes = resolveColumns(footer.root, schema.fields, 'none');
  const lines: string[] = [];
  for (let group = 0; group < footer.rowGroups.length; group++) {
    const task = await fetchRowGroup(source, footer, group, nodes);
    const batch = toRecordBatch(toArrowSchema(schema), decodeRowGroup(task), task.rows);
    lines.push(...canonicalLines(batch, schema));
  }
  return lines;
}

/** A type with values of it, as rows take them. */
interface Typed {
  readonly type: DataType;
  readonly value: fc.Arbitrary<unknown>;
}

const day = fc.integer({ min: -700_000, max: 2_900_000 });
const PRIMITIVES: readonly Typed[] = [
  { type: { type: 'integer' }, value: fc.integer() },
  { type: { type: 'short' }, value: fc.integer({ min: -32768, max: 32767 }) },
  { type: { type: 'byte' }, value: fc.integer({ min: -128, max: 127 }) },
  { type: { type: 'long' }, value: fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }) },
  { type: { type: 'double' }, value: fc.double() },
  { type: { type: 'float' }, value: fc.float() },
  { type: { type: 'boolean' }, value: fc.boolean() },
  { type: { type: 'string' }, value: fc.oneof(fc.string({ unit: 'binary' }), fc.constantFrom('a', 'b', '')) },
  { type: { type: 'binary' }, value: fc.uint8Array({ maxLength: 40 }) },
  {
    type: { type: 'date' },
    value: day.map((days) => new Date(days * 86_400_000).toISOString().replace(/T.*/, '')),
  },
  {
    type: { type: 'decimal', precision: 9, scale: 2 },
    value: fc.integer({ min: -999_999, max: 999_999 }).map(String),
  },
  {
    type: { type: 'decimal', precision: 38, scale: 0 },
    value: fc.bigInt({ min: -(10n ** 37n), max: 10n ** 37n }).map(String),
  },
];

const typed: fc.Arbitrary<Typed> = fc.letrec<{ any: Typed }>((tie) => ({
  any: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.constantFrom(...PRIMITIVES),
    tie('any').map(({ type, value }) => ({
      type: { type: 'array', elementType: type, containsNull: true } as const,
      value: fc.array(fc.option(value), { maxLength: 4 }),
    })),
    fc.array(tie('any'), { minLength: 1, maxLength: 3 }).map((members) => ({
      type: { type: 'struct', fields: members.map(({ type }, i) => field(`f${i}`, type)) } as const,
      value: fc.record(Object.fromEntries(members.map(({ value }, i) => [`f${i}`, fc.option(value)]))),
    })),
    tie('any').map(({ type, value }) => ({
      type: { type: 'map', keyType: { type: 'string' }, valueType: type, valueContainsNull: true } as const,
      value: fc.uniqueArray(fc.tuple(fc.string(), fc.option(value)), {
        maxLength: 3,
        selector: ([key]) => key,
      }),
    })),
  ),
})).any;

function field(name: string, dataType: DataType): StructField {
  return { name, dataType, nullable: true, metadata: {} };
}

const tables = fc.array(typed, { minLength: 1, maxLength: 3 }).chain((columns) =>
  fc.record({
    schema: fc.constant<StructType>({
      type: 'struct',
      fields: columns.map(({ type }, i) => field(`c${i}`, type)),
    }),
    rows: fc.array(
      fc.record(Object.fromEntries(columns.map(({ value }, i) => [`c${i}`, fc.option(value)]))),
      {
        maxLength: 30,
      },
    ),
    codec: fc.constantFrom('none' as const, 'snappy' as const, 'zstd' as const),
    rowGroupRows: fc.constantFrom(7, 1 << 20),
  }),
);

describe('decoding whole files', () => {
  it('gives back what the engine wrote: any schema, any values, any codec', async () => {
    await fc.assert(
      fc.asyncProperty(tables, async ({ schema, rows, codec, rowGroupRows }) => {
        const batch = batchFromRows(rows, schema);
        const { bytes } = await encodeParquet([batch], fileSchema(schema), { codec, rowGroupRows });
        expect(await decodeLines(bytes, schema)).toEqual(canonicalLines(batch, schema));
      }),
      { numRuns: 120 },
    );
  });

  it('ends in a fault of its own for bytes that were changed, soon and without more memory than the file', async () => {
    const schema: StructType = {
      type: 'struct',
      fields: [
        field('a', { type: 'long' }),
        field('b', { type: 'string' }),
        field('c', { type: 'array', elementType: { type: 'double' }, containsNull: true }),
      ],
    };
    const rows = Array.from({ length: 200 }, (_, i) => ({
      a: i % 7,
      b: `text ${i % 11}`,
      c: i % 3 ? [i, null] : null,
    }));
    const { bytes } = await encodeParquet([batchFromRows(rows, schema)], fileSchema(schema), {});
    const change = fc.tuple(fc.nat(bytes.length - 1), fc.nat(255));
    await fc.assert(
      fc.asyncProperty(fc.array(change, { minLength: 1, maxLength: 6 }), async (changes) => {
        const broken = bytes.slice();
        for (const [at, value] of changes) broken[at] = value;
        try {
          await decodeLines(broken, schema);
        } catch (error) {
          const isKnown = error instanceof FlatFault || (error as Error).name === 'TableError';
          if (!isKnown) throw error;
        }
      }),
      { numRuns: 400 },
    );
  });

  it('is done the same way by the engine that decodes in bulk', async () => {
    const fields = PRIMITIVES.map(({ type }, i) => field(`c${i}`, type));
    const schema: StructType = { type: 'struct', fields };
    const values = PRIMITIVES.map(({ value }) =>
      fc.sample(fc.option(value, { freq: 4 }), { numRuns: 30_000, seed: 7 }),
    );
    const rows = Array.from({ length: 30_000 }, (_, i) =>
      Object.fromEntries(values.map((column, c) => [`c${c}`, column[i]])),
    );
    const { bytes } = await encodeParquet([batchFromRows(rows, schema)], fileSchema(schema), {});
    const source = await sourceOf(bytes);
    const footer = await readFooter(source);
    const task = await fetchRowGroup(source, footer, 0, resolveColumns(footer.root, fields, 'none'));
    expect(isBulk([task], bytes)).toBe(true);
    const lines = (columns: readonly ColumnData[]) =>
      canonicalLines(toRecordBatch(toArrowSchema(schema), columns, task.rows), schema);
    const bulk: string[][] = [];
    expect(await decodeBulk([task], bytes, (columns) => bulk.push(lines(columns)))).toBe(true);
    expect(bulk).toEqual([lines(decodeRowGroup(task))]);
  });
});
