import fc from 'fast-check';
import { parquetMetadata } from 'hyparquet';
import { describe, expect, test } from 'vitest';
import { encodeParquet } from '../../../src/parquet/encode.js';
import { columnOf, shapeOf } from '../../../src/parquet/encode-columns.js';
import { fileSchema } from '../../../src/parquet/encode-schema.js';
import { encodeSmall, isSmall } from '../../../src/parquet/encode-small.js';
import { parseDdl } from '../../../src/schema/ddl.js';
import { batchFromRows, type Row } from '../../../src/schema/rows-in.js';
import { rowsFromBatch } from '../../../src/schema/rows-out.js';
import { parquetRows } from '../../support/staged-rows.js';

const SCHEMA =
  parseDdl(`id long not null, i int, sh short, by byte, f float, d double not null, b boolean, s string, bin binary, da date, ts timestamp,
  ntz timestamp_ntz, dec5 decimal(5,2), dec15 decimal(15,3), dec38 decimal(38,10)`);

const nullable = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: null, freq: 4 });
const long = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n });
const micros = fc.bigInt({ min: -62135596800000000n, max: 253402300799999999n });
const row: fc.Arbitrary<Row> = fc.record({
  id: long,
  i: nullable(fc.integer()),
  sh: nullable(fc.integer({ min: -32768, max: 32767 })),
  by: nullable(fc.integer({ min: -128, max: 127 })),
  f: nullable(fc.float()),
  d: fc.double(),
  b: nullable(fc.boolean()),
  s: nullable(fc.string({ unit: 'grapheme', maxLength: 100 })),
  bin: nullable(fc.uint8Array({ maxLength: 20 })),
  da: nullable(
    fc
      .integer({ min: 0, max: 9999 })
      .map((n) => `1${String(n).padStart(4, '0').slice(0, 3)}-03-0${1 + (n % 9)}`),
  ),
  ts: nullable(micros),
  ntz: nullable(micros),
  dec5: nullable(fc.integer({ min: -99999, max: 99999 }).map((n) => (n / 100).toFixed(2))),
  dec15: nullable(fc.integer().map((n) => `${n}.125`)),
  dec38: nullable(long.map((n) => `${n}.0000000001`)),
});

function small(rows: readonly Row[]) {
  const batch = batchFromRows(rows, SCHEMA);
  const columns = SCHEMA.fields.map(({ dataType }, i) =>
    columnOf(batch.data.children[i]!, shapeOf(dataType)),
  );
  return encodeSmall(SCHEMA, columns, rows.length);
}

function metadataOf(bytes: Uint8Array) {
  return parquetMetadata(bytes.slice().buffer as ArrayBuffer);
}

describe('a small file', () => {
  test('has the rows, the types and the statistics of the file that the engine writes', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(row, { minLength: 1, maxLength: 60 }), async (rows) => {
        const batch = batchFromRows(rows, SCHEMA);
        const { bytes } = await small(rows);
        const engines = await encodeParquet([batch], fileSchema(SCHEMA));
        expect(parquetRows(bytes, SCHEMA)).toEqual(rowsFromBatch(batch, SCHEMA, { timestamp: 'micros' }));
        const ours = metadataOf(bytes);
        const theirs = metadataOf(engines.bytes);
        // The engine gives a zone-less timestamp the old name of one in UTC, which the format leaves open.
        const elements = (metadata: typeof ours) =>
          metadata.schema
            .slice(1)
            .map((element) => (element.name === 'ntz' ? { ...element, converted_type: undefined } : element));
        expect(elements(ours)).toEqual(elements(theirs));
        const columns = (metadata: typeof ours) =>
          metadata.row_groups[0]!.columns.map(({ meta_data }, i) => {
            const { null_count, min_value, max_value } = meta_data!.statistics!;
            // Neither is of use to a reader where it is the other's: booleans have no order that matters.
            return SCHEMA.fields[i]!.dataType.type === 'boolean'
              ? [null_count]
              : [null_count, min_value, max_value];
          });
        expect(columns(ours)).toEqual(columns(theirs));
      }),
      { numRuns: 40 },
    );
  });

  test('carries field ids and REQUIRED', async () => {
    const schema = parseDdl('a long not null, b string');
    const mapped = {
      ...schema,
      fields: schema.fields.map((field, i) => ({ ...field, metadata: { 'delta.columnMapping.id': i + 5 } })),
    };
    const batch = batchFromRows([{ a: 1, b: 'x' }], schema);
    const columns = mapped.fields.map(({ dataType }, i) =>
      columnOf(batch.data.children[i]!, shapeOf(dataType)),
    );
    const elements = metadataOf((await encodeSmall(mapped, columns, 1)).bytes).schema.slice(1);
    expect(elements.map(({ field_id, repetition_type }) => [field_id, repetition_type])).toEqual([
      [5, 'REQUIRED'],
      [6, 'OPTIONAL'],
    ]);
  });

  test('is for few rows of columns that hold no columns', () => {
    expect(isSmall(SCHEMA, 10)).toBe(true);
    expect(isSmall(SCHEMA, 10_000)).toBe(false);
    expect(isSmall(parseDdl('a array<int>'), 1)).toBe(false);
    expect(isSmall(parseDdl('a struct<b:int>'), 1)).toBe(false);
    expect(isSmall(parseDdl('v variant'), 1)).toBe(false);
  });
});
