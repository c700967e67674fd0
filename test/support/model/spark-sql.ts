import { type Cells, type Column, ddlOf, literal, sqlType, TYPES } from './cells.js';
import { type Condition, conditionSql, valueSql } from './expressions.js';
import type { Sequence } from './generate.js';
import {
  deduped,
  type ForeignStep,
  type Model,
  type Operation,
  type SetValues,
  withColumn,
} from './steps.js';
import { twinSteps } from './twin.js';

/** What Spark is to do: a statement, or a write of its data frames where SQL has none. */
export type Statement =
  | { readonly sql: string }
  | {
      readonly select: string;
      readonly mode: 'append' | 'overwrite';
      readonly options: Readonly<Record<string, string>>;
      readonly partitionBy?: readonly Column[];
    };

/** A table of Spark's own, and what it does there: a list of statements a step, after the one that creates the table. */
export function sparkTwin(url: string, sequence: Sequence): Statement[][] {
  const steps = twinSteps(sequence, (before, _, operation) => sparkStatements(url, before, operation));
  return [[createStatement(url, sequence)], ...steps];
}

/** Columns are mapped, and types wide, where they are in ours, so that they can be dropped and widened. */
function createStatement(
  url: string,
  { columns, partitionBy, properties }: Pick<Sequence, 'columns' | 'partitionBy' | 'properties'>,
): Statement {
  const kept = ['delta.columnMapping.mode', 'delta.enableTypeWidening'].filter((name) => properties[name]);
  const told = kept.map((name) => `'${name}' = '${properties[name]}'`).join(', ');
  const mapped = told ? ` TBLPROPERTIES (${told})` : '';
  const partitioned = partitionBy.length > 0 ? ` PARTITIONED BY (${partitionBy.join(', ')})` : '';
  return {
    sql: `CREATE TABLE ${target(url)} (${ddlOf(columns).replace(' long', ' bigint')}) USING delta${partitioned}${mapped}`,
  };
}

/** What Spark does to a table of ours; undefined for a checkpoint, which no statement makes. */
export function foreignStatements(url: string, model: Model, step: ForeignStep): Statement[] | undefined {
  switch (step.op) {
    case 'append':
      return [{ select: rowsSql(step.rows, model), mode: 'append', options: {} }];
    case 'delete':
      return [{ sql: `DELETE FROM ${target(url)} WHERE ${conditionSql(step.where)}` }];
    case 'compact':
      return [{ sql: `OPTIMIZE ${target(url)}` }];
    case 'checkpoint':
      return undefined;
  }
}

/** The operation in Spark, on a table that is as the model says. It must be one that is not refused. */
function sparkStatements(url: string, before: Model, operation: Operation): Statement[] {
  if ('evolve' in operation && operation.evolve && !before.columns.includes('x')) {
    const { evolve: _, ...rest } = operation;
    const added = sparkStatements(url, before, { op: 'addColumn', column: 'x' });
    return [...added, ...sparkStatements(url, withColumn(before, 'x'), rest as Operation)];
  }
  if ('widen' in operation && operation.widen && !before.isWide) {
    const { widen: _, ...rest } = operation;
    const widened = sparkStatements(url, before, { op: 'widen' });
    return [...widened, ...sparkStatements(url, { ...before, isWide: true }, rest as Operation)];
  }
  const { partitionBy } = before;
  switch (operation.op) {
    case 'renameColumn':
      return [{ sql: `ALTER TABLE ${target(url)} RENAME COLUMN ${operation.column} TO ${operation.to}` }];
    case 'widen':
      return before.isWide ? [] : [{ sql: `ALTER TABLE ${target(url)} ALTER COLUMN w TYPE INT` }];
    case 'setProperty':
      return [
        { sql: `ALTER TABLE ${target(url)} SET TBLPROPERTIES ('${operation.name}' = '${operation.value}')` },
      ];
    case 'addColumn':
      return [{ sql: `ALTER TABLE ${target(url)} ADD COLUMNS (${ddlOf([operation.column])})` }];
    case 'dropColumn':
      return [{ sql: `ALTER TABLE ${target(url)} DROP COLUMN ${operation.column}` }];
    case 'append':
      return [{ select: rowsSql(operation.rows, before), mode: 'append', options: {} }];
    case 'overwritePartitions':
      return [write(operation.rows, before, { partitionOverwriteMode: 'dynamic' })];
    case 'overwrite':
      return [write(operation.rows, before, { replaceWhere: conditionSql(withoutBetween(operation.where)) })];
    case 'overwriteAll':
      if (!operation.columns) return [write(operation.rows, before, {})];
      // A new schema comes with new partition columns there.
      return [
        {
          ...write(operation.rows, { ...before, columns: operation.columns }, { overwriteSchema: 'true' }),
          partitionBy,
        },
      ];
    case 'delete':
      return [{ sql: `DELETE FROM ${target(url)} WHERE ${conditionSql(operation.where)}` }];
    case 'update':
      return [
        { sql: `UPDATE ${target(url)} SET ${setSql(operation.set)} WHERE ${conditionSql(operation.where)}` },
      ];
    case 'replaceUsing': {
      // Two commits there, since the statement that does it at once takes NULL for no key.
      const keys = operation.columns.join(', ');
      const source = `SELECT DISTINCT ${keys} FROM (${rowsSql(operation.rows, before)})`;
      const on = operation.columns.map((key) => `target.${key} <=> source.${key}`).join(' AND ');
      return [
        {
          sql: `MERGE INTO ${target(url)} AS target USING (${source}) AS source ON ${on} WHEN MATCHED THEN DELETE`,
        },
        { select: rowsSql(operation.rows, before), mode: 'append', options: {} },
      ];
    }
    case 'merge':
      return [{ sql: mergeSql(url, before, operation) }];
  }
}

function write(rows: readonly Cells[], model: Model, options: Readonly<Record<string, string>>): Statement {
  return { select: rowsSql(rows, model), mode: 'overwrite', options };
}

function mergeSql(url: string, model: Model, operation: Extract<Operation, { op: 'merge' }>): string {
  const { on, nulls, whenMatched, whenNotMatched, whenNotMatchedBySource } = operation;
  const equal = nulls === 'equal' ? '<=>' : '=';
  const side = (name: 'source' | 'target') => (column: string) => `${name}.${column}`;
  const and = (where: Condition | undefined, column?: (name: string) => string): string =>
    where ? ` AND (${conditionSql(where, column)})` : '';
  const clauses = [
    ...(whenMatched ?? [{ update: 'all' as const, where: undefined }]).map((clause) => {
      const when = `WHEN MATCHED${and(clause.where)} THEN`;
      if ('delete' in clause) return `${when} DELETE`;
      return clause.update === 'all' ? `${when} UPDATE SET *` : `${when} UPDATE SET ${setSql(clause.update)}`;
    }),
    ...(whenNotMatched ?? [{ insert: 'all' as const, where: undefined }]).map((clause) => {
      const when = `WHEN NOT MATCHED${and(clause.where, side('source'))} THEN INSERT`;
      if (clause.insert === 'all') return `${when} *`;
      const entries = Object.entries(clause.insert);
      const values = entries.map(([, value]) => valueSql(value, side('source')));
      return `${when} (${entries.map(([column]) => column).join(', ')}) VALUES (${values.join(', ')})`;
    }),
    ...(whenNotMatchedBySource ?? []).map((clause) => {
      const when = `WHEN NOT MATCHED BY SOURCE${and(clause.where, side('target'))} THEN`;
      return 'delete' in clause
        ? `${when} DELETE`
        : `${when} UPDATE SET ${setSql(clause.update, side('target'))}`;
    }),
  ];
  const source = rowsSql(deduped(operation)!, model);
  const keys = on.map((key) => `target.${key} ${equal} source.${key}`).join(' AND ');
  return `MERGE INTO ${target(url)} AS target USING (${source}) AS source ON ${keys} ${clauses.join(' ')}`;
}

/** Spark 4.1 fails on BETWEEN in the target of an overwrite. */
function withoutBetween(condition: Condition): Condition {
  if ('between' in condition) {
    const { between: col, low, high } = condition;
    return {
      and: [
        { cmp: '>=', col, value: low },
        { cmp: '<=', col, value: high },
      ],
    };
  }
  if ('not' in condition) return { not: withoutBetween(condition.not) };
  if ('and' in condition) return { and: condition.and.map(withoutBetween) };
  return 'or' in condition ? { or: condition.or.map(withoutBetween) } : condition;
}

function setSql(set: SetValues, column?: (name: string) => string): string {
  return Object.entries(set)
    .map(([name, value]) => `${name} = ${valueSql(value, column)}`)
    .join(', ');
}

function rowsSql(rows: readonly Cells[], { columns, isWide }: Pick<Model, 'columns' | 'isWide'>): string {
  const type = (column: Column) => (column === 'w' && !isWide ? 'SMALLINT' : sqlType(TYPES[column]));
  const cast = columns.map((column) => `CAST(${column} AS ${type(column)}) AS ${column}`).join(', ');
  const given = rows.length > 0 ? rows : [Object.fromEntries(columns.map((column) => [column, null]))];
  const values = given.map(
    (row) => `(${columns.map((column) => literal(TYPES[column], row[column] ?? null)).join(', ')})`,
  );
  const none = rows.length > 0 ? '' : ' WHERE false';
  return `SELECT ${cast} FROM VALUES ${values.join(', ')} AS v(${columns.join(', ')})${none}`;
}

function target(url: string): string {
  return `delta.\`${url}\``;
}
