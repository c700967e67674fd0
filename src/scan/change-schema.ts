import { canWiden } from '../schema/evolution-widen.js';
import { type MappingMode, physicalName } from '../schema/mapping.js';
import { sameType, typeText } from '../schema/type-text.js';
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
  if (older.type === 'void' || sameType(older, newer) || canWiden(older, newer)) return undefined;
  return `${typeText(older)} is now ${typeText(newer)}`;
}
