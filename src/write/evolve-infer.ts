import { TableError } from '../errors.js';
import { wholeTypeFor, widensInKind } from '../schema/evolution-widen.js';
import { findField } from '../schema/mapping.js';
import { isRecord } from '../schema/nested-builder.js';
import type { Row } from '../schema/rows-in.js';
import { typeText } from '../schema/type-text.js';
import type { DataType, PrimitiveName, StructField, StructType } from '../schema/types.js';

/**
 * What rows have beyond a schema: columns and fields that it lacks, with the types that their values tell, and whole numbers beyond the range of their column as
 * a wider one. Boolean tells boolean, bigint long, number double, text string, Uint8Array binary, Date and Temporal.Instant timestamp, PlainDate date,
 * PlainDateTime timestamp_ntz; arrays, Maps and objects are lists, maps and structs. NULL tells nothing. `INVALID_ROW` where two values tell different types.
 */
export class Inference {
  readonly #schema: StructType;
  readonly #found = new Map<string, Found>();

  constructor(schema: StructType) {
    this.#schema = schema;
  }

  add(row: Row): void {
    addMembers(this.#found, row, this.#schema, []);
  }

  /** Columns that differ from those of the schema alone. */
  get schema(): StructType {
    return structOf(this.#found);
  }
}

/** A type on its way: children are found one after another. */
interface Found {
  readonly name: string;
  type: DataType | undefined;
  readonly fields: Map<string, Found>;
  readonly parts: Map<'element' | 'key' | 'value', Found>;
}

const empty = (name: string): Found => ({ name, type: undefined, fields: new Map(), parts: new Map() });

function addMembers(
  into: Map<string, Found>,
  record: Readonly<Record<string, unknown>>,
  known: StructType | undefined,
  path: readonly string[],
): void {
  const named = new Map<string, string>();
  for (const [name, value] of Object.entries(record)) {
    if (value === null || value === undefined) continue;
    const field = known && findField(known, name);
    const at = [...path, name];
    if (field && !mayDiffer(field.dataType)) continue;
    const key = name.toLowerCase();
    const twin = named.get(key);
    if (!field && twin !== undefined) throw conflict(at, `'${twin}' and '${name}' are the same name`);
    named.set(key, name);
    const found = into.get(key) ?? empty(field?.name ?? name);
    addValue(found, value, field?.dataType, at);
    if (!field || isTold(found)) into.set(key, found);
  }
}

/** Only these can have values that ask for another type. */
function mayDiffer({ type }: DataType): boolean {
  return ['struct', 'array', 'map', 'byte', 'short', 'integer'].includes(type);
}

function addValue(found: Found, value: unknown, known: DataType | undefined, path: readonly string[]): void {
  if (value === null || value === undefined) return;
  if (known === undefined || known.type === 'array' || known.type === 'map' || known.type === 'struct') {
    if (isRecord(value) && known?.type !== 'map') {
      if (known === undefined || known.type === 'struct') tell(found, { type: 'struct', fields: [] }, path);
      if (known === undefined || known.type === 'struct') addMembers(found.fields, value, known, path);
      return;
    }
    const pairs = known?.type === 'map' ? entriesOf(value) : value instanceof Map ? [...value] : undefined;
    if (pairs) {
      tell(found, MAP, path);
      const types = known?.type === 'map' ? known : undefined;
      for (const [key, each] of pairs) {
        addValue(part(found, 'key'), key, types?.keyType, [...path, 'key']);
        addValue(part(found, 'value'), each, types?.valueType, [...path, 'value']);
      }
      return;
    }
    if (Array.isArray(value)) {
      tell(found, ARRAY, path);
      const type = known?.type === 'array' ? known.elementType : undefined;
      for (const each of value) addValue(part(found, 'element'), each, type, [...path, 'element']);
      return;
    }
  }
  const type = known ? widerFor(value, known) : primitiveOf(value, path);
  if (type) tell(found, type, path);
}

const NOTHING: DataType = { type: 'void' };
const ARRAY: DataType = { type: 'array', elementType: NOTHING, containsNull: true };
const MAP: DataType = { type: 'map', keyType: NOTHING, valueType: NOTHING, valueContainsNull: true };

function part(found: Found, name: 'element' | 'key' | 'value'): Found {
  const made = found.parts.get(name) ?? empty(name);
  found.parts.set(name, made);
  return made;
}

function entriesOf(value: unknown): readonly (readonly [unknown, unknown])[] {
  if (value instanceof Map) return [...value];
  if (Array.isArray(value)) return value.filter((pair) => Array.isArray(pair)) as [unknown, unknown][];
  return isRecord(value) ? Object.entries(value) : [];
}

function tell(found: Found, type: DataType, path: readonly string[]): void {
  const before = found.type;
  if (before === undefined || widensInKind(before, type)) found.type = type;
  else if (before.type !== type.type && !widensInKind(type, before))
    throw conflict(path, `its values are both ${typeText(before)} and ${typeText(type)}`);
}

function widerFor(value: unknown, known: DataType): DataType | undefined {
  const isWhole = typeof value === 'bigint' || (typeof value === 'number' && Number.isSafeInteger(value));
  if (!isWhole) return undefined;
  const needed = wholeTypeFor(BigInt(value));
  return needed && widensInKind(known, needed) ? needed : undefined;
}

const TEMPORAL: Readonly<Record<string, PrimitiveName>> = {
  'Temporal.Instant': 'timestamp',
  'Temporal.ZonedDateTime': 'timestamp',
  'Temporal.PlainDateTime': 'timestamp_ntz',
  'Temporal.PlainDate': 'date',
};

function primitiveOf(value: unknown, path: readonly string[]): DataType {
  const type = primitiveName(value);
  if (type) return { type };
  throw conflict(path, `its values, such as one of ${Object.prototype.toString.call(value)}, tell no type`);
}

function primitiveName(value: unknown): PrimitiveName | undefined {
  switch (typeof value) {
    case 'boolean':
      return 'boolean';
    case 'bigint':
      return 'long';
    case 'number':
      return 'double';
    case 'string':
      return 'string';
    case 'object': {
      if (value instanceof Uint8Array || value instanceof ArrayBuffer) return 'binary';
      if (value instanceof Date) return 'timestamp';
      const tag: unknown = value === null ? undefined : Reflect.get(value, Symbol.toStringTag);
      return typeof tag === 'string' && Object.hasOwn(TEMPORAL, tag) ? TEMPORAL[tag] : undefined;
    }
    default:
      return undefined;
  }
}

/** True where something differs from the schema, here or further in. */
function isTold(found: Found): boolean {
  if (found.type === undefined) return false;
  if (!['struct', 'array', 'map'].includes(found.type.type)) return true;
  return [...found.fields.values(), ...found.parts.values()].some(isTold);
}

function typeOf(found: Found): DataType {
  const { type } = found;
  if (type === undefined) return NOTHING;
  const at = (name: 'element' | 'key' | 'value'): DataType => typeOf(found.parts.get(name) ?? empty(name));
  if (type.type === 'struct') return structOf(found.fields);
  if (type.type === 'array') return { ...type, elementType: at('element') };
  return type.type === 'map' ? { ...type, keyType: at('key'), valueType: at('value') } : type;
}

function structOf(found: ReadonlyMap<string, Found>): StructType {
  const fields = [...found.values()].map(
    (each): StructField => ({ name: each.name, dataType: typeOf(each), nullable: true, metadata: {} }),
  );
  return { type: 'struct', fields };
}

function conflict(path: readonly string[], why: string): TableError {
  const column = path.join('.');
  return new TableError(
    'INVALID_ROW',
    `The type of the new column '${column}' cannot be told from the rows: ${why}. Nothing was committed; say it with evolveTo.`,
    { column },
  );
}
