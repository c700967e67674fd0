import { TableError } from '../errors.js';
import { cannotWiden, canWiden, widensInKind, widensTypes, withTypeChange } from './evolution-widen.js';
import { findField } from './mapping.js';
import { isNested, sameType } from './type-text.js';
import type { DataType, JsonObject, StructField, StructType } from './types.js';

/** What may happen to the schema of a table by itself. */
export interface EvolutionRules {
  /** New columns, at the end, and new fields of structs. */
  readonly add: boolean;
  /** Wider types, where the table's properties (`configuration`) allow it. */
  readonly widen: boolean;
  /** Every change of type that the protocol knows, not only those within one kind. */
  readonly anyWidening?: boolean;
  readonly configuration: Readonly<Record<string, string>>;
}

/**
 * The schema with what `given` has beyond it: columns that it lacks, found ignoring case, as nullable ones, and types that are wider. What the rules do not
 * allow, or `given` lacks, or has narrower, stays as it is. The same object where nothing changes. `INVALID_SCHEMA` where `given` has a name twice, has a wider
 * type that the table does not allow, or a new column that other rows cannot lack.
 */
export function evolveSchema(schema: StructType, given: StructType, rules: EvolutionRules): StructType {
  return evolveStruct(schema, given, rules, []);
}

function evolveStruct(
  struct: StructType,
  given: StructType,
  rules: EvolutionRules,
  path: readonly string[],
): StructType {
  assertDistinct(given, path);
  const fields = [...struct.fields];
  let changed = false;
  for (const field of given.fields) {
    const known = findField(struct, field.name);
    if (known) {
      const evolved = evolveField(known, field.dataType, rules, [...path, known.name]);
      if (evolved === known) continue;
      fields[fields.indexOf(known)] = evolved;
      changed = true;
    } else if (rules.add && !containsVoid(field.dataType)) {
      fields.push(newField(field, [...path, field.name]));
      changed = true;
    }
  }
  return changed ? { type: 'struct', fields } : struct;
}

function evolveField(
  field: StructField,
  given: DataType,
  rules: EvolutionRules,
  path: readonly string[],
): StructField {
  let changes: readonly { path: readonly string[]; from: DataType; to: DataType }[] = [];
  const evolve = (type: DataType, to: DataType, inner: readonly string[]): DataType => {
    const at = [...path, ...inner];
    if (type.type === 'struct' && to.type === 'struct') return evolveStruct(type, to, rules, at);
    if (type.type === 'array' && to.type === 'array') {
      const elementType = evolve(type.elementType, to.elementType, [...inner, 'element']);
      return elementType === type.elementType ? type : { ...type, elementType };
    }
    if (type.type === 'map' && to.type === 'map') {
      const keyType = evolve(type.keyType, to.keyType, [...inner, 'key']);
      const valueType = evolve(type.valueType, to.valueType, [...inner, 'value']);
      return keyType === type.keyType && valueType === type.valueType
        ? type
        : { ...type, keyType, valueType };
    }
    const wider = rules.anyWidening ? canWiden(type, to) : widensInKind(type, to);
    if (!rules.widen || !wider) return type;
    if (!widensTypes(rules.configuration)) throw cannotWiden(at, type, to, rules.configuration);
    changes = [...changes, { path: inner, from: type, to }];
    return to;
  };
  const dataType = evolve(field.dataType, given, []);
  if (dataType === field.dataType) return field;
  return changes.reduce((made, { path: inner, from, to }) => withTypeChange(made, inner, from, to), {
    ...field,
    dataType,
  });
}

/** The metadata of a new column that is kept; ids and physical names are the table's to give. */
const KEPT = ['comment', '__CHAR_VARCHAR_TYPE_STRING'];
const REFUSED = ['CURRENT_DEFAULT', 'delta.generationExpression', 'delta.identity.start', 'delta.invariants'];

/**
 * A column as it can be added to a table that may have rows: nullable at every level. `INVALID_SCHEMA` where it has a default, an expression or an invariant,
 * which the rows that are there would lack (protocol: Default Columns).
 */
export function newField(field: StructField, path: readonly string[]): StructField {
  const refused = REFUSED.find((key) => Object.hasOwn(field.metadata, key));
  if (refused !== undefined) {
    throw new TableError(
      'INVALID_SCHEMA',
      `The new column '${path.join('.')}' has ${refused}; a column that is added to a table cannot, because the rows there lack it.`,
      { column: path.join('.'), metadata: refused },
    );
  }
  const metadata: JsonObject = Object.fromEntries(
    KEPT.flatMap((key) => (Object.hasOwn(field.metadata, key) ? [[key, field.metadata[key]!]] : [])),
  );
  return { name: field.name, dataType: newType(field.dataType, path), nullable: true, metadata };
}

function newType(type: DataType, path: readonly string[]): DataType {
  switch (type.type) {
    case 'struct':
      return { ...type, fields: type.fields.map((field) => newField(field, [...path, field.name])) };
    case 'array':
      return { ...type, elementType: newType(type.elementType, [...path, 'element']), containsNull: true };
    case 'map':
      return {
        ...type,
        keyType: newType(type.keyType, [...path, 'key']),
        valueType: newType(type.valueType, [...path, 'value']),
        valueContainsNull: true,
      };
    default:
      return type;
  }
}

/** `INVALID_SCHEMA` where a name stands twice in a struct, ignoring case. */
export function assertDistinct(struct: StructType, path: readonly string[]): void {
  const seen = new Map<string, string>();
  for (const { name } of struct.fields) {
    const twin = seen.get(name.toLowerCase());
    if (twin !== undefined) {
      const [a, b] = [twin, name].map((each) => [...path, each].join('.'));
      throw new TableError(
        'INVALID_SCHEMA',
        `Columns '${a}' and '${b}' are the same name; names must differ in more than case.`,
        { column: b },
      );
    }
    seen.set(name.toLowerCase(), name);
  }
}

/** True for types of which something is not told yet. */
function containsVoid(type: DataType): boolean {
  if (type.type === 'void') return true;
  if (type.type === 'struct')
    return type.fields.length === 0 || type.fields.some((field) => containsVoid(field.dataType));
  if (type.type === 'array') return containsVoid(type.elementType);
  return type.type === 'map' && (containsVoid(type.keyType) || containsVoid(type.valueType));
}

/** The columns whose own type, or that of their elements, keys or values, is another; not those that only hold them. */
export function widenedPaths(before: StructType, after: StructType): readonly (readonly string[])[] {
  return before.fields.flatMap((field) => {
    const now = after.fields.find(({ name }) => name === field.name);
    if (now === undefined || now === field) return [];
    const paths = widenedInside(field.dataType, now.dataType);
    return paths.map((path) => [field.name, ...path]);
  });
}

function widenedInside(before: DataType, after: DataType): readonly (readonly string[])[] {
  if (before === after) return [];
  if (before.type === 'struct' && after.type === 'struct') return widenedPaths(before, after);
  if (before.type === 'array' && after.type === 'array')
    return widenedInside(before.elementType, after.elementType).map(() => []);
  if (before.type === 'map' && after.type === 'map') {
    const { keyType, valueType } = after;
    return [...widenedInside(before.keyType, keyType), ...widenedInside(before.valueType, valueType)].map(
      () => [],
    );
  }
  return [[]];
}

/**
 * True when files written for `written` fit `schema` too: every column of the one is in the other with the same type, name and metadata, and what else there is
 * may be NULL and is computed from nothing.
 */
export function fitsSchema(written: StructType, schema: StructType): boolean {
  const rest = schema.fields.filter(({ name }) => !written.fields.some((field) => field.name === name));
  const free = rest.every(
    ({ nullable, metadata }) => nullable && Object.keys(metadata).every((key) => KEPT.includes(key)),
  );
  return free && written.fields.every((field) => schema.fields.some((other) => sameField(field, other)));
}

function sameField(a: StructField, b: StructField): boolean {
  if (a.name !== b.name || a.nullable !== b.nullable || !sameType(a.dataType, b.dataType)) return false;
  const text = (field: StructField): string =>
    JSON.stringify([isNested(field.dataType) ? field.dataType : null, field.metadata]);
  return text(a) === text(b);
}
