import type {
  DeleteSpec,
  EvolveOptions,
  MergeSpec,
  ReplaceUsingSpec,
  SetClause,
  StagedWrite,
  Table,
  UpdateSpec,
  Verb,
  WriteOptions,
} from '../../../src/index.js';
import { type Column, ddlOf, rowOf } from './cells.js';
import { type Condition, conditionSql, valueSql } from './expressions.js';
import type { Operation, SetValues } from './steps.js';

/** Does an operation by this library. `isWide`: whether the column `w` is an integer. */
export function runOperation(table: Table, operation: Operation, isWide = false): Promise<unknown> {
  const token = tokenOptions(operation);
  switch (operation.op) {
    case 'append':
      return table.append(operation.rows.map(rowOf), { ...evolveOptions(operation), ...token });
    case 'overwritePartitions':
      return table.overwritePartitions(operation.rows.map(rowOf), { ...evolveOptions(operation), ...token });
    case 'overwrite':
      return table.overwrite(operation.rows.map(rowOf), { where: conditionSql(operation.where), ...token });
    case 'overwriteAll': {
      const schema = operation.columns ? { schema: ddlOf(operation.columns, isWide) } : {};
      return table.overwrite(operation.rows.map(rowOf), { all: true, ...schema, ...token });
    }
    case 'delete':
      return table.delete({ ...deleteSpec(operation), ...token });
    case 'update':
      return table.update({ ...updateSpec(operation), ...token });
    case 'replaceUsing':
      return table.replaceUsing(operation.rows.map(rowOf), { ...replaceSpec(operation), ...token });
    case 'merge': {
      const spec = { ...mergeSpec(operation), ...evolveOptions(operation), ...token };
      return table.merge(operation.rows.map(rowOf), spec);
    }
    case 'addColumn':
      return table.alter({ addColumns: ddlOf([operation.column]) });
    case 'dropColumn':
      return table.alter({ dropColumn: operation.column });
    case 'renameColumn':
      return table.alter({ renameColumn: operation.column, to: operation.to });
    case 'widen':
      return table.alter({ changeColumn: 'w', type: 'int' });
    case 'setProperty':
      return table.alter({ setProperties: { [operation.name]: operation.value } });
  }
}

function tokenOptions({ token }: Operation): Pick<WriteOptions, 'txn'> {
  return token ? { txn: { appId: token.app, version: token.version } } : {};
}

/** Does the first half of an operation. */
export function stageOperation(table: Table, operation: Operation): Promise<StagedWrite> {
  const rows = 'rows' in operation ? operation.rows.map(rowOf) : undefined;
  return table.stage(rows, verbOf(operation), tokenOptions(operation));
}

/** The operation as `table.stage` takes it, without its rows. */
export function verbOf(operation: Operation): Verb {
  switch (operation.op) {
    case 'append':
    case 'overwritePartitions':
      return operation.op;
    case 'overwrite':
      return { verb: 'overwrite', where: conditionSql(operation.where) };
    case 'overwriteAll':
      return { verb: 'overwrite', all: true };
    case 'delete':
      return { verb: 'delete', ...deleteSpec(operation) };
    case 'update':
      return { verb: 'update', ...updateSpec(operation) };
    case 'replaceUsing':
      return { verb: 'replaceUsing', ...replaceSpec(operation) };
    case 'merge':
      return { verb: 'merge', ...mergeSpec(operation) };
    default:
      throw new Error(`${operation.op} is no verb`);
  }
}

function evolveOptions({
  evolve,
  widen,
}: {
  readonly evolve?: boolean;
  readonly widen?: boolean;
}): EvolveOptions {
  const columns: Column[] = [...(evolve ? (['x'] as const) : []), ...(widen ? (['w'] as const) : [])];
  if (columns.length === 0) return {};
  return {
    evolve: [...(evolve ? (['add-columns'] as const) : []), ...(widen ? (['widen'] as const) : [])],
    evolveTo: ddlOf(columns, true),
  };
}

type Named<Op extends Operation['op']> = Extract<Operation, { op: Op }>;

function deleteSpec({ where }: Named<'delete'>): DeleteSpec {
  return { where: conditionSql(where) };
}

function updateSpec({ set, where }: Named<'update'>): UpdateSpec {
  return { set: setClause(set), where: conditionSql(where) };
}

function replaceSpec({ columns, nullKeys }: Named<'replaceUsing'>): ReplaceUsingSpec {
  return { columns, nullKeys };
}

function mergeSpec(operation: Named<'merge'>): MergeSpec {
  const { on, nulls, whenMatched, whenNotMatched, whenNotMatchedBySource, dedupe } = operation;
  const where = (condition: Condition | undefined) => (condition ? { where: conditionSql(condition) } : {});
  return {
    on,
    nulls,
    dedupe,
    whenMatched: whenMatched?.map((clause) =>
      'delete' in clause
        ? { ...where(clause.where), delete: true as const }
        : {
            ...where(clause.where),
            update: clause.update === 'all' ? ('all' as const) : setClause(clause.update),
          },
    ),
    whenNotMatched: whenNotMatched?.map((clause) => ({
      ...where(clause.where),
      insert: clause.insert === 'all' ? ('all' as const) : setClause(clause.insert),
    })),
    whenNotMatchedBySource: whenNotMatchedBySource?.map((clause) =>
      'delete' in clause
        ? { ...where(clause.where), delete: true as const }
        : { ...where(clause.where), update: setClause(clause.update) },
    ),
  };
}

function setClause(set: SetValues): SetClause {
  return Object.fromEntries(Object.entries(set).map(([column, value]) => [column, valueSql(value)]));
}
