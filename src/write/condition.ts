import { TableError } from '../errors.js';
import { bindPredicate } from '../scan/bind.js';
import type { Expression } from '../scan/predicate.js';
import { parsePredicate } from '../scan/sql.js';
import type { StructType } from '../schema/types.js';
import type { Condition } from './marks.js';
import type { Where } from './verb.js';

/** Parses and binds a condition. Throws `INVALID_PREDICATE`, `UNKNOWN_COLUMN`. */
export function conditionOf(where: Where, schema: StructType): Condition {
  const predicate = parsed(where);
  return { predicate, bound: bindPredicate(predicate, schema) };
}

export function parsed(where: Where): Expression {
  return typeof where === 'string' ? parsePredicate(where) : where;
}

/** The expression with every column path replaced. */
export function mapColumns(
  expression: Expression,
  map: (path: readonly string[]) => readonly string[],
): Expression {
  if (expression.kind === 'column') return { ...expression, path: map(expression.path) };
  if (expression.kind === 'literal') return expression;
  return mapMembers(expression, map) as Expression;
}

function mapMembers(value: object, map: (path: readonly string[]) => readonly string[]): object {
  const each = (member: unknown): unknown => {
    if (Array.isArray(member)) return member.map(each);
    if (typeof member !== 'object' || member === null) return member;
    return 'kind' in member ? mapColumns(member as Expression, map) : mapMembers(member, map);
  };
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, each(member)]));
}

/** Columns of one side of a merge as columns of the table: `source.x` and `x` are the same where the other side has no part. */
export function ofSide(expression: Expression, side: 'source' | 'target', schema: StructType): Expression {
  const isColumn = schema.fields.some(({ name }) => name.toLowerCase() === side);
  return mapColumns(expression, (path) =>
    !isColumn && path.length > 1 && path[0]!.toLowerCase() === side ? path.slice(1) : path,
  );
}

/** Where both sides have a part every column must say whose it is. */
export function assertQualified(expression: Expression): Expression {
  return mapColumns(expression, (path) => {
    const side = path[0]!.toLowerCase();
    if (path.length > 1 && (side === 'source' || side === 'target')) return [side, ...path.slice(1)];
    const name = path.join('.');
    throw new TableError(
      'INVALID_PREDICATE',
      `Source and target both have columns here, so '${name}' could be either. Write source.${name} or target.${name}.`,
      { column: name },
    );
  });
}
