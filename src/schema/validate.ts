import { TableError } from '../errors.js';
import { columnMappingMode } from './mapping.js';
import { MAX_SCHEMA_DEPTH } from './schema-json.js';
import { quoteName, typeText } from './type-text.js';
import type { DataType, StructType } from './types.js';

/** What Parquet writers choke on, so that names may not have them without column mapping. */
const FORBIDDEN = /[ ,;{}()\n\t=]/;

/**
 * Checks that a new table may have this schema: at least one column; names unique ignoring case at every level, without ` ,;{}()\n\t=` unless columns are
 * mapped, never empty; no empty struct, no void; decimals within 38 digits; no NOT NULL inside arrays and maps, which no engine enforces; partition columns
 * exist, are top-level, of a type with an order, named once, and not all columns. Errors: `INVALID_SCHEMA` naming the column; `UNKNOWN_COLUMN` for a
 * partition column that does not exist.
 */
export function validateSchema(
  schema: StructType,
  partitionColumns: readonly string[],
  configuration: Readonly<Record<string, string>> = {},
): void {
  const mapped = columnMappingMode({ configuration }) !== 'none';
  if (schema.fields.length === 0) throw invalid('A table needs at least one column.', '');
  validateType(schema, [], { mapped, required: true });
  validatePartitionColumns(schema, partitionColumns);
}

function validateType(
  type: DataType,
  path: readonly string[],
  rules: { mapped: boolean; required: boolean },
): void {
  const column = path.join('.');
  if (path.length > MAX_SCHEMA_DEPTH)
    throw invalid(`The schema is nested deeper than ${MAX_SCHEMA_DEPTH} levels.`, column);
  switch (type.type) {
    case 'struct':
      validateStruct(type, path, rules);
      break;
    case 'array':
      validateType(type.elementType, [...path, 'element'], { ...rules, required: false });
      break;
    case 'map':
      validateType(type.keyType, [...path, 'key'], { ...rules, required: false });
      validateType(type.valueType, [...path, 'value'], { ...rules, required: false });
      break;
    case 'decimal': {
      const { precision, scale } = type;
      const whole = Number.isInteger(precision) && Number.isInteger(scale);
      if (!whole || precision < 1 || precision > 38 || scale < 0 || scale > precision) {
        throw invalid(
          `Column '${column}': ${typeText(type)} is no decimal; the precision is 1 to 38, the scale 0 to the precision.`,
          column,
        );
      }
      break;
    }
    case 'interval year to month':
    case 'interval day to second':
      throw noIntervals(type.type, column);
    case 'void':
      throw invalid(
        `Column '${column}' is of type void, which holds nothing but NULL; give it another type.`,
        column,
      );
    default:
      break;
  }
}

function validateStruct(
  struct: StructType,
  path: readonly string[],
  rules: { mapped: boolean; required: boolean },
): void {
  if (struct.fields.length === 0)
    throw invalid(
      `Column '${path.join('.')}' is a struct without fields, which Parquet cannot hold.`,
      path.join('.'),
    );
  const seen = new Map<string, string>();
  for (const field of struct.fields) {
    const at = [...path, field.name];
    const column = at.join('.');
    if (field.name === '') throw invalid('A column has an empty name.', column);
    if (!rules.mapped && FORBIDDEN.test(field.name)) {
      throw invalid(
        `Column ${quoteName(column)}: a name may not have any of the characters ' ,;{}()\\n\\t=' unless the table maps columns (delta.columnMapping.mode).`,
        column,
      );
    }
    const twin = seen.get(field.name.toLowerCase());
    if (twin !== undefined) {
      throw invalid(
        `Columns '${[...path, twin].join('.')}' and '${column}' are the same name; names must differ in more than case.`,
        column,
      );
    }
    seen.set(field.name.toLowerCase(), field.name);
    if (!field.nullable && !rules.required) {
      throw invalid(
        `Column '${column}' is NOT NULL inside an array or map, where Delta cannot enforce it; make it nullable.`,
        column,
      );
    }
    validateType(field.dataType, at, rules);
  }
}

function validatePartitionColumns(schema: StructType, partitionColumns: readonly string[]): void {
  const seen = new Set<string>();
  for (const name of partitionColumns) {
    const field = schema.fields.find((candidate) => candidate.name === name);
    if (field === undefined) {
      const near = schema.fields.find(
        (candidate) => candidate.name.toLowerCase() === name.toLowerCase(),
      )?.name;
      const hint =
        near === undefined
          ? `the columns are ${schema.fields.map((f) => f.name).join(', ')}`
          : `did you mean '${near}'?`;
      throw new TableError(
        'UNKNOWN_COLUMN',
        `Partition column '${name}' is no top-level column of the schema: ${hint}`,
        { column: name },
      );
    }
    if (seen.has(name)) throw invalid(`Partition column '${name}' is named twice.`, name);
    seen.add(name);
    if (!canPartition(field.dataType)) {
      throw invalid(
        `Column '${name}' of type ${typeText(field.dataType)} cannot be a partition column.`,
        name,
      );
    }
  }
  if (partitionColumns.length > 0 && partitionColumns.length === schema.fields.length) {
    throw invalid(
      'All columns are partition columns; at least one must be stored in the data files.',
      partitionColumns[0]!,
    );
  }
}

/**
 * Checks that data files can be written for a schema as it is found (protocol: Void Type): no void inside an array or map, no struct whose fields are all
 * void, not all columns void; and no interval, which Spark alone writes. Such a table may still be read. Errors: `INVALID_SCHEMA`, `UNSUPPORTED_FEATURE` for an
 * interval, naming the column.
 */
export function assertStorable(schema: StructType): void {
  if (schema.fields.every((field) => field.dataType.type === 'void')) {
    throw invalid(
      'All columns are of type void, which data files do not hold; give one another type before writing.',
      schema.fields[0]?.name ?? '',
    );
  }
  for (const field of schema.fields) assertTypeStorable(field.dataType, [field.name], false);
}

function assertTypeStorable(type: DataType, path: readonly string[], inCollection: boolean): void {
  const column = path.join('.');
  switch (type.type) {
    case 'void':
      if (inCollection)
        throw invalid(
          `Column '${column}' is void inside an array or map, which data files cannot hold; change its type before writing.`,
          column,
        );
      break;
    case 'interval year to month':
    case 'interval day to second':
      throw noIntervals(type.type, column);
    case 'struct':
      if (type.fields.every((field) => field.dataType.type === 'void')) {
        throw invalid(
          `Column '${column}' is a struct of nothing but void, which data files cannot hold; change a field's type before writing.`,
          column,
        );
      }
      for (const field of type.fields)
        assertTypeStorable(field.dataType, [...path, field.name], inCollection);
      break;
    case 'array':
      assertTypeStorable(type.elementType, [...path, 'element'], true);
      break;
    case 'map':
      assertTypeStorable(type.keyType, [...path, 'key'], true);
      assertTypeStorable(type.valueType, [...path, 'value'], true);
      break;
    default:
      break;
  }
}

/** True for the types whose values `add.partitionValues` can hold. */
export function canPartition(type: DataType): boolean {
  return !['struct', 'array', 'map', 'variant', 'void'].includes(type.type);
}

/** Spark writes them only with its check of types turned off, and has no way to read them back. */
function noIntervals(type: string, column: string): TableError {
  const as = type === 'interval year to month' ? 'months as an INT' : 'microseconds as a LONG';
  return new TableError(
    'UNSUPPORTED_FEATURE',
    `Column '${column}' is of type ${type}, which the Delta protocol does not have: it can be read, not written. Keep ${as} column instead; a table that has such a column takes rows again once it is dropped.`,
    { column, type },
  );
}

function invalid(message: string, column: string): TableError {
  return new TableError('INVALID_SCHEMA', message, { column });
}

export { protocolFor } from './protocol-for.js';
