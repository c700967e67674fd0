import { parquetMetadata, readColumnIndex, readOffsetIndex } from 'hyparquet';
import { describe, expect, test } from 'vitest';
import { encodeParquet, joinBytes } from '../../../src/parquet/encode.js';
import { footerOf } from '../../../src/parquet/encode-join.js';
import { fileSchema } from '../../../src/parquet/encode-schema.js';
import { readThrift, writeThrift } from '../../../src/parquet/encode-thrift.js';
import { parseDdl } from '../../../src/schema/ddl.js';
import { batchFromRows, type Row } from '../../../src/schema/rows-in.js';
import type { StructType } from '../../../src/schema/types.js';
import { parquetRows } from '../../support/staged-rows.js';

const EVERY_TYPE =
  parseDdl(`id long not null, i int, sh short, by byte, f float, d double, b boolean, s string, bin binary, da date, ts timestamp,
  ntz timestamp_ntz, dec5 decimal(5,2), dec15 decimal(15,3), dec38 decimal(38,10), tags array<string>, deep array<array<int>>, m map<string,long>,
  st struct<a:int,b:string,in:struct<c:double>>, ls array<struct<x:int,y:array<string>>>`);

const ROWS: Row[] = [
  {
    id: 1n,
    i: -5,
    sh: 3,
    by: -1,
    f: 1.5,
    d: Number.NaN,
    b: true,
    s: 'é😀',
    bin: new Uint8Array([0, 255]),
    da: '1955-11-25',
    ts: -1n,
    ntz: -2342342342n,
    dec5: '-123.45',
    dec15: '123456789012.345',
    dec38: '-1234567890123456789012345678.0123456789',
    tags: ['a', null, ''],
    deep: [[1, null], [], null],
    m: new Map<string, bigint | null>([
      ['k', 9007199254740993n],
      ['n', null],
    ]),
    st: { a: 1, b: null, in: { c: -0 } },
    ls: [{ x: 1, y: ['p'] }, null],
  },
  { id: -9223372036854775808n, tags: [], deep: [], m: new Map(), st: { a: null, b: null, in: null }, ls: [] },
  { id: 9223372036854775807n, b: false, tags: [null], st: null },
];

async function encode(
  schema: StructType,
  batches: readonly (readonly Row[])[],
  options = {},
): Promise<Uint8Array> {
  const { bytes } = await encodeParquet(
    batches.map((rows) => batchFromRows(rows, schema)),
    fileSchema(schema),
    options,
  );
  return bytes;
}

function metadataOf(bytes: Uint8Array) {
  return parquetMetadata(bytes.slice().buffer as ArrayBuffer);
}

describe('a Parquet file', () => {
  test('holds every type without loss, NULLs, empty lists and empty maps apart', async () => {
    const bytes = await encode(EVERY_TYPE, [ROWS]);
    const read = parquetRows(bytes, EVERY_TYPE);
    const given = batchFromRows(ROWS, EVERY_TYPE);
    const { rowsFromBatch } = await import('../../../src/schema/rows-out.js');
    expect(read).toEqual(rowsFromBatch(given, EVERY_TYPE, { timestamp: 'micros' }));
  });

  test('names and types columns as Delta readers expect them', async () => {
    const { schema, key_value_metadata, created_by } = metadataOf(await encode(EVERY_TYPE, [ROWS]));
    const of = (name: string) => schema.find((element) => element.name === name)!;
    expect(of('id').repetition_type).toBe('REQUIRED');
    expect(of('i').repetition_type).toBe('OPTIONAL');
    expect(of('ts').logical_type).toMatchObject({ type: 'TIMESTAMP', isAdjustedToUTC: true, unit: 'MICROS' });
    expect(of('ntz').logical_type).toMatchObject({
      type: 'TIMESTAMP',
      isAdjustedToUTC: false,
      unit: 'MICROS',
    });
    expect(of('dec5').type).toBe('INT32');
    expect(of('dec15').type).toBe('INT64');
    expect(of('dec38').type).toBe('FIXED_LEN_BYTE_ARRAY');
    expect(schema.map(({ name }) => name)).toEqual(
      expect.arrayContaining(['element', 'key_value', 'key', 'value']),
    );
    expect(schema.map(({ name }) => name)).not.toContain('entries');
    expect(key_value_metadata ?? []).toEqual([]);
    expect(created_by).toBe('Intervale');
  });

  test('carries field ids where the schema has column mapping ids', async () => {
    const schema: StructType = {
      type: 'struct',
      fields: [
        {
          name: 'col-1',
          dataType: { type: 'long' },
          nullable: true,
          metadata: { 'delta.columnMapping.id': 7 },
        },
        {
          name: 'col-2',
          nullable: true,
          metadata: { 'delta.columnMapping.id': 8 },
          dataType: {
            type: 'struct',
            fields: [
              {
                name: 'col-3',
                dataType: { type: 'string' },
                nullable: true,
                metadata: { 'delta.columnMapping.id': 9 },
              },
            ],
          },
        },
      ],
    };
    const elements = metadataOf(await encode(schema, [[{ 'col-1': 1n, 'col-2': { 'col-3': 'x' } }]])).schema;
    expect(elements.slice(1).map(({ name, field_id }) => [name, field_id])).toEqual([
      ['col-1', 7],
      ['col-2', 8],
      ['col-3', 9],
    ]);
  });

  test('leaves out columns of type void, inside structs too', async () => {
    const schema: StructType = {
      type: 'struct',
      fields: [
        { name: 'nothing', dataType: { type: 'void' }, nullable: true, metadata: {} },
        { name: 'a', dataType: { type: 'integer' }, nullable: true, metadata: {} },
      ],
    };
    expect(fileSchema(schema).fields.map(({ name }) => name)).toEqual(['a']);
  });

  test('of no rows is a file with a schema and no row group', async () => {
    const { num_rows, row_groups, schema } = metadataOf(await encode(EVERY_TYPE, []));
    expect([Number(num_rows), row_groups.length]).toEqual([0, 0]);
    expect(schema[1]!.name).toBe('id');
  });
});

describe('row groups', () => {
  const schema = parseDdl('id long not null, s string, x double');
  const rows = Array.from({ length: 50_000 }, (_, i): Row => ({ id: BigInt(i), s: `s${i % 7}`, x: i / 3 }));

  test('are bounded, and rows keep their order over them', async () => {
    const bytes = await encode(schema, [rows.slice(0, 30_000), rows.slice(30_000)], { rowGroupRows: 20_000 });
    expect(metadataOf(bytes).row_groups.map((group) => Number(group.num_rows))).toEqual([
      20_000, 10_000, 20_000,
    ]);
    expect(parquetRows(bytes, schema).map(({ id }) => id)).toEqual(rows.map(({ id }) => id));
  });

  test('keep page indexes that point at their pages', async () => {
    const bytes = await encode(schema, [rows], { rowGroupRows: 20_000 });
    const metadata = metadataOf(bytes);
    for (const group of metadata.row_groups) {
      for (const column of group.columns) {
        const at = Number(column.offset_index_offset);
        const reader = {
          view: new DataView(bytes.slice(at, at + column.offset_index_length!).buffer),
          offset: 0,
        };
        const { page_locations } = readOffsetIndex(reader);
        expect(Number(page_locations[0]!.offset)).toBe(Number(column.meta_data!.data_page_offset));
        const last = page_locations.at(-1)!;
        const first = Number(column.meta_data!.dictionary_page_offset ?? column.meta_data!.data_page_offset);
        expect(Number(last.offset) + last.compressed_page_size).toBe(
          first + Number(column.meta_data!.total_compressed_size),
        );
        // Strings have the bounds of their row group alone.
        expect(column.column_index_offset === undefined).toBe(column.meta_data!.type === 'BYTE_ARRAY');
        if (column.column_index_offset === undefined) continue;
        const index = Number(column.column_index_offset);
        const element = metadata.schema.find(({ name }) => name === column.meta_data!.path_in_schema[0])!;
        const view = new DataView(bytes.slice(index, index + column.column_index_length!).buffer);
        expect(readColumnIndex({ view, offset: 0 }, element).null_pages.length).toBe(page_locations.length);
      }
    }
  });

  test('of one part are the file that the part is, joined once or twice', async () => {
    const bytes = await encode(schema, [rows]);
    expect(joinBytes([bytes.slice()])).toEqual(bytes);
  });
});

describe('a Thrift structure', () => {
  test('is written back as it was read, whatever its fields mean', async () => {
    const bytes = await encode(EVERY_TYPE, [ROWS]);
    const footer = footerOf({ size: bytes.length, tail: bytes });
    const written = writeThrift(footer);
    expect(readThrift(written).struct).toEqual(footer);
    expect(written).toEqual(bytes.slice(bytes.length - 8 - written.length, bytes.length - 8));
  });

  test('that ends early is an error', async () => {
    const bytes = writeThrift(new Map([[1, { type: 8, value: new Uint8Array(10) }]]));
    expect(() => readThrift(bytes.slice(0, 5))).toThrowError(/cannot be read/);
    expect(() => readThrift(new Uint8Array([0xff]))).toThrowError(/cannot be read/);
  });
});
