import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parseDdl, parseDdlType, printDdl } from '../../../src/schema/ddl.js';
import { evolveSchema, fitsSchema } from '../../../src/schema/evolution.js';
import { editField, editFields } from '../../../src/schema/evolution-edit.js';
import { canWiden, wholeTypeFor, widensInKind } from '../../../src/schema/evolution-widen.js';
import type { DataType, PrimitiveName, StructField, StructType } from '../../../src/schema/types.js';
import { validateSchema } from '../../../src/schema/validate.js';

const configuration = { 'delta.enableTypeWidening': 'true' };
const both = { add: true, widen: true, configuration };
const neither = { add: false, widen: false, configuration };

const primitives: PrimitiveName[] = [
  'byte',
  'short',
  'integer',
  'long',
  'float',
  'double',
  'string',
  'date',
  'timestamp_ntz',
];
const field = (name: string, dataType: DataType, nullable = true): StructField => ({
  name,
  dataType,
  nullable,
  metadata: {},
});
const { type } = fc.letrec<{ type: DataType; struct: StructType }>((tie) => ({
  type: fc.oneof(
    { depthSize: 'small', maxDepth: 3 },
    fc.constantFrom(...primitives).map((name): DataType => ({ type: name })),
    fc
      .tuple(fc.integer({ min: 1, max: 38 }), fc.integer({ min: 0, max: 38 }))
      .map(
        ([precision, scale]): DataType => ({ type: 'decimal', precision, scale: Math.min(precision, scale) }),
      ),
    tie('struct'),
    tie('type').map((elementType): DataType => ({ type: 'array', elementType, containsNull: true })),
    tie('type').map(
      (valueType): DataType => ({
        type: 'map',
        keyType: { type: 'string' },
        valueType,
        valueContainsNull: true,
      }),
    ),
  ),
  struct: fc
    .uniqueArray(fc.tuple(fc.constantFrom('a', 'b', 'c', 'd.e'), tie('type')), {
      minLength: 1,
      maxLength: 3,
      selector: ([name]) => name,
    })
    .map((fields): StructType => ({ type: 'struct', fields: fields.map(([name, of]) => field(name, of)) })),
}));
const schemas = fc
  .uniqueArray(fc.tuple(fc.constantFrom('a', 'b', 'c', 'd.e'), type), {
    minLength: 1,
    maxLength: 4,
    selector: ([name]) => name,
  })
  .map((fields): StructType => ({ type: 'struct', fields: fields.map(([name, of]) => field(name, of)) }));

describe('an evolved schema', () => {
  test('is the schema itself where nothing is new, or nothing allowed', () => {
    fc.assert(
      fc.property(schemas, schemas, (schema, given) => {
        expect(evolveSchema(schema, schema, both)).toBe(schema);
        expect(evolveSchema(schema, given, neither)).toBe(schema);
      }),
    );
  });

  test('evolves no further by the same columns, and is one that a table may have', () => {
    fc.assert(
      fc.property(schemas, schemas, (schema, given) => {
        const evolved = evolveSchema(schema, given, both);
        expect(evolveSchema(evolved, given, both)).toBe(evolved);
        validateSchema(evolved, []);
      }),
    );
  });

  test('has every column in its place, and the new ones behind them', () => {
    fc.assert(
      fc.property(schemas, schemas, (schema, given) => {
        const names = evolveSchema(schema, given, both).fields.map(({ name }) => name);
        const known = schema.fields.map(({ name }) => name);
        const added = given.fields.map(({ name }) => name).filter((name) => !known.includes(name));
        expect(names).toEqual([...known, ...added]);
      }),
    );
  });

  test('takes files written for what it evolved from only by added columns at the top', () => {
    const written = parseDdl('a int, s struct<x:int>');
    expect(fitsSchema(written, parseDdl('s struct<x:int>, b long, a int'))).toBe(true);
    expect(fitsSchema(written, parseDdl('a int, s struct<x:int>, b long not null'))).toBe(false);
    expect(fitsSchema(written, parseDdl('a long, s struct<x:int>'))).toBe(false);
    expect(fitsSchema(written, parseDdl('a int, s struct<x:int,y:int>'))).toBe(false);
    expect(fitsSchema(written, parseDdl('s struct<x:int>'))).toBe(false);
  });
});

describe('types', () => {
  test('are widened one way alone, and in steps as at once', () => {
    fc.assert(
      fc.property(type, type, type, (a, b, c) => {
        expect(canWiden(a, a)).toBe(false);
        if (canWiden(a, b)) expect(canWiden(b, a)).toBe(false);
        if (widensInKind(a, b)) expect(canWiden(a, b)).toBe(true);
        if (widensInKind(a, b) && widensInKind(b, c)) expect(widensInKind(a, c)).toBe(true);
      }),
    );
  });

  test.each([
    ['byte', 'short', true],
    ['int', 'bigint', true],
    ['int', 'double', true],
    ['bigint', 'double', false],
    ['float', 'double', true],
    ['int', 'decimal(10,0)', true],
    ['byte', 'decimal(9,0)', false],
    ['int', 'decimal(12,2)', true],
    ['int', 'decimal(11,2)', false],
    ['bigint', 'decimal(20,0)', true],
    ['bigint', 'decimal(19,0)', false],
    ['date', 'timestamp_ntz', true],
    ['date', 'timestamp', false],
    ['decimal(4,1)', 'decimal(5,1)', true],
    ['decimal(4,1)', 'decimal(5,2)', true],
    ['decimal(4,1)', 'decimal(4,2)', false],
    ['string', 'binary', false],
  ])('%s to %s: %s', (from, to, expected) => {
    expect(canWiden(parseDdlType(from), parseDdlType(to))).toBe(expected);
  });

  test('are the narrowest for a whole number', () => {
    const types = [127n, -129n, 2n ** 31n - 1n, 2n ** 31n, 2n ** 63n - 1n].map(
      (value) => wholeTypeFor(value)?.type,
    );
    expect(types).toEqual(['byte', 'short', 'integer', 'long', 'long']);
    expect(wholeTypeFor(2n ** 63n)).toBeUndefined();
  });
});

describe('a path', () => {
  const schema = parseDdl('A struct<b:array<map<string,struct<`c.d`:int>>>>, `a.b` int, l array<array<int>>');

  test('leads through structs, lists and maps, whatever the case', () => {
    const paths: string[][] = [];
    const found = (...path: string[]) =>
      editField(schema, path, (each, inner, exact) => {
        paths.push([...exact, '|', ...inner]);
        return [each];
      });
    expect(found('a', 'B', 'element', 'value', 'c.d')).toEqual(schema);
    found('a.b');
    found('L', 'element', 'element');
    expect(paths).toEqual([
      ['A', 'b', 'element', 'value', 'c.d', '|'],
      ['a.b', '|'],
      ['l', '|', 'element', 'element'],
    ]);
  });

  test.each([[['x']], [['a', 'x']], [['a', 'b', 'value']], [['a.b', 'c']], [[]]])(
    '%j leads nowhere',
    (path) => {
      expect(() => editField(schema, path, (each) => [each])).toThrow(/There is no column/);
    },
  );

  test('to what is no struct leads to no fields', () => {
    expect(() => editFields(schema, ['l', 'element'], (struct) => struct)).toThrow(/is no struct/);
    const made = editFields(schema, ['a', 'b', 'element', 'value'], (struct) => ({
      ...struct,
      fields: [...struct.fields, field('e', { type: 'long' })],
    }));
    expect(printDdl(made)).toContain('struct<`c.d`: int, e: bigint>');
  });
});
