import { TableError } from '../errors.js';
import type { ColumnData } from '../parquet/column/assemble.js';
import { type Bound, bindExpression } from '../scan/bind.js';
import { evaluateColumn } from '../scan/evaluate.js';
import { canCast, castDatum } from '../scan/functions-cast.js';
import { type Expression, type LiteralValue, lit, type Operand } from '../scan/predicate.js';
import { printPredicate } from '../scan/print.js';
import { parseExpression } from '../scan/sql.js';
import { findField } from '../schema/mapping.js';
import { sameType, typeText } from '../schema/type-text.js';
import type { DataType, Datum, StructField, StructType } from '../schema/types.js';
import { compareDatum, datumText } from '../schema/value.js';
import { batchOf, columnOfValues, type Table } from './columns.js';

/** What a column becomes: SQL text of an expression, an expression made by the builders, or a JavaScript value other than text as a literal. */
export type SetValue = Operand;
/** Column names to what they become. */
export type SetClause = Readonly<Record<string, SetValue>>;

/** How the columns of a row come about: for each column of the table a column of the environment, or a computed one. */
export interface Assignments {
  readonly schema: StructType;
  /** What expressions see; its columns are those of the tables that `assign` is given. */
  readonly environment: StructType;
  readonly columns: readonly Assigned[];
}

type Assigned =
  | { readonly kind: 'column'; readonly path: readonly number[] }
  | { readonly kind: 'compute'; readonly bound: Bound; readonly field: StructField; readonly text: string };

/**
 * Compiles a SET clause: `base` says, for the columns that it does not name, where in the environment their values are. Throws `UNKNOWN_COLUMN`,
 * `INVALID_PREDICATE`, `INVALID_INPUT`.
 */
export function compileSet(
  schema: StructType,
  environment: StructType,
  set: SetClause,
  base: (column: number) => Expression,
): Assignments {
  const given = new Map<StructField, Expression>();
  for (const [name, value] of Object.entries(set)) {
    const field = findField(schema, name);
    if (!field) {
      throw new TableError('UNKNOWN_COLUMN', `There is no column '${name}' to set.`, { column: name });
    }
    if (given.has(field))
      throw new TableError('INVALID_INPUT', `The column '${field.name}' is set twice.`, { column: name });
    given.set(field, expressionOf(value));
  }
  const columns = schema.fields.map((field, i) =>
    compileColumn(given.get(field) ?? base(i), field, environment),
  );
  return { schema, environment, columns };
}

/** SQL text is parsed; everything else stands for itself. */
export function expressionOf(value: SetValue): Expression {
  if (typeof value === 'string') return parseExpression(value);
  if (typeof value === 'object' && value !== null && 'kind' in value) return value as Expression;
  return lit(value as LiteralValue);
}

function compileColumn(expression: Expression, field: StructField, environment: StructType): Assigned {
  const bound = bindExpression(expression, environment);
  const { root } = bound;
  if (root.kind === 'column' && sameType(root.type, field.dataType)) {
    return { kind: 'column', path: indexesOf(environment, root.path) };
  }
  if (!canCast(root.type, field.dataType)) {
    throw new TableError(
      'INVALID_PREDICATE',
      `The column '${field.name}' of type ${typeText(field.dataType)} cannot be set to ${printPredicate(expression)} of type ${typeText(root.type)}.`,
      { column: field.name, expected: typeText(field.dataType), got: typeText(root.type) },
    );
  }
  return { kind: 'compute', bound, field, text: printPredicate(expression) };
}

function indexesOf(environment: StructType, path: readonly string[]): number[] {
  const indexes: number[] = [];
  let struct: DataType = environment;
  for (const name of path) {
    if (struct.type !== 'struct') break;
    const index: number = struct.fields.findIndex((field) => field.name === name);
    indexes.push(index);
    struct = struct.fields[index]!.dataType;
  }
  return indexes;
}

/** True when some column of the result needs a column of the environment that is found under `first`. */
export function readsColumn(assignments: Assignments, first: number): boolean {
  const { name } = assignments.environment.fields[first]!;
  return assignments.columns.some((column) =>
    column.kind === 'column'
      ? column.path[0] === first
      : column.bound.columns.some(({ path }) => path[0] === name),
  );
}

/**
 * The rows that a SET clause makes of rows of the environment. Throws `INVALID_ROW` for a value that the column's type cannot hold without loss, and for
 * NULL in a NOT NULL column.
 */
export function assign(assignments: Assignments, rows: Table): Table {
  const batch = batchOf(rows, assignments.environment);
  const columns = assignments.columns.map((column, i) => {
    const field = assignments.schema.fields[i]!;
    const made = column.kind === 'column' ? columnAt(rows, column.path) : computed(column, batch);
    if (!field.nullable && made.nullCount > 0) throw nullValue(field);
    return made;
  });
  return { rows: rows.rows, columns };
}

function columnAt(rows: Table, path: readonly number[]): ColumnData {
  let column = rows.columns[path[0]!]!;
  for (const index of path.slice(1)) {
    const child = column.children![index]!;
    column = column.nullCount === 0 ? child : within(column, child);
  }
  return column;
}

/** A field of a struct that is NULL in some rows is NULL there. */
function within(struct: ColumnData, child: ColumnData): ColumnData {
  const validity = Uint8Array.from(struct.validity!);
  if (child.nullCount > 0) for (let i = 0; i < validity.length; i++) validity[i]! &= child.validity![i]!;
  let nullCount = 0;
  for (let row = 0; row < child.length; row++)
    if ((validity[row >> 3]! & (1 << (row & 7))) === 0) nullCount++;
  return { ...child, validity, nullCount };
}

function computed(
  { bound, field, text }: Extract<Assigned, { kind: 'compute' }>,
  batch: Parameters<typeof evaluateColumn>[1],
): ColumnData {
  const { type, values } = evaluateColumn(bound, batch);
  return columnOfValues(
    field.dataType,
    sameType(type, field.dataType) ? values : values.map((value) => converted(value, type, field, text)),
  );
}

/** A value in the type of its column: what is assigned is never rounded, cut or made NULL in silence. */
export function converted(value: Datum, type: DataType, field: StructField, text: string): Datum {
  if (value === null) return null;
  const to = field.dataType;
  const result = castDatum(value, type, to);
  const isFree = to.type === 'float' || to.type === 'string' || type.type === 'string';
  const back = result === null || isFree ? value : castDatum(result, to, type);
  if (result !== null && back !== null && compareDatum(type, back, value) === 0) return result;
  throw new TableError(
    'INVALID_ROW',
    `The column '${field.name}' of type ${typeText(to)} cannot hold ${datumText(type, value)}, which is ${text}. Nothing was committed; cast it explicitly if the loss is meant.`,
    { column: field.name, expected: typeText(to), got: datumText(type, value) },
  );
}

function nullValue(field: StructField): TableError {
  return new TableError(
    'INVALID_ROW',
    `The column '${field.name}' is NOT NULL, and the write would put NULL there. Nothing was committed.`,
    { column: field.name, expected: `${typeText(field.dataType)} not null`, got: 'null' },
  );
}
