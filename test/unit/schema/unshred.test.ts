import { describe, expect, it } from 'vitest';
import type { ArrowDataLike } from '../../../src/schema/arrow-shape.js';
import { parseDdl } from '../../../src/schema/ddl.js';
import { batchFromRows } from '../../../src/schema/rows-in.js';
import { rowsFromBatch } from '../../../src/schema/rows-out.js';
import { unshredVariants } from '../../../src/schema/unshred.js';
import { variantText } from '../../../src/schema/variant.js';
import { arrayValue, objectValue } from '../../../src/schema/variant-bytes.js';

const hex = (text: string): Uint8Array => new Uint8Array(Buffer.from(text, 'hex'));
/** Names a, b, c. */
const ABC = hex('010300010203616263');
const NULL = hex('00');
const seven = hex('0c07');
const text = hex('0578');

/** The JSON texts of a column shredded as `typed` says, NULL where the column is. */
function texts(typed: string, rows: readonly (object | null)[]): (string | null)[] {
  const schema = parseDdl(`v struct<metadata:binary,value:binary,typed_value:${typed}>`);
  const batch = batchFromRows(
    rows.map((v) => ({ v: v === null ? null : { metadata: ABC, ...v } })),
    schema,
  );
  const data = unshredVariants(batch.data.children[0] as unknown as ArrowDataLike);
  const out = parseDdl('v variant');
  const whole = batchFromRows([], out);
  expect(String(data.type)).toBe(String(whole.schema.fields[0]!.type));
  const rebuilt = rowsFromBatch(
    {
      schema: whole.schema,
      numRows: rows.length,
      data: { ...batch.data, children: [data], length: rows.length },
    } as never,
    out,
  );
  return rebuilt.map(({ v }) => {
    const { metadata, value } = (v ?? {}) as { metadata?: Uint8Array; value?: Uint8Array };
    return v === null ? null : variantText(metadata!, value!);
  });
}

describe('unshredVariants', () => {
  it('takes bytes as they are where nothing is shredded', () => {
    const schema = parseDdl('v struct<metadata:binary,value:binary>');
    const batch = batchFromRows([{ v: { metadata: ABC, value: seven } }, { v: null }], schema);
    const data = unshredVariants(batch.data.children[0] as unknown as ArrowDataLike);
    expect(data.children[0]!.values).toEqual(seven);
    expect(data.nullCount).toBe(1);
  });

  it('takes the typed value, else the bytes, else the null of a variant', () => {
    expect(texts('bigint', [{ typed_value: 5n }, { value: text }, { value: NULL }, {}, null])).toEqual([
      '5',
      '"x"',
      'null',
      'null',
      null,
    ]);
    expect(texts('decimal(38,2)', [{ typed_value: '-1.50' }])).toEqual(['-1.5']);
    expect(texts('string', [{ typed_value: 'y'.repeat(64) }, { typed_value: 'é' }])).toEqual([
      `"${'y'.repeat(64)}"`,
      '"é"',
    ]);
    expect(texts('boolean', [{ typed_value: true }, { typed_value: false }])).toEqual(['true', 'false']);
    expect(texts('smallint', [{ typed_value: -300 }])).toEqual(['-300']);
  });

  it('joins the fields that have columns with those that have none, in the order of their names', () => {
    const typed = 'struct<c:struct<value:binary,typed_value:int>,a:struct<value:binary,typed_value:int>>';
    const rest = objectValue([{ id: 1, value: text }]);
    expect(
      texts(typed, [
        { value: rest, typed_value: { a: { typed_value: 1 }, c: { value: text } } },
        { typed_value: { a: { typed_value: 1 }, c: {} } },
        { value: rest, typed_value: { a: {}, c: {} } },
        { typed_value: { a: { value: NULL }, c: {} } },
        { value: seven },
      ]),
    ).toEqual(['{"a":1,"b":"x","c":"x"}', '{"a":1}', '{"b":"x"}', '{"a":null}', '7']);
  });

  it('builds lists, a missing element being null', () => {
    const typed = 'array<struct<value:binary,typed_value:int>>';
    expect(
      texts(typed, [
        { typed_value: [{ typed_value: 1 }, { value: text }, {}] },
        { typed_value: [] },
        { value: arrayValue([seven]) },
      ]),
    ).toEqual(['[1,"x",null]', '[]', '[7]']);
    const many = Array.from({ length: 300 }, () => ({ typed_value: 70_000 }));
    expect(texts(typed, [{ typed_value: many }])).toEqual([`[${many.map(() => 70_000).join(',')}]`]);
  });

  it.each([
    [
      'a field twice',
      'struct<b:struct<value:binary,typed_value:int>>',
      { value: objectValue([{ id: 1, value: text }]), typed_value: { b: { typed_value: 1 } } },
      'twice',
    ],
    [
      'a field without a name in the metadata',
      'struct<z:struct<value:binary,typed_value:int>>',
      { typed_value: { z: { typed_value: 1 } } },
      "'z'",
    ],
    [
      'fields of what is no object',
      'struct<b:struct<value:binary,typed_value:int>>',
      { value: seven, typed_value: { b: { typed_value: 1 } } },
      'no object',
    ],
    [
      'a member cut short',
      'struct<b:struct<value:binary,typed_value:int>>',
      { value: hex('0201000009' + '18'), typed_value: { b: { typed_value: 1 } } },
      'too early',
    ],
    ['a type that is none of a variant', 'map<string,int>', { value: seven }, 'Map'],
  ])('refuses %s', (_, typed, row, says) => {
    expect(() => texts(typed, [row])).toThrow(
      expect.objectContaining({ code: 'CORRUPT_DATA_FILE', message: expect.stringContaining(says) }),
    );
  });
});
