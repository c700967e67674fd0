import { type Data, Field, Int32, List, makeData, RecordBatch, Schema, Struct } from 'apache-arrow';
import { describe, expect, it } from 'vitest';
import { toArrowSchema } from '../../../src/schema/arrow.js';
import { conformBatch } from '../../../src/schema/conform.js';
import { parseDdl } from '../../../src/schema/ddl.js';
import { batchFromRows } from '../../../src/schema/rows-in.js';
import { rowsFromBatch } from '../../../src/schema/rows-out.js';
import { arrowBatch } from '../../support/arrow-columns.js';

/** The same data in objects of no class of ours, as another copy of the library has them. */
function foreign(data: Data): object {
  const { type } = data;
  return {
    type: foreignType(type),
    length: data.length,
    offset: data.offset,
    nullCount: data.nullCount,
    nullBitmap: data.nullBitmap,
    values: data.values,
    valueOffsets: data.valueOffsets,
    children: data.children.map(foreign),
    dictionary: data.dictionary ? { data: data.dictionary.data.map(foreign) } : undefined,
    variadicBuffers: data.variadicBuffers,
  };
}

function foreignType(type: { [key: string]: unknown } | object): object {
  const {
    typeId,
    bitWidth,
    isSigned,
    precision,
    scale,
    unit,
    timezone,
    byteWidth,
    listSize,
    children,
    dictionary,
  } = type as Record<string, unknown>;
  return {
    ...{ typeId, bitWidth, isSigned, precision, scale, unit, timezone, byteWidth, listSize },
    children: (children as Field[] | null)?.map(foreignField),
    dictionary: dictionary === undefined ? undefined : foreignType(dictionary as object),
  };
}

function foreignField(field: Field): object {
  return { name: field.name, nullable: field.nullable, type: foreignType(field.type) };
}

function foreignBatch(batch: RecordBatch): unknown {
  return {
    schema: { fields: batch.schema.fields.map(foreignField) },
    numRows: batch.numRows,
    data: foreign(batch.data),
  };
}

describe('conformBatch', () => {
  const schema = parseDdl(
    'id long not null, name string, price decimal(10,2), day date, at timestamp, ok boolean, tags array<string>, m map<string,int>, s struct<a:int>',
  );
  const rows = [
    {
      id: 1n,
      name: 'x',
      price: '1.50',
      day: '2024-01-01',
      at: '2024-01-01T00:00:00Z',
      ok: true,
      tags: ['a', null],
      m: { k: 1 },
      s: { a: 1 },
    },
    { id: 2n },
  ];

  it('takes another copy of the library by its shape, without copying memory', () => {
    const batch = batchFromRows(rows, schema);
    const conformed = conformBatch(foreignBatch(batch), schema);
    expect(conformed).toBeInstanceOf(RecordBatch);
    expect(rowsFromBatch(conformed, schema)).toEqual(rowsFromBatch(batch, schema));
    expect(conformed.data.children[0]!.values.buffer).toBe(batch.data.children[0]!.values.buffer);
    expect(conformed.data.children[1]!.values.buffer).toBe(batch.data.children[1]!.values.buffer);
  });

  it('takes other layouts of another copy', () => {
    const given = arrowBatch([
      { name: 'd', type: 'Dictionary<Utf8>', values: ['x', null, 'y', 'x'] },
      { name: 'v', type: 'Utf8View', values: ['a', 'more than twelve bytes', null, ''] },
    ]);
    const target = parseDdl('d string, v string');
    expect(rowsFromBatch(conformBatch(foreignBatch(given), target), target)).toEqual([
      { d: 'x', v: 'a' },
      { d: null, v: 'more than twelve bytes' },
      { d: 'y', v: null },
      { d: 'x', v: '' },
    ]);
  });

  it('gives back a batch that conforms, and slices of it share its memory', () => {
    const batch = batchFromRows(rows, schema);
    expect(conformBatch(batch, schema)).toBe(batch);
    const slice = conformBatch(batch.slice(1), schema);
    expect(slice.numRows).toBe(1);
    expect(slice.data.children[0]!.values.buffer).toBe(batch.data.children[0]!.values.buffer);
  });

  it('looks past what lies below NULL lists', () => {
    const element = new Field('item', new Int32(), true);
    const list = new List(element);
    const child = makeData({
      type: new Int32(),
      length: 4,
      nullCount: 1,
      data: Int32Array.of(1, 0, 3, 4),
      nullBitmap: Uint8Array.of(0b1101),
    });
    // The NULL list in the middle covers the NULL element.
    const data = makeData({
      type: list,
      length: 3,
      nullCount: 1,
      nullBitmap: Uint8Array.of(0b101),
      valueOffsets: Int32Array.of(0, 1, 2, 4),
      child,
    });
    const fields = [new Field('a', list, true)];
    const batch = new RecordBatch(
      new Schema(fields),
      makeData({ type: new Struct(fields), length: 3, nullCount: 0, children: [data] }),
    );
    const strict = {
      type: 'struct',
      fields: [
        {
          name: 'a',
          dataType: { type: 'array', elementType: { type: 'integer' }, containsNull: false },
          nullable: true,
          metadata: {},
        },
      ],
    } as const;
    expect(rowsFromBatch(conformBatch(batch, strict), strict)).toEqual([
      { a: [1] },
      { a: null },
      { a: [3, 4] },
    ]);
    expect(conformBatch(batch.slice(2), strict).data.children[0]!.children[0]!.length).toBe(2);
  });

  it('allows NULL below a NULL struct, however deep', () => {
    const x = makeData({
      type: new Int32(),
      length: 2,
      nullCount: 1,
      data: Int32Array.of(1, 0),
      nullBitmap: Uint8Array.of(0b01),
    });
    const inner = new Struct([new Field('x', new Int32(), true)]);
    const outer = new Struct([new Field('b', inner, true)]);
    const fields = [new Field('a', outer, true)];
    // The inner struct is not NULL by its own bits, only below the outer one.
    const b = makeData({ type: inner, length: 2, nullCount: 0, children: [x] });
    const a = (nullBitmap: Uint8Array) =>
      makeData({ type: outer, length: 2, nullCount: 1, nullBitmap, children: [b] });
    const batch = (data: Data) =>
      new RecordBatch(
        new Schema(fields),
        makeData({ type: new Struct(fields), length: 2, nullCount: 0, children: [data] }),
      );
    const strict = parseDdl('a struct<b:struct<x:int not null> not null>');
    expect(rowsFromBatch(conformBatch(batch(a(Uint8Array.of(0b01))), strict), strict)).toEqual([
      { a: { b: { x: 1 } } },
      { a: null },
    ]);
    expect(() => conformBatch(batch(a(Uint8Array.of(0b10))), strict)).toThrow(/Row 1 .*'a.b.x'/);
  });

  it('names the row of a NULL in a list that may have none', () => {
    const strict = {
      type: 'struct',
      fields: [
        {
          name: 'a',
          dataType: { type: 'array', elementType: { type: 'integer' }, containsNull: false },
          nullable: true,
          metadata: {},
        },
      ],
    } as const;
    const batch = arrowBatch([{ name: 'a', type: 'List<Int32>', values: [[1], [], [2, null]] }]);
    expect(() => conformBatch(batch, strict)).toThrow(
      expect.objectContaining({ context: expect.objectContaining({ row: 2, column: 'a[1]' }) }),
    );
  });

  it('gives field ids to Parquet when asked', () => {
    const field = {
      name: 'a',
      dataType: { type: 'integer' },
      nullable: true,
      metadata: { 'delta.columnMapping.id': 7 },
    } as const;
    const struct = {
      type: 'struct',
      fields: [{ ...field, name: 's', dataType: { type: 'struct', fields: [field] } }],
    } as const;
    const [top] = toArrowSchema(struct, { fieldIds: true }).fields;
    expect(top!.metadata.get('PARQUET:field_id')).toBe('7');
    expect(top!.type.children[0].metadata.get('PARQUET:field_id')).toBe('7');
    expect(toArrowSchema(struct).fields[0]!.metadata.size).toBe(0);
  });
});
