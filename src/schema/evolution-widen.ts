import { TableError } from '../errors.js';
import { typeToJson } from './schema-json.js';
import { typeText } from './type-text.js';
import type { DataType, Json, StructField } from './types.js';

const TYPE_CHANGES = 'delta.typeChanges';
const WHOLE = ['byte', 'short', 'integer', 'long'];
/** Decimal digits that hold every value of a whole type. */
const DIGITS: Readonly<Record<string, number>> = { byte: 10, short: 10, integer: 10, long: 20 };

/** True for the changes of type that the protocol knows (protocol: Type Widening). */
export function canWiden(from: DataType, to: DataType): boolean {
  if (widensInKind(from, to)) return true;
  if (to.type === 'double') return ['byte', 'short', 'integer'].includes(from.type);
  if (to.type !== 'decimal') return false;
  const digits = DIGITS[from.type];
  return digits !== undefined && to.precision - to.scale >= digits;
}

/** True for those of them that stay in one kind: what rows may bring about. Whole numbers become DOUBLE or DECIMAL only when they are told to. */
export function widensInKind(from: DataType, to: DataType): boolean {
  if (from.type === 'decimal' && to.type === 'decimal') {
    const scale = to.scale - from.scale;
    const precision = to.precision - from.precision;
    return scale >= 0 && precision >= scale && precision > 0;
  }
  if (from.type === 'float') return to.type === 'double';
  if (from.type === 'date') return to.type === 'timestamp_ntz';
  const [a, b] = [WHOLE.indexOf(from.type), WHOLE.indexOf(to.type)];
  return a >= 0 && b > a;
}

/** The narrowest whole type that holds a whole number; undefined where none does. */
export function wholeTypeFor(value: bigint): DataType | undefined {
  const bits = [8, 16, 32, 64].findIndex((width) => BigInt.asIntN(width, value) === value);
  return bits < 0 ? undefined : ({ type: WHOLE[bits] } as DataType);
}

/**
 * The field with the change of a type recorded in its metadata (protocol: Type Change Metadata); `path` leads to the type within the field through
 * `element`, `key` and `value`. Earlier changes stay.
 */
export function withTypeChange(
  field: StructField,
  path: readonly string[],
  from: DataType,
  to: DataType,
): StructField {
  const before = Object.hasOwn(field.metadata, TYPE_CHANGES) ? field.metadata[TYPE_CHANGES] : undefined;
  const change: Json = {
    toType: typeToJson(to),
    fromType: typeToJson(from),
    ...(path.length === 0 ? {} : { fieldPath: path.join('.') }),
  };
  const changes = [...(Array.isArray(before) ? (before as readonly Json[]) : []), change];
  return { ...field, metadata: { ...field.metadata, [TYPE_CHANGES]: changes } };
}

/** True where the table lets the types of its columns be widened. */
export function widensTypes(configuration: Readonly<Record<string, string>>): boolean {
  return configuration['delta.enableTypeWidening']?.toLowerCase() === 'true';
}

/** The error of a type that a column of this table cannot take. */
export function cannotWiden(
  column: readonly string[],
  from: DataType,
  to: DataType,
  configuration: Readonly<Record<string, string>>,
): TableError {
  const why =
    canWiden(from, to) && !widensTypes(configuration)
      ? 'Set the table property delta.enableTypeWidening to true first.'
      : `Types can only be widened: byte to short to int to bigint, float to double, date to timestamp_ntz, decimals to more digits on either side, whole numbers up to int to double, whole numbers to decimals.`;
  return new TableError(
    'INVALID_SCHEMA',
    `The column '${column.join('.')}' of type ${typeText(from)} cannot become ${typeText(to)}. ${why}`,
    { column: column.join('.'), expected: typeText(from), got: typeText(to) },
  );
}
