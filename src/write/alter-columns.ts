import { TableError } from '../errors.js';
import { parseColumnList } from '../log/property-values.js';
import { parseDdl, parseDdlType, printDdl } from '../schema/ddl.js';
import { assertDistinct, newField } from '../schema/evolution.js';
import { editField, editFields, pathOf, placeFields, replaceType } from '../schema/evolution-edit.js';
import { cannotWiden, canWiden, widensTypes, withTypeChange } from '../schema/evolution-widen.js';
import { columnMappingMode } from '../schema/mapping.js';
import { typeToJson } from '../schema/schema-json.js';
import { quoteName, sameType } from '../schema/type-text.js';
import type { DataType, JsonObject, StructField, StructType } from '../schema/types.js';
import { assertUnused } from './alter-dependents.js';
import {
  type AddColumns,
  type AlterBase,
  type Altered,
  type ChangeColumn,
  type Draft,
  type DropColumn,
  positionOf,
  type RenameColumn,
} from './alteration.js';
import { withDefault } from './default-value.js';

const STATISTICS = 'delta.dataSkippingStatsColumns';

/** Throws `INVALID_SCHEMA` for a name that is there, NOT NULL, a default or an expression; `UNKNOWN_COLUMN` for a place that is not there. */
export function addColumns(draft: Draft, change: AddColumns): Altered {
  const wanted = typeof change.addColumns === 'string' ? parseDdl(change.addColumns) : change.addColumns;
  const within = change.within === undefined ? [] : pathOf(change.within);
  const position = positionOf(change);
  for (const field of wanted.fields) assertNullable(field, [...within, field.name]);
  const added = wanted.fields.map((field) => newField(field, [...within, field.name]));
  const schema = editFields(draft.schema, within, (struct) => {
    const fields = placeFields(struct.fields, added, position);
    assertDistinct({ type: 'struct', fields }, within);
    return { type: 'struct', fields };
  });
  const columns = added.map((field, i) => ({
    column: toldField(field, within),
    ...(position === undefined
      ? {}
      : {
          position:
            'first' in position && i === 0
              ? 'FIRST'
              : `AFTER ${i === 0 && 'after' in position ? position.after : added[i - 1]!.name}`,
        }),
  }));
  return {
    draft: { ...draft, schema },
    operation: 'ADD COLUMNS',
    parameters: { columns: JSON.stringify(columns) },
    told: `add ${printDdl({ type: 'struct', fields: added })}${within.length > 0 ? ` to ${spelled(within)}` : ''}`,
  };
}

/** Rows that are there would have NULL. */
function assertNullable(field: StructField, path: readonly string[]): void {
  if (field.nullable) return;
  throw invalid(
    `The new column '${path.join('.')}' cannot be NOT NULL, because the rows of the table lack it.`,
    path,
  );
}

/** Throws `INVALID_SCHEMA` where columns are not mapped, the name is taken, or a constraint or generated column depends on it. */
export function renameColumn(draft: Draft, { renameColumn, to }: RenameColumn, base: AlterBase): Altered {
  const path = pathOf(renameColumn);
  assertMapped(draft, 'renamed', path, base.url);
  const { field, path: old } = locate(draft.schema, path);
  assertUnused(draft, old, 'renamed');
  const renamed = [...old.slice(0, -1), to];
  const schema = editField(draft.schema, path, () => [{ ...field, name: to }]);
  assertSiblings(schema, renamed);
  const isTop = old.length === 1;
  return {
    draft: {
      ...draft,
      schema,
      partitionColumns: draft.partitionColumns.map((name) => (isTop && name === field.name ? to : name)),
      configuration: withStatistics(draft.configuration, old, renamed),
    },
    operation: 'RENAME COLUMN',
    parameters: { oldColumnPath: spelled(old), newColumnPath: spelled(renamed) },
    told: `rename ${spelled(old)} to ${spelled(renamed)}`,
  };
}

/** Throws `INVALID_SCHEMA` where columns are not mapped, it is a partition column, the last one, or a constraint or generated column depends on it. */
export function dropColumn(draft: Draft, { dropColumn }: DropColumn, base: AlterBase): Altered {
  const path = pathOf(dropColumn);
  assertMapped(draft, 'dropped', path, base.url);
  const { field, path: old } = locate(draft.schema, path);
  if (old.length === 1 && draft.partitionColumns.includes(field.name))
    throw invalid(`The column '${field.name}' is a partition column and cannot be dropped.`, old);
  assertUnused(draft, old, 'dropped');
  return {
    draft: {
      ...draft,
      schema: editField(draft.schema, path, () => []),
      configuration: withStatistics(draft.configuration, old, undefined),
    },
    operation: 'DROP COLUMNS',
    parameters: { columns: JSON.stringify([spelled(old)]) },
    told: `drop ${spelled(old)}`,
  };
}

/** Throws `INVALID_SCHEMA` for a type that is not wider, or not allowed to be, and a default that the column cannot have; `INVALID_INPUT` where there is nothing to change. */
export function changeColumn(draft: Draft, change: ChangeColumn, base: AlterBase): Altered {
  const path = pathOf(change.changeColumn);
  const position = positionOf(change);
  const { comment, default: text, type, nullable } = change;
  if ([comment, text, type, nullable, position].every((each) => each === undefined)) {
    throw new TableError('INVALID_INPUT', `Say what of the column '${path.join('.')}' is to change.`, {
      column: path.join('.'),
    });
  }
  if (nullable !== undefined && nullable !== true) {
    throw invalid(
      `The column '${path.join('.')}' cannot become NOT NULL: rows may have NULL there. Add a constraint.`,
      path,
    );
  }
  const told: string[] = [];
  let changed: StructField | undefined;
  let schema = editField(draft.schema, path, (field, inner, exact) => {
    if (inner.length > 0 && [comment, text, nullable, position].some((each) => each !== undefined))
      throw invalid(`'${path.join('.')}' is no column of its own; only its type can change.`, path);
    let made = field;
    if (type !== undefined) {
      made = widened(made, inner, parseDdlType(type), draft, path);
      if (made !== field) {
        assertUnused(draft, exact, 'given another type');
        told.push(`type ${type}`);
      }
    }
    if (comment !== undefined) {
      made = withComment(made, comment);
      told.push(comment === null ? 'no comment' : `comment ${JSON.stringify(comment)}`);
    }
    if (nullable) {
      made = { ...made, nullable: true };
      told.push('NULL allowed');
    }
    if (text !== undefined) {
      made = withDefault(made, exact, text, base.timestamp);
      told.push(text === null ? 'no default' : `default ${text}`);
    }
    changed = made;
    return [made];
  });
  if (position !== undefined) {
    schema = editFields(schema, path.slice(0, -1), (struct) => moved(struct, changed!, position));
    told.push('first' in position ? 'first' : `after ${position.after}`);
  }
  return {
    draft: { ...draft, schema },
    operation: 'CHANGE COLUMN',
    parameters: {
      column: JSON.stringify(toldField(changed!, path.slice(0, -1))),
      ...(position === undefined
        ? {}
        : { position: 'first' in position ? 'FIRST' : `AFTER ${position.after}` }),
    },
    told: `change ${spelled(path)}: ${told.length > 0 ? told.join(', ') : 'nothing'}`,
  };
}

function moved(
  struct: StructType,
  field: StructField,
  position: NonNullable<ReturnType<typeof positionOf>>,
): StructType {
  const others = struct.fields.filter((each) => each !== field);
  return { ...struct, fields: placeFields(others, [field], position) };
}

function widened(
  field: StructField,
  inner: readonly string[],
  to: DataType,
  { configuration, partitionColumns }: Draft,
  path: readonly string[],
): StructField {
  let from: DataType | undefined;
  const dataType = replaceType(field.dataType, inner, (type) => {
    from = type;
    return to;
  });
  if (sameType(from!, to)) return field;
  const isPartition = path.length === 1 && partitionColumns.includes(field.name);
  if (isPartition && from!.type === 'date')
    throw invalid(
      `The partition column '${field.name}' is a date, and partition values are text; it stays one.`,
      path,
    );
  if (!canWiden(from!, to) || !widensTypes(configuration)) throw cannotWiden(path, from!, to, configuration);
  return withTypeChange({ ...field, dataType }, inner, from!, to);
}

function withComment(field: StructField, comment: string | null): StructField {
  const { comment: _, ...rest } = field.metadata;
  return { ...field, metadata: comment === null ? rest : { ...rest, comment } };
}

/** A column, not the inside of one, with its path as the schema spells it. */
function locate(
  schema: StructType,
  path: readonly string[],
): { readonly field: StructField; readonly path: readonly string[] } {
  let found: { readonly field: StructField; readonly path: readonly string[] } | undefined;
  editField(schema, path, (field, inner, exact) => {
    if (inner.length > 0)
      throw invalid(`'${path.join('.')}' is no column of its own, but the inside of one.`, path);
    found = { field, path: exact };
    return [field];
  });
  return found!;
}

function assertSiblings(schema: StructType, path: readonly string[]): void {
  editFields(schema, path.slice(0, -1), (struct) => {
    assertDistinct(struct, path.slice(0, -1));
    return struct;
  });
}

function assertMapped(draft: Draft, what: string, path: readonly string[], url: string): void {
  if (columnMappingMode(draft, draft.protocol) !== 'none') return;
  throw new TableError(
    'INVALID_SCHEMA',
    `The column '${path.join('.')}' of ${url} cannot be ${what}, because data files name columns as the table does. Set the property delta.columnMapping.mode to name first; engines that cannot read mapped columns are then shut out.`,
    { url, column: path.join('.'), property: 'delta.columnMapping.mode' },
  );
}

/** The columns to keep statistics of, under their new names. */
function withStatistics(
  configuration: Draft['configuration'],
  old: readonly string[],
  renamed: readonly string[] | undefined,
): Draft['configuration'] {
  const columns =
    configuration[STATISTICS] === undefined ? undefined : parseColumnList(configuration[STATISTICS]);
  if (columns === undefined) return configuration;
  const isUnder = (column: readonly string[]): boolean =>
    old.every((name, i) => column[i]?.toLowerCase() === name.toLowerCase());
  const kept = columns.flatMap((column) => {
    if (!isUnder(column)) return [column];
    return renamed ? [[...renamed, ...column.slice(old.length)]] : [];
  });
  return { ...configuration, [STATISTICS]: kept.map(spelled).join(',') };
}

function toldField(field: StructField, within: readonly string[]): JsonObject {
  return {
    name: [...within, field.name].join('.'),
    type: typeToJson(field.dataType),
    nullable: field.nullable,
    metadata: field.metadata,
  };
}

function spelled(path: readonly string[]): string {
  return path.map(quoteName).join('.');
}

function invalid(message: string, path: readonly string[]): TableError {
  return new TableError('INVALID_SCHEMA', message, { column: path.join('.') });
}
