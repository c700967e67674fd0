import { parseDdl } from '../../../src/index.js';
import { serializeSchema } from '../../../src/schema/schema-json.js';
import type { JsonObject } from '../../../src/schema/types.js';
import {
  type Cell,
  type Cells,
  type CellType,
  type Column,
  ddlOf,
  keyOf,
  lineOf,
  TYPES,
  typeOf,
} from './cells.js';
import { type Condition, conditionSql, type Dialect, type Value, valueSql } from './expressions.js';
import type { Sequence } from './generate.js';
import { applyOperation, deduped, type Model, type Operation, type SetValues } from './steps.js';
import { twinSteps } from './twin.js';

/**
 * A table of delta-rs's own, and what it does there, a list of operations a step. What it has no verb for, it gets as the model's rows. It is not partitioned by
 * decimals, whose negative values delta-rs writes with two signs.
 */
export function deltarsTwin(sequence: Sequence): {
  schema: JsonObject;
  partitionBy: readonly Column[];
  steps: JsonObject[][];
} {
  const { columns, partitionBy } = sequence;
  return {
    schema: schemaJson(columns),
    partitionBy: partitionBy.filter((column) => column !== 'm'),
    steps: twinSteps(sequence, operationsOf, (op) => [{ op }]),
  };
}

/** A table's schema as delta-rs takes it. */
export function schemaJson(columns: readonly Column[], isWide?: boolean): JsonObject {
  return JSON.parse(serializeSchema(parseDdl(ddlOf(columns, isWide)))) as JsonObject;
}

function operationsOf(before: Model, after: Model, operation: Operation): JsonObject[] {
  if ('evolve' in operation && operation.evolve && !before.columns.includes('x')) {
    const { evolve: _, token: __, ...rest } = operation;
    const grown = applyOperation(before, { op: 'addColumn', column: 'x' }) as Model;
    return [ADD_X, ...operationsOf(grown, after, rest as Operation)];
  }
  const given = (rows: readonly Cells[], { columns, isWide }: Model = after): JsonObject => ({
    schema: schemaJson(columns, isWide),
    lines: rows.map((row) => lineOf(row, columns)),
  });
  switch (operation.op) {
    case 'addColumn':
      return before.columns.includes('x') ? [] : [ADD_X];
    case 'setProperty':
      return [];
    case 'append':
      if (operation.widen && !before.isWide) return [anew(after)];
      return [{ op: 'write', ...given(operation.rows) }];
    case 'overwritePartitions': {
      if (operation.widen && !before.isWide) return [anew(after)];
      const partitions = new Map(operation.rows.map((row) => [keyOf(row, before.partitionBy), row]));
      if (partitions.size === 0) return [];
      const where = [...partitions.values()].map((row) =>
        before.partitionBy.map((name) => equals(name, row[name]!)),
      );
      const predicate = where.map((parts) => `(${parts.join(' AND ')})`).join(' OR ');
      return [{ op: 'write', ...given(operation.rows), mode: 'overwrite', predicate }];
    }
    case 'overwrite':
      return [
        { op: 'write', ...given(operation.rows), mode: 'overwrite', predicate: targetOf(operation.where) },
      ];
    case 'overwriteAll':
      return [{ op: 'write', ...given(operation.rows), mode: 'overwrite', schemaMode: 'overwrite' }];
    case 'delete':
      return [{ op: 'delete', predicate: targetOf(operation.where) }];
    case 'update':
      return [{ op: 'update', updates: setOf(operation.set), predicate: sqlOf(operation.where) }];
    case 'replaceUsing': {
      const { columns, rows } = operation;
      const keys = [...new Map(rows.map((row) => [keyOf(row, columns), row])).values()];
      const removed = { op: 'merge', ...given(keys), predicate: matching(columns, 'equal') };
      return [
        { ...removed, clauses: [['when_matched_delete', {}]] },
        { op: 'write', ...given(rows) },
      ];
    }
    case 'merge': {
      const source = given(deduped(operation)!);
      const predicate = matching(operation.on, operation.nulls);
      return [{ op: 'merge', ...source, predicate, clauses: clausesOf(operation) }];
    }
    default:
      return [anew(after)];
  }
}

const ADD_X: JsonObject = { op: 'addColumn', name: 'x', type: 'integer' };

/** The table with the rows of the model, whatever it was. */
function anew({ columns, isWide, rows }: Model): JsonObject {
  const lines = rows.map((row) => lineOf(row, columns));
  return {
    op: 'write',
    schema: schemaJson(columns, isWide),
    lines,
    mode: 'overwrite',
    schemaMode: 'overwrite',
  };
}

function clausesOf({
  whenMatched,
  whenNotMatched,
  whenNotMatchedBySource,
}: Extract<Operation, { op: 'merge' }>) {
  const side = (name: 'source' | 'target') => (column: string) => `${name}.${column}`;
  const clauses: [string, JsonObject][] = [];
  const add = (
    name: string,
    where: Condition | undefined,
    column: (name: string) => string,
    rest: JsonObject = {},
  ) => clauses.push([name, { ...rest, ...(where ? { predicate: sqlOf(where, column) } : {}) }]);
  for (const clause of whenMatched ?? [{ update: 'all' as const, where: undefined }]) {
    if ('delete' in clause) add('when_matched_delete', clause.where, String);
    else if (clause.update === 'all') add('when_matched_update_all', clause.where, String);
    else add('when_matched_update', clause.where, String, { updates: setOf(clause.update) });
  }
  for (const { where, insert } of whenNotMatched ?? [{ insert: 'all' as const, where: undefined }]) {
    if (insert === 'all') add('when_not_matched_insert_all', where, side('source'));
    else add('when_not_matched_insert', where, side('source'), { updates: setOf(insert, side('source')) });
  }
  for (const clause of whenNotMatchedBySource ?? []) {
    if ('delete' in clause) add('when_not_matched_by_source_delete', clause.where, side('target'));
    else {
      const updates = { updates: setOf(clause.update, side('target')) };
      add('when_not_matched_by_source_update', clause.where, side('target'), updates);
    }
  }
  return clauses;
}

function matching(on: readonly Column[], nulls: 'equal' | 'distinct'): string {
  const equal = nulls === 'equal' ? 'IS NOT DISTINCT FROM' : '=';
  const keys = on.map((key) => [DELTARS.column(`target.${key}`), DELTARS.column(`source.${key}`)]);
  return keys.map(([target, source]) => `(${target} ${equal} ${source})`).join(' AND ');
}

function equals(name: Column, cell: Cell): string {
  return cell === null ? `${name} IS NULL` : `${DELTARS.column(name)} = ${literal(TYPES[name], cell)}`;
}

function sqlOf(condition: Condition, column?: (name: string) => string): string {
  return conditionSql(condition, column, DELTARS);
}

/** It removes rows for which NULL constants make a predicate NULL. */
function targetOf(where: Condition): string {
  return hasNull(where) ? `(${sqlOf(where)}) IS TRUE` : sqlOf(where);
}

function hasNull(condition: Condition): boolean {
  if ('not' in condition) return hasNull(condition.not);
  if ('and' in condition) return condition.and.some(hasNull);
  if ('or' in condition) return condition.or.some(hasNull);
  if ('in' in condition) return condition.values.includes(null);
  if ('between' in condition) return condition.low === null || condition.high === null;
  if ('is' in condition) return condition.is === null;
  return 'value' in condition && condition.value === null;
}

function setOf(set: SetValues, column: (name: string) => string = String): Record<string, string> {
  return Object.fromEntries(Object.entries(set).map(([name, value]) => [name, valueText(value, column)]));
}

/** Its values come out in the types that its own arithmetic has. */
function valueText(value: Value, column: (name: string) => string): string {
  if ('concat' in value) return `${column(value.concat)} || ${literal('string', value.suffix)}`;
  if (!('plus' in value)) return valueSql(value, column, { ...DELTARS, literal });
  const name = column(value.plus);
  if (typeOf(value.plus) === 'date') return `CAST(CAST(${name} AS INT) + ${value.k} AS DATE)`;
  return `CAST(${name} + ${value.k} AS ${TYPE_NAMES[typeOf(value.plus)]})`;
}

const TYPE_NAMES: Readonly<Record<CellType, string>> = {
  long: 'BIGINT',
  integer: 'INT',
  short: 'INT',
  date: 'DATE',
  'decimal(12,2)': 'DECIMAL(12,2)',
  timestamp: 'TIMESTAMP',
  double: 'DOUBLE',
  boolean: 'BOOLEAN',
  string: 'VARCHAR',
};

const TIMESTAMP = `'Timestamp(Microsecond, Some("UTC"))'`;

function literal(type: CellType, cell: Cell): string {
  const text = cell === null ? 'NULL' : `'${String(cell).replaceAll("'", "''")}'`;
  if (type === 'timestamp') return `arrow_cast(${text}, ${TIMESTAMP})`;
  if (cell === null) return `CAST(NULL AS ${TYPE_NAMES[type]})`;
  if (type === 'string') return text;
  return type === 'boolean' ? String(cell) : `CAST(${text} AS ${TYPE_NAMES[type]})`;
}

/**
 * Its SQL, with what of it differs from Spark's made alike: for a function no statistics, which know no NaN, leave rows out; -0, which is not 0 there, is once 0 is
 * added.
 */
const DELTARS: Dialect & { readonly column: (name: string) => string } = {
  literal: (type, cell) => literal(type, cell === '-0' ? 0 : cell),
  nullSafe: 'IS NOT DISTINCT FROM',
  column: (name) => {
    if (typeOf(name) === 'double') return `(nanvl(${name}, CAST('NaN' AS DOUBLE)) + 0.0)`;
    // Its statistics compare numbers of one type alone, and this one changes.
    return typeOf(name) === 'short' ? `CAST(${name} AS INT)` : name;
  },
};
