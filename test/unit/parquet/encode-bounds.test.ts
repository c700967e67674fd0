import fc from 'fast-check';
import { parquetMetadata } from 'hyparquet';
import { describe, expect, test } from 'vitest';
import { encodeParquet } from '../../../src/parquet/encode.js';
import { footerBounds, textBounds } from '../../../src/parquet/encode-bounds.js';
import { columnOf } from '../../../src/parquet/encode-columns.js';
import { fileSchema } from '../../../src/parquet/encode-schema.js';
import { parseDdl } from '../../../src/schema/ddl.js';
import { batchFromRows } from '../../../src/schema/rows-in.js';

const SCHEMA = parseDdl('s string');

function boundsOf(values: readonly (string | null)[]) {
  const batch = batchFromRows(
    values.map((s) => ({ s })),
    SCHEMA,
  );
  return textBounds(columnOf(batch.data.children[0]!, { kind: 'bytes' }));
}

const text = fc.string({ unit: fc.constantFrom('a', 'b', '\0', 'é', '￿', '😀'), maxLength: 12 });

describe('the bounds of strings', () => {
  test('are the least and the greatest by their bytes, NULL left out', () => {
    fc.assert(
      fc.property(fc.array(fc.option(text), { minLength: 1 }), (values) => {
        const sorted = values
          .filter((value) => value !== null)
          .map((value) => Buffer.from(value))
          .sort(Buffer.compare);
        const bounds = boundsOf(values);
        if (sorted.length === 0) expect(bounds).toBeUndefined();
        else {
          expect(Buffer.from(bounds!.min)).toEqual(sorted[0]);
          expect(Buffer.from(bounds!.max)).toEqual(sorted.at(-1));
        }
      }),
    );
  });

  test('enclose the values in footers, however long', () => {
    const long = fc.string({
      unit: fc.constantFrom('a', 'é', '￿', '😀', '\u{10ffff}', '\ud7ff'),
      minLength: 1,
      maxLength: 90,
    });
    fc.assert(
      fc.property(long, (value) => {
        const bytes = Buffer.from(value);
        const { min, max, minExact, maxExact } = footerBounds({ min: bytes, max: bytes });
        expect(min.length).toBeLessThanOrEqual(64);
        expect(Buffer.compare(min, bytes)).toBeLessThanOrEqual(0);
        expect([minExact, maxExact]).toEqual([bytes.length <= 64, bytes.length <= 64]);
        expect(Buffer.from(min).toString()).not.toContain('\ufffd');
        if (!max) expect(value).toMatch(/^\u{10ffff}+/u);
        else expect(Buffer.compare(max, bytes)).toBeGreaterThanOrEqual(0);
      }),
    );
  });

  test('stand in the footer with the count of NULLs; binary has the count alone', async () => {
    const schema = parseDdl('s string, b binary, n string');
    const batch = batchFromRows([{ s: 'y', b: new Uint8Array([1]) }, { s: null }, { s: 'x' }], schema);
    const { bytes } = await encodeParquet([batch], fileSchema(schema));
    const { columns } = parquetMetadata(bytes.slice().buffer as ArrayBuffer).row_groups[0]!;
    expect(columns.map(({ meta_data }) => meta_data!.statistics)).toMatchObject([
      { null_count: 1n, min_value: 'x', max_value: 'y', is_min_value_exact: true, is_max_value_exact: true },
      { null_count: 2n, min_value: undefined, max_value: undefined },
      { null_count: 3n, min_value: undefined, max_value: undefined },
    ]);
  });
});
