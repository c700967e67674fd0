import { type Cell, type Cells, type Column, compareCells, keyOf, typeOf } from './cells.js';
import { type Condition, cellFor, holds, type Value } from './expressions.js';

export type SetValues = Readonly<Partial<Record<Column, Value>>>;

export type MatchedClause =
  | { readonly where?: Condition; readonly update: 'all' | SetValues }
  | { readonly where?: Condition; readonly delete: true };
export interface InsertClause {
  readonly where?: Condition;
  readonly insert: 'all' | SetValues;
}
export type BySourceClause =
  | { readonly where?: Condition; readonly update: SetValues }
  | { readonly where?: Condition; readonly delete: true };

/** Makes an operation happen once: it is skipped where the table has recorded this version of the application, or a later one. */
export interface Token {
  readonly app: string;
  readonly version: number;
}

export type Operation = Bare & { readonly token?: Token };

/** The verbs as data. `evolve`: the rows have the column `x`, which the table may lack; `widen`: values of `w` may be beyond its type. */
type Bare =
  | {
      readonly op: 'append' | 'overwritePartitions';
      readonly rows: readonly Cells[];
      readonly evolve?: boolean;
      readonly widen?: boolean;
    }
  | { readonly op: 'overwrite'; readonly where: Condition; readonly rows: readonly Cells[] }
  /** With `columns`: by a table of these columns. */
  | { readonly op: 'overwriteAll'; readonly rows: readonly Cells[]; readonly columns?: readonly Column[] }
  | { readonly op: 'delete'; readonly where: Condition }
  | { readonly op: 'update'; readonly set: SetValues; readonly where: Condition }
  | {
      readonly op: 'replaceUsing';
      readonly rows: readonly Cells[];
      readonly columns: readonly Column[];
      readonly nullKeys: boolean;
    }
  | {
      readonly op: 'merge';
      readonly rows: readonly Cells[];
      readonly on: readonly Column[];
      readonly nulls: 'equal' | 'distinct';
      readonly whenMatched?: readonly MatchedClause[];
      readonly whenNotMatched?: readonly InsertClause[];
      readonly whenNotMatchedBySource?: readonly BySourceClause[];
      readonly dedupe?: { readonly by: readonly Column[]; readonly order: 'first' | 'last' };
      readonly evolve?: boolean;
    }
  | { readonly op: 'addColumn' | 'dropColumn'; readonly column: 'x' | 'y' }
  | { readonly op: 'renameColumn'; readonly column: 'x' | 'y'; readonly to: 'x' | 'y' }
  | { readonly op: 'widen' }
  | { readonly op: 'setProperty'; readonly name: string; readonly value: string };

/** Operations that leave every row as it is. */
export function isOfSchema({ op }: { readonly op: string }): boolean {
  return ['addColumn', 'dropColumn', 'renameColumn', 'widen', 'setProperty'].includes(op);
}

/** What happens to the table in one step. `handle`: which of two openings of the table does it. */
export type Step =
  | (Operation & { readonly handle?: number })
  /** Both are staged on one version; then they are committed one after the other. */
  | { readonly op: 'race'; readonly steps: readonly Operation[] }
  | { readonly op: 'checkpoint'; readonly handle?: number }
  /** What another engine does to the table, where one takes part. */
  | { readonly op: 'foreign'; readonly engine: 'spark' | 'deltars'; readonly step: ForeignStep };
export type ForeignStep =
  | { readonly op: 'append'; readonly rows: readonly Cells[] }
  | { readonly op: 'delete'; readonly where: Condition }
  | { readonly op: 'compact' }
  | { readonly op: 'checkpoint' };

/** The rows of a table, in memory. */
export interface Model {
  readonly columns: readonly Column[];
  readonly partitionBy: readonly Column[];
  readonly rows: readonly Cells[];
  /** Whether `w` has become an integer. */
  readonly isWide?: boolean;
  /** The tokens recorded, by application. */
  readonly tokens?: Readonly<Record<string, number>>;
}

export type Outcome = Model | { readonly refused: string };

/** Whether the table has recorded the operation's token, or a later one. */
export function isSkipped({ tokens }: Model, { token }: Operation): boolean {
  return token !== undefined && (tokens?.[token.app] ?? -1) >= token.version;
}

/** What an operation makes of a table, or the code with which it is refused. */
export function applyOperation(before: Model, operation: Operation): Outcome {
  if (isSkipped(before, operation)) return before;
  const outcome = applied(before, operation);
  const { token } = operation;
  if ('refused' in outcome || token === undefined) return outcome;
  return { ...outcome, tokens: { ...outcome.tokens, [token.app]: token.version } };
}

function applied(before: Model, operation: Bare): Outcome {
  const widened = 'widen' in operation && operation.widen ? { ...before, isWide: true } : before;
  const model = 'evolve' in operation && operation.evolve ? withColumn(widened, 'x') : widened;
  const { rows } = model;
  switch (operation.op) {
    case 'addColumn':
      return withColumn(model, operation.column);
    case 'dropColumn':
      return withoutColumn(model, operation.column);
    case 'renameColumn':
      return renamed(model, operation.column, operation.to);
    case 'widen':
      return { ...model, isWide: true };
    case 'setProperty':
      return model;
    case 'append':
      return checked(model, [...rows, ...operation.rows]);
    case 'overwritePartitions': {
      if (model.partitionBy.length === 0) return { refused: 'INVALID_INPUT' };
      const partition = (row: Cells): string => keyOf(row, model.partitionBy);
      const named = new Set(operation.rows.map(partition));
      return checked(model, [...rows.filter((row) => !named.has(partition(row))), ...operation.rows]);
    }
    case 'overwrite':
      if (!operation.rows.every((row) => holds(operation.where, row))) return { refused: 'OUTSIDE_TARGET' };
      return checked(model, [...rows.filter((row) => !holds(operation.where, row)), ...operation.rows]);
    case 'overwriteAll':
      return checked({ ...model, columns: operation.columns ?? model.columns }, operation.rows);
    case 'delete':
      return { ...model, rows: rows.filter((row) => !holds(operation.where, row)) };
    case 'update': {
      const changed = (row: Cells): Cells => assigned(row, operation.set, row);
      return checked(
        model,
        rows.map((row) => (holds(operation.where, row) ? changed(row) : row)),
      );
    }
    case 'replaceUsing': {
      const { columns, nullKeys } = operation;
      if (!nullKeys && operation.rows.some((row) => hasNull(row, columns))) return { refused: 'INVALID_ROW' };
      const keys = new Set(operation.rows.map((row) => keyOf(row, columns)));
      return checked(model, [...rows.filter((row) => !keys.has(keyOf(row, columns))), ...operation.rows]);
    }
    case 'merge':
      return merged(model, operation);
  }
}

export function withColumn(model: Model, column: Column): Model {
  if (model.columns.includes(column)) return model;
  const rows = model.rows.map((row) => ({ ...row, [column]: null }));
  return { ...model, columns: [...model.columns, column], rows };
}

function withoutColumn(model: Model, column: Column): Model {
  const rows = model.rows.map(({ [column]: _, ...rest }) => rest);
  return { ...model, columns: model.columns.filter((each) => each !== column), rows };
}

function renamed(model: Model, from: Column, to: Column): Model {
  const columns = model.columns.map((each) => (each === from ? to : each));
  const rows = model.rows.map(({ [from]: cell, ...rest }) => ({ ...rest, [to]: cell! }));
  return { ...model, columns, rows };
}

type MergeOperation = Extract<Bare, { op: 'merge' }>;

function merged(model: Model, operation: MergeOperation): Outcome {
  const { on, nulls } = operation;
  const whenMatched = operation.whenMatched ?? [{ update: 'all' }];
  const whenNotMatched = operation.whenNotMatched ?? [{ insert: 'all' }];
  if (whenMatched.length + whenNotMatched.length + (operation.whenNotMatchedBySource ?? []).length === 0) {
    return { refused: 'INVALID_INPUT' };
  }
  const source = deduped(operation);
  if (source === undefined) return { refused: 'DUPLICATE_KEY' };
  const matches = (row: Cells): boolean => nulls === 'equal' || !hasNull(row, on);
  const byKey = new Map(source.filter(matches).map((row) => [keyOf(row, on), row]));
  const found = new Set<string>();
  const rows: Cells[] = [];
  for (const row of model.rows) {
    const key = keyOf(row, on);
    const partner = matches(row) ? byKey.get(key) : undefined;
    if (partner) {
      found.add(key);
      const both = { ...qualified('source', partner), ...qualified('target', row) };
      const clause = whenMatched.find(({ where }) => !where || holds(where, both));
      if (!clause) rows.push(row);
      else if ('update' in clause) {
        rows.push(clause.update === 'all' ? partner : assigned(row, clause.update, both));
      }
    } else {
      const clause = operation.whenNotMatchedBySource?.find(({ where }) => !where || holds(where, row));
      if (!clause) rows.push(row);
      else if ('update' in clause) rows.push(assigned(row, clause.update, row));
    }
  }
  const nothing = Object.fromEntries(model.columns.map((column) => [column, null]));
  for (const row of source) {
    if (matches(row) && found.has(keyOf(row, on))) continue;
    const clause = whenNotMatched.find(({ where }) => !where || holds(where, row));
    if (clause) rows.push(clause.insert === 'all' ? row : assigned(nothing, clause.insert, row));
  }
  return checked(model, rows);
}

/** The source's rows, one for each key; undefined where that is refused. Rows whose key matches nothing repeat none. */
export function deduped({ rows, on, nulls, dedupe }: MergeOperation): readonly Cells[] | undefined {
  const kept = new Map<string, Cells>();
  let order = 0;
  for (const row of rows) {
    const key = nulls === 'distinct' && hasNull(row, on) ? `none ${order++}` : keyOf(row, on);
    const before = kept.get(key);
    if (before && !dedupe) return undefined;
    if (before && dedupe && !isBetter(row, before, dedupe)) continue;
    kept.set(key, row);
  }
  return [...kept.values()];
}

/** Of equal rows the later one is the last; NULL is the least. */
function isBetter(row: Cells, before: Cells, { by, order }: NonNullable<MergeOperation['dedupe']>): boolean {
  for (const column of by) {
    const sign = orderOf(column, row[column]!, before[column]!);
    if (sign !== 0) return order === 'last' ? sign > 0 : sign < 0;
  }
  return order === 'last';
}

function orderOf(column: Column, a: Cell, b: Cell): number {
  if (a === null || b === null) return a === b ? 0 : a === null ? -1 : 1;
  return compareCells(typeOf(column), a, b);
}

function assigned(row: Cells, set: SetValues, environment: Cells): Cells {
  const changes = Object.entries(set).map(([column, value]) => [column, cellFor(value, environment)]);
  return { ...row, ...Object.fromEntries(changes) };
}

function qualified(side: string, row: Cells): Cells {
  return Object.fromEntries(Object.entries(row).map(([column, cell]) => [`${side}.${column}`, cell]));
}

function hasNull(row: Cells, columns: readonly Column[]): boolean {
  return columns.some((column) => row[column] === null);
}

/** An empty string is no partition value: the protocol gives it the meaning NULL. */
function checked(model: Model, rows: readonly Cells[]): Outcome {
  const isEmpty = rows.some((row) => model.partitionBy.some((column) => row[column] === ''));
  return isEmpty ? { refused: 'INVALID_ROW' } : { ...model, rows };
}
