import { TableError } from '../errors.js';
import type { BoundPredicate } from '../scan/bind.js';
import { bindPredicate } from '../scan/bind.js';
import { col, type Expression, lit } from '../scan/predicate.js';
import { printPredicate } from '../scan/print.js';
import type { StructField, StructType } from '../schema/types.js';
import { assertQualified, ofSide, parsed } from './condition.js';
import type { RowClause } from './effects.js';
import type { RowRules } from './rules.js';
import { type Assignments, compileSet, expressionOf, type SetClause } from './set.js';
import type { MergeSpec, Where } from './verb.js';

/** A clause of a merge, ready to run. `when` is undefined where every row of its kind is meant. */
export interface MergeClause {
  readonly when: { readonly predicate: Expression; readonly bound: BoundPredicate } | undefined;
  /** What happens to target rows; undefined for inserts. */
  readonly row: RowClause | undefined;
  /** What is made of source rows; undefined for changes of target rows. */
  readonly insert: Assignments | undefined;
  /** As other engines tell it. */
  readonly told: { readonly predicate?: string; readonly actionType: string };
}

export interface MergeClauses {
  readonly matched: readonly MergeClause[];
  readonly notMatched: readonly MergeClause[];
  readonly notMatchedBySource: readonly MergeClause[];
  /** What conditions and expressions of `matched` see: the structs `source` and `target`. */
  readonly both: StructType;
}

/** Compiles the clauses against the schema of table and source. Throws `INVALID_INPUT`, `INVALID_PREDICATE`, `UNKNOWN_COLUMN`. */
export function compileClauses(schema: StructType, spec: MergeSpec, rules: RowRules): MergeClauses {
  const side = (name: string): StructField => ({ name, dataType: schema, nullable: false, metadata: {} });
  const both: StructType = { type: 'struct', fields: [side('source'), side('target')] };
  const { fields } = schema;
  /** What generated columns are is known when the others are. */
  const kept = (i: number, path: readonly string[]): Expression =>
    rules.generated.includes(fields[i]!.name) ? lit(null) : col(path);
  const absent = (i: number): Expression => {
    const value = rules.defaults.get(fields[i]!.name);
    return value === undefined ? lit(null) : lit(value as never, fields[i]!.dataType);
  };
  const matched = list(spec.whenMatched, [{ update: 'all' } as const]).map((clause): MergeClause => {
    const when = compileWhen(clause.where, both, assertQualified);
    if ('delete' in clause)
      return { when, row: { kind: 'delete' }, insert: undefined, told: told(when, 'delete') };
    const from = clause.update === 'all' ? 'source' : 'target';
    const set = compileSet(rules.given, both, mapped(clause.update, assertQualified), (i) =>
      from === 'source' ? col([from, fields[i]!.name]) : kept(i, [from, fields[i]!.name]),
    );
    return {
      when,
      row: { kind: 'update', sides: 'both', set },
      insert: undefined,
      told: told(when, 'update'),
    };
  });
  const notMatched = list(spec.whenNotMatched, [{ insert: 'all' } as const]).map((clause): MergeClause => {
    const ofSource = (expression: Expression) => ofSide(expression, 'source', schema);
    const when = compileWhen(clause.where, schema, ofSource);
    const isAll = clause.insert === 'all';
    const insert = compileSet(rules.given, schema, mapped(clause.insert, ofSource), (i) =>
      isAll ? col([fields[i]!.name]) : absent(i),
    );
    return { when, row: undefined, insert, told: told(when, 'insert') };
  });
  const bySource = list(spec.whenNotMatchedBySource, []).map((clause): MergeClause => {
    const ofTarget = (expression: Expression) => ofSide(expression, 'target', schema);
    const when = compileWhen(clause.where, schema, ofTarget);
    if ('delete' in clause)
      return { when, row: { kind: 'delete' }, insert: undefined, told: told(when, 'delete') };
    const set = compileSet(rules.given, schema, mapped(clause.update, ofTarget), (i) =>
      kept(i, [fields[i]!.name]),
    );
    return {
      when,
      row: { kind: 'update', sides: 'target', set },
      insert: undefined,
      told: told(when, 'update'),
    };
  });
  if (matched.length + notMatched.length + bySource.length === 0)
    throw new TableError('INVALID_INPUT', 'A merge without clauses does nothing.', {});
  return { matched, notMatched, notMatchedBySource: bySource, both };
}

function list<T>(given: T | readonly T[] | undefined, otherwise: readonly T[]): readonly T[] {
  if (given === undefined) return otherwise;
  return Array.isArray(given) ? (given as readonly T[]) : [given as T];
}

function mapped(set: 'all' | SetClause, map: (expression: Expression) => Expression): SetClause {
  if (set === 'all') return {};
  return Object.fromEntries(Object.entries(set).map(([name, value]) => [name, map(expressionOf(value))]));
}

function compileWhen(
  where: Where | undefined,
  schema: StructType,
  map: (expression: Expression) => Expression,
): MergeClause['when'] {
  if (where === undefined) return undefined;
  const predicate = map(parsed(where));
  return { predicate, bound: bindPredicate(predicate, schema) };
}

function told(when: MergeClause['when'], actionType: string): MergeClause['told'] {
  return when ? { predicate: printPredicate(when.predicate), actionType } : { actionType };
}
