import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseDdl, printDdl } from '../../../src/schema/ddl.js';
import { parseSchema, serializeSchema } from '../../../src/schema/schema-json.js';
import type { DataType } from '../../../src/schema/types.js';
import { anySchema } from './arbitraries.js';

/** DDL has no words for elements that are not NULL. */
function withNullableElements<T extends DataType>(type: T): T {
  switch (type.type) {
    case 'array':
      return { ...type, elementType: withNullableElements(type.elementType), containsNull: true };
    case 'map':
      return { ...type, valueType: withNullableElements(type.valueType), valueContainsNull: true };
    case 'struct':
      return {
        ...type,
        fields: type.fields.map((field) => ({ ...field, dataType: withNullableElements(field.dataType) })),
      };
    default:
      return type;
  }
}

describe('DDL', () => {
  it('is read as it was printed', () => {
    fc.assert(
      fc.property(anySchema.map(withNullableElements), (schema) => {
        expect(parseDdl(printDdl(schema))).toEqual(schema);
      }),
    );
  });

  it('knows the names of Spark SQL', () => {
    const { fields } = parseDdl(
      "id LONG NOT NULL, price Decimal(10, 2), d decimal, tags array<string>, m map<string,long>, s struct<a:int,b:string not null comment 'it''s'>, v varchar(5), `odd ``name`` ,` bigint",
    );
    expect(fields.map((field) => field.name)).toEqual([
      'id',
      'price',
      'd',
      'tags',
      'm',
      's',
      'v',
      'odd `name` ,',
    ]);
    expect(fields[0]).toEqual({ name: 'id', dataType: { type: 'long' }, nullable: false, metadata: {} });
    expect(fields[2]!.dataType).toEqual({ type: 'decimal', precision: 10, scale: 0 });
    expect(fields[5]!.dataType).toMatchObject({
      fields: [{}, { nullable: false, metadata: { comment: "it's" } }],
    });
    expect(fields[6]).toMatchObject({
      dataType: { type: 'string' },
      metadata: { __CHAR_VARCHAR_TYPE_STRING: 'varchar(5)' },
    });
  });

  it.each([
    ['', 'a column name'],
    ['a', 'a type'],
    ['a int,', 'a column name'],
    ['a int b', "',' or the end"],
    ['a number', "'number' is not a type"],
    ['a constructor', "'constructor' is not a type"],
    ['a array<int', "'>'"],
    ['a decimal(39,2)', 'precision'],
    ['a decimal(2,3)', 'precision'],
    ['a int not', 'NULL'],
    ['a varchar(x)', 'a number'],
    ['a "int"', 'cannot read'],
    [`a ${'array<'.repeat(200)}int${'>'.repeat(200)}`, 'nested deeper'],
  ])('refuses %j and says what it expected', (text, says) => {
    expect(() => parseDdl(text)).toThrow(
      expect.objectContaining({ code: 'INVALID_SCHEMA', message: expect.stringContaining(says) }),
    );
  });
});

describe('schema JSON', () => {
  it('is read as it was written', () => {
    fc.assert(
      fc.property(anySchema, (schema) => {
        const text = serializeSchema(schema);
        expect(parseSchema(text)).toEqual(schema);
        expect(serializeSchema(parseSchema(text))).toBe(text);
      }),
    );
  });
});
