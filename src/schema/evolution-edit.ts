import { TableError } from '../errors.js';
import { findField } from './mapping.js';
import type { DataType, StructField, StructType } from './types.js';

/**
 * A column, or a field inside one: a text is the name of a column, dots included; a list leads through structs by name, through arrays by `element`, through
 * maps by `key` and `value`. Names are found ignoring case, exactly first.
 */
export type ColumnName = string | readonly string[];

/** Where columns are put. */
export type Position = { readonly first: true } | { readonly after: string };

export function pathOf(column: ColumnName): readonly string[] {
  return typeof column === 'string' ? [column] : column;
}

/**
 * What is made of a field: those that take its place. `inner` leads from the field to the type meant, through arrays and maps; empty where the field is meant.
 * `path` is that of the field as the schema spells it.
 */
export type FieldEdit = (
  field: StructField,
  inner: readonly string[],
  path: readonly string[],
) => readonly StructField[];

/** The schema with one field edited. Throws `UNKNOWN_COLUMN` where the path leads nowhere. */
export function editField(schema: StructType, path: readonly string[], edit: FieldEdit): StructType {
  return editStruct(schema, path, { path, edit }, []);
}

/** The schema with the fields of one struct edited: the schema itself for an empty path. Throws `UNKNOWN_COLUMN`. */
export function editFields(
  schema: StructType,
  path: readonly string[],
  edit: (struct: StructType) => StructType,
): StructType {
  if (path.length === 0) return edit(schema);
  return editField(schema, path, (field, inner) => [
    {
      ...field,
      dataType: replaceType(field.dataType, inner, (type) => {
        if (type.type === 'struct') return edit(type);
        throw new TableError(
          'INVALID_SCHEMA',
          `'${path.join('.')}' is no struct, so it cannot have fields.`,
          { column: path.join('.') },
        );
      }),
    },
  ]);
}

/** The type with the one that `inner` leads to replaced. */
export function replaceType(
  type: DataType,
  inner: readonly string[],
  replace: (type: DataType) => DataType,
): DataType {
  const [step, ...rest] = inner;
  if (step === undefined) return replace(type);
  if (type.type === 'array') return { ...type, elementType: replaceType(type.elementType, rest, replace) };
  if (type.type !== 'map') throw new TableError('INTERNAL', `There is no ${step} in ${type.type}.`, { step });
  return step === 'key'
    ? { ...type, keyType: replaceType(type.keyType, rest, replace) }
    : { ...type, valueType: replaceType(type.valueType, rest, replace) };
}

/** Fields with others put in: at the end, or where `position` says. Throws `UNKNOWN_COLUMN` where it names none of them. */
export function placeFields(
  fields: readonly StructField[],
  added: readonly StructField[],
  position?: Position,
): readonly StructField[] {
  if (position === undefined) return [...fields, ...added];
  if ('first' in position) return [...added, ...fields];
  const anchor = findField({ type: 'struct', fields }, position.after);
  if (!anchor) throw unknown([position.after]);
  const at = fields.indexOf(anchor) + 1;
  return [...fields.slice(0, at), ...added, ...fields.slice(at)];
}

interface Editing {
  readonly path: readonly string[];
  readonly edit: FieldEdit;
}

function editStruct(
  struct: StructType,
  rest: readonly string[],
  editing: Editing,
  above: readonly string[],
): StructType {
  const [name, ...further] = rest;
  const field = name === undefined ? undefined : findField(struct, name);
  if (!field) throw unknown(editing.path);
  const at = [...above, field.name];
  const made = leadsInside(field.dataType, further)
    ? [{ ...field, dataType: editType(field.dataType, further, editing, at) }]
    : editing.edit(field, further, at);
  return { ...struct, fields: struct.fields.flatMap((each) => (each === field ? made : [each])) };
}

/** False where the steps lead to the type of a field itself, through arrays and maps alone. */
function leadsInside(type: DataType, steps: readonly string[]): boolean {
  const [step, ...rest] = steps;
  if (step === undefined) return false;
  const next = stepInto(type, step);
  return next === undefined || leadsInside(next, rest);
}

function stepInto(type: DataType, step: string): DataType | undefined {
  if (type.type === 'array' && step === 'element') return type.elementType;
  if (type.type === 'map' && step === 'key') return type.keyType;
  return type.type === 'map' && step === 'value' ? type.valueType : undefined;
}

function editType(
  type: DataType,
  rest: readonly string[],
  editing: Editing,
  at: readonly string[],
): DataType {
  if (type.type === 'struct') return editStruct(type, rest, editing, at);
  const [step, ...further] = rest;
  if (step === undefined || stepInto(type, step) === undefined) throw unknown(editing.path);
  return replaceType(type, [step], (inner) => editType(inner, further, editing, [...at, step]));
}

function unknown(path: readonly string[]): TableError {
  const column = path.join('.');
  return new TableError('UNKNOWN_COLUMN', `There is no column '${column}'.`, { column });
}
