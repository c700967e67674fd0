import { type MappingMode, physicalName } from '../schema/mapping.js';
import { typeText } from '../schema/type-text.js';
import type { DataType, StructType } from '../schema/types.js';

/**
 * Why rows of an older schema cannot be given in a newer one, or undefined where they can: columns may be added and types widened, but a column that was
 * dropped, renamed or changed otherwise would silently lose its values.
 */
export function schemaConflict(older: StructType, newer: StructType, mode: MappingMode): string | undefined {
  for (const field of older.fields) {
    const physical = physicalName(field, mode);
    const now = newer.fields.find((candidate) => physicalName(candidate, mode) === physical);
    if (now === undefined) return `it has no column '${field.name}'`;
    if (now.name !== field.name) return `the column '${field.name}' is now called '${now.name}'`;
    const conflict = typeConflict(field.dataType, now.dataType, mode);
    if (conflict !== undefined) return `the column '${field.name}' changed: ${conflict}`;
  }
  return undefined;
}

function typeConflict(older: DataType, newer: DataType, mode: MappingMode): string | undefined {
  if (older.type === 'struct' && newer.type === 'struct') return schemaConflict(older, newer, mode);
  if (older.type === 'array' && newer.type === 'array')
    return typeConflict(older.elementType, newer.elementType, mode);
  if (older.type === 'map' && newer.type === 'map') {
    return (
      typeConflict(older.keyType, newer.keyType, mode) ?? typeConflict(older.valueType, newer.valueType, mode)
    );
  }
  if (older.type === 'void' || isWidening(older, newer)) return undefined;
  return `${typeText(older)} is now ${typeText(newer)}`;
}

const WIDER: Readonly<Record<string, readonly string[]>> = {
  byte: ['short', 'integer', 'long', 'double', 'decimal'],
  short: ['integer', 'long', 'double', 'decimal'],
  integer: ['long', 'double', 'decimal'],
  long: ['decimal'],
  float: ['double'],
  date: ['timestamp_ntz'],
};

/** Digits before the point that every value of an integer type fits. */
const INTEGER_DIGITS: Readonly<Record<string, number>> = { byte: 3, short: 5, integer: 10, long: 20 };

/** The same type, or one of the changes that the protocol allows (Type Widening). */
function isWidening(older: DataType, newer: DataType): boolean {
  if (older.type === 'decimal' && newer.type === 'decimal') {
    const digits = (type: { precision: number; scale: number }) => type.precision - type.scale;
    return newer.scale >= older.scale && digits(newer) >= digits(older);
  }
  if (older.type === newer.type) return true;
  if (!WIDER[older.type]?.includes(newer.type)) return false;
  return newer.type !== 'decimal' || newer.precision - newer.scale >= INTEGER_DIGITS[older.type]!;
}
