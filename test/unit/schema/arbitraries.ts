import fc from 'fast-check';
import { decimalText } from '../../../src/schema/number-text.js';
import type { DataType, Datum, StructField, StructType } from '../../../src/schema/types.js';

const DAY_RANGE = { min: -719_162, max: 2_932_896 };
const MICROS_RANGE = { min: -62_135_596_800_000_000n, max: 253_402_300_799_999_999n };

/** Decimal types of all sizes. */
export const decimalType: fc.Arbitrary<DataType> = fc
  .integer({ min: 1, max: 38 })
  .chain((precision) =>
    fc.integer({ min: 0, max: precision }).map((scale) => ({ type: 'decimal', precision, scale }) as const),
  );

/** Types that partition, predicates and statistics know. */
export const primitiveType: fc.Arbitrary<DataType> = fc.oneof(
  fc
    .constantFrom(
      'string',
      'long',
      'integer',
      'short',
      'byte',
      'float',
      'double',
      'boolean',
      'binary',
      'date',
      'timestamp',
      'timestamp_ntz',
    )
    .map((type) => ({ type }) as DataType),
  decimalType,
);

const name = fc.oneof(
  { weight: 5, arbitrary: fc.stringMatching(/^[a-z][a-z0-9_]{0,6}$/) },
  { weight: 1, arbitrary: fc.string({ unit: 'grapheme', minLength: 1, maxLength: 6 }) },
  {
    weight: 1,
    arbitrary: fc.constantFrom('__proto__', 'constructor', 'a.b', 'toString', 'ID', '`x`', 'é😀'),
  },
);

/** Any type, nested to three levels. */
export const anyType: fc.Arbitrary<DataType> = fc.letrec<{ type: DataType; fields: StructField[] }>(
  (tie) => ({
    type: fc.oneof(
      { depthSize: 'small', maxDepth: 3, withCrossShrink: true },
      { weight: 6, arbitrary: primitiveType },
      { weight: 1, arbitrary: tie('fields').map((fields) => ({ type: 'struct', fields }) as const) },
      {
        weight: 1,
        arbitrary: fc.record({
          type: fc.constant('array' as const),
          elementType: tie('type'),
          containsNull: fc.boolean(),
        }),
      },
      {
        weight: 1,
        arbitrary: fc.record({
          type: fc.constant('map' as const),
          keyType: primitiveType,
          valueType: tie('type'),
          valueContainsNull: fc.boolean(),
        }),
      },
    ),
    fields: fc.uniqueArray(
      fc.record({ name, dataType: tie('type'), nullable: fc.boolean(), metadata: fc.constant({}) }),
      { minLength: 1, maxLength: 4, selector: (field) => field.name.toLowerCase() },
    ),
  }),
).type;

/** Whole schemas. */
export const anySchema: fc.Arbitrary<StructType> = fc
  .uniqueArray(fc.record({ name, dataType: anyType, nullable: fc.boolean(), metadata: fc.constant({}) }), {
    minLength: 1,
    maxLength: 5,
    selector: (field) => field.name.toLowerCase(),
  })
  .map((fields) => ({ type: 'struct', fields }));

/** Values of a primitive type that are not NULL. */
export function datumOf(type: DataType): fc.Arbitrary<Exclude<Datum, null>> {
  switch (type.type) {
    case 'string':
      return fc.string({ unit: 'binary', maxLength: 40 });
    case 'boolean':
      return fc.boolean();
    case 'byte':
      return fc.integer({ min: -128, max: 127 });
    case 'short':
      return fc.integer({ min: -32_768, max: 32_767 });
    case 'integer':
      return fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 });
    case 'long':
      return fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n });
    case 'float':
      return fc.float();
    case 'double':
      return fc.double();
    case 'binary':
      return fc.uint8Array({ maxLength: 20 });
    case 'date':
      return fc.integer(DAY_RANGE);
    case 'timestamp':
    case 'timestamp_ntz':
      return fc.bigInt(MICROS_RANGE);
    case 'decimal': {
      const limit = 10n ** BigInt(type.precision) - 1n;
      return fc.bigInt({ min: -limit, max: limit });
    }
    default:
      throw new TypeError(`no data of type ${type.type}`);
  }
}

/** Cells as `rowsFromBatch` gives them with `timestamp: 'string'`, so that equality is simple. */
export function cellOf(type: DataType, nullable: boolean): fc.Arbitrary<unknown> {
  const present = presentOf(type);
  return nullable
    ? fc.oneof({ weight: 1, arbitrary: fc.constant(null) }, { weight: 4, arbitrary: present })
    : present;
}

function presentOf(type: DataType): fc.Arbitrary<unknown> {
  switch (type.type) {
    case 'struct':
      return rowOf(type);
    case 'array':
      return fc.array(cellOf(type.elementType, type.containsNull), { maxLength: 4 });
    case 'map':
      return fc
        .uniqueArray(fc.tuple(presentOf(type.keyType), cellOf(type.valueType, type.valueContainsNull)), {
          maxLength: 3,
          selector: ([key]) => String(key),
        })
        .map((entries) => entries);
    case 'decimal':
      return datumOf(type).map((unscaled) => decimalText(unscaled as bigint, type.scale));
    default:
      return datumOf(type);
  }
}

/** A row of a schema, its members own even where they are called `__proto__`. */
export function rowOf(schema: StructType): fc.Arbitrary<Record<string, unknown>> {
  return fc.tuple(...schema.fields.map((field) => cellOf(field.dataType, field.nullable))).map((cells) => {
    const row: Record<string, unknown> = {};
    schema.fields.forEach((field, i) => {
      Object.defineProperty(row, field.name, {
        value: cells[i],
        writable: true,
        enumerable: true,
        configurable: true,
      });
    });
    return row;
  });
}
