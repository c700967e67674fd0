import { TableError } from '../errors.js';
import { parseJson, stringifyJson } from '../log/json.js';
import type { DataType, Json, JsonObject, PrimitiveName, StructField, StructType } from './types.js';

/** Types nested deeper than this are refused: every walk over a schema is recursive. */
export const MAX_SCHEMA_DEPTH = 100;

const PRIMITIVES: ReadonlySet<string> = new Set<PrimitiveName>([
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
  'void',
  'variant',
]);
const DECIMAL = /^decimal(?:\(\s*(\d{1,4})\s*,\s*(-?\d{1,4})\s*\))?$/;
/** Spark's names of intervals, by their first field. */
const INTERVAL = /^interval (year|month|day|hour|minute|second)( to (month|hour|minute|second))?$/;
const COLLATED = /^string collate \S+$/i;

/**
 * Parses the `schemaString` of a metadata action (protocol: Schema Serialization Format). Metadata of fields is kept as it is; absent `metadata`,
 * `nullable`, `containsNull` and `valueContainsNull` read as `{}` and true. Collated strings read as strings, which compare by their bytes.
 *
 * Errors: `CORRUPT_LOG` for text that is no schema; `UNSUPPORTED_FEATURE` for a type outside the protocol (its name is in the message and under `type`);
 * `LIMIT_EXCEEDED` for types nested too deep.
 */
export function parseSchema(schemaString: string): StructType {
  let json: Json;
  try {
    json = parseJson(schemaString);
  } catch (error) {
    if (error instanceof TableError) throw error;
    throw new TableError(
      'CORRUPT_LOG',
      'The schemaString of the table metadata is not JSON.',
      { schemaString: excerpt(schemaString) },
      error,
    );
  }
  const type = readType(json, [], 0);
  if (type.type !== 'struct') throw corrupt([], 'the top level is not a struct', json);
  return type;
}

/** Writes a schema as Spark does, key order included: the inverse of `parseSchema`. */
export function serializeSchema(schema: StructType): string {
  return stringifyJson(typeToJson(schema));
}

/** One type as the protocol's JSON has it: a name or an object. */
export function typeToJson(type: DataType): Json {
  switch (type.type) {
    case 'decimal':
      return `decimal(${type.precision},${type.scale})`;
    case 'struct':
      return {
        type: 'struct',
        fields: type.fields.map((f) => ({
          name: f.name,
          type: typeToJson(f.dataType),
          nullable: f.nullable,
          metadata: f.metadata,
        })),
      };
    case 'array':
      return { type: 'array', elementType: typeToJson(type.elementType), containsNull: type.containsNull };
    case 'map':
      return {
        type: 'map',
        keyType: typeToJson(type.keyType),
        valueType: typeToJson(type.valueType),
        valueContainsNull: type.valueContainsNull,
      };
    default:
      return type.type;
  }
}

function readType(json: Json, path: readonly string[], depth: number): DataType {
  if (depth > MAX_SCHEMA_DEPTH) {
    throw new TableError('LIMIT_EXCEEDED', `The schema is nested deeper than ${MAX_SCHEMA_DEPTH} levels.`, {
      limit: MAX_SCHEMA_DEPTH,
    });
  }
  if (typeof json === 'string') return readName(json, path);
  if (!isObject(json)) throw corrupt(path, 'a type is neither a name nor an object', json);
  switch (own(json, 'type')) {
    case 'struct':
      return readStruct(json, path, depth);
    case 'array':
      return {
        type: 'array',
        elementType: readType(own(json, 'elementType'), [...path, 'element'], depth + 1),
        containsNull: flag(json, 'containsNull', path),
      };
    case 'map':
      return {
        type: 'map',
        keyType: readType(own(json, 'keyType'), [...path, 'key'], depth + 1),
        valueType: readType(own(json, 'valueType'), [...path, 'value'], depth + 1),
        valueContainsNull: flag(json, 'valueContainsNull', path),
      };
    default: {
      const name = own(json, 'type');
      if (typeof name !== 'string') throw corrupt(path, 'a type object has no type name', json);
      // The variant type is documented as an object by the protocol and written as a name by Spark.
      return readName(name, path);
    }
  }
}

function readStruct(json: JsonObject, path: readonly string[], depth: number): StructType {
  const fields = own(json, 'fields');
  if (!Array.isArray(fields)) throw corrupt(path, 'a struct has no list of fields', json);
  return {
    type: 'struct',
    fields: (fields as readonly Json[]).map((field) => readField(field, path, depth)),
  };
}

function readField(json: Json, path: readonly string[], depth: number): StructField {
  if (!isObject(json)) throw corrupt(path, 'a field is not an object', json);
  const name = own(json, 'name');
  if (typeof name !== 'string') throw corrupt(path, 'a field has no name', json);
  const metadata = own(json, 'metadata');
  if (metadata !== null && !isObject(metadata))
    throw corrupt([...path, name], 'the metadata of a field is not an object', metadata);
  const at = [...path, name];
  return {
    name,
    dataType: readType(own(json, 'type'), at, depth + 1),
    nullable: flag(json, 'nullable', at),
    metadata: metadata ?? {},
  };
}

/** The type of an interval by Spark's name: months, or microseconds. */
export function intervalType(name: string): DataType | undefined {
  const first = INTERVAL.exec(name)?.[1];
  if (first === undefined) return undefined;
  return {
    type: first === 'year' || first === 'month' ? 'interval year to month' : 'interval day to second',
  };
}

function readName(name: string, path: readonly string[]): DataType {
  if (PRIMITIVES.has(name)) return { type: name as PrimitiveName };
  if (name === 'null') return { type: 'void' };
  if (COLLATED.test(name)) return { type: 'string' };
  const interval = intervalType(name);
  if (interval !== undefined) return interval;
  const decimal = DECIMAL.exec(name);
  if (decimal) {
    const precision = Number(decimal[1] ?? 10);
    const scale = Number(decimal[2] ?? 0);
    if (precision < 1 || precision > 38 || scale < 0 || scale > precision)
      throw corrupt(path, `${name} is not a decimal type`, name);
    return { type: 'decimal', precision, scale };
  }
  const column = path.join('.');
  throw new TableError(
    'UNSUPPORTED_FEATURE',
    `Column ${column === '' ? 'types' : `'${column}'`} of type '${excerpt(name)}': this type is not one of the Delta protocol that this library reads.`,
    { column, type: excerpt(name) },
  );
}

function flag(json: JsonObject, key: string, path: readonly string[]): boolean {
  const value = own(json, key);
  if (value === null) return true;
  if (typeof value !== 'boolean') throw corrupt(path, `${key} is neither true nor false`, value);
  return value;
}

/** Own members alone: a name such as `constructor` must not find the prototype's. */
function own(json: JsonObject, key: string): Json {
  return Object.hasOwn(json, key) ? (json[key] ?? null) : null;
}

function isObject(json: Json): json is JsonObject {
  return typeof json === 'object' && json !== null && !Array.isArray(json);
}

function corrupt(path: readonly string[], what: string, found: unknown): TableError {
  const column = path.join('.');
  return new TableError(
    'CORRUPT_LOG',
    `The schema of the table metadata cannot be read: ${what}${column === '' ? '' : ` (at '${excerpt(column)}')`}.`,
    {
      column: excerpt(column),
      found: typeof found === 'string' ? excerpt(found) : typeof found,
    },
  );
}

function excerpt(text: string): string {
  return text.length <= 200 ? text : `${text.slice(0, 200)}...`;
}
