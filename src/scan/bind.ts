import { TableError } from '../errors.js';
import { typeText } from '../schema/type-text.js';
import type { DataType, StructType } from '../schema/types.js';
import { resolveColumn } from './bind-column.js';
import { bindCompare, bindIn } from './bind-compare.js';
import { bindArithmetic, bindCall, bindCase, bindNegate } from './bind-operators.js';
import {
  BOOLEAN,
  type Bound,
  type BoundColumn,
  type BoundExpression,
  type BoundPredicate,
  boundLiteral,
  childrenOf,
} from './bind-tree.js';
import { castTo, described, typeError } from './bind-types.js';
import { compileRow } from './evaluate-row.js';
import { canCast } from './functions-cast.js';
import { compileLike } from './functions-like.js';
import type { Expression, Predicate } from './predicate.js';
import { parsePredicate } from './sql.js';

export type { Bound, BoundColumn, BoundExpression, BoundPredicate } from './bind-tree.js';

/** How deep a tree built by hand may nest; text is limited by the parser. */
const MAX_DEPTH = 400;

/**
 * Resolves a predicate, or its SQL text, against a schema of logical names: finds columns, checks types, brings literals to the types they are compared in,
 * computes constants. Throws UNKNOWN_COLUMN (with the nearest name) and INVALID_PREDICATE (with the part that does not fit).
 */
export function bindPredicate(predicate: Predicate | string, schema: StructType): BoundPredicate {
  const source = typeof predicate === 'string' ? parsePredicate(predicate) : predicate;
  const context = schemaContext(schema);
  const root = condition(source, context);
  return { root, columns: [...context.named.values()] };
}

/** The same for an expression of any type; its type is `root.type`. */
export function bindExpression(expression: Expression, schema: StructType): Bound {
  const context = schemaContext(schema);
  const root = bind(expression, context);
  return { root, columns: [...context.named.values()] };
}

export interface BindContext {
  readonly column: (path: readonly string[]) => BoundColumn;
  readonly depth: number;
}

/** `named`: the columns found so far. */
function schemaContext(
  schema: StructType,
): BindContext & { readonly named: ReadonlyMap<string, BoundColumn> } {
  const known = new Map<string, BoundColumn>();
  const column = (path: readonly string[]): BoundColumn => {
    const found = resolveColumn(path, schema);
    const same = known.get(found.key);
    if (same === undefined) known.set(found.key, found);
    return same ?? found;
  };
  return { column, named: known, depth: 0 };
}

function bind(source: Expression, outer: BindContext): BoundExpression {
  if (outer.depth > MAX_DEPTH) {
    throw new TableError('INVALID_PREDICATE', `the expression nests more than ${MAX_DEPTH} deep`, {});
  }
  const context = { ...outer, depth: outer.depth + 1 };
  return folded(bindNode(source, context));
}

function bindNode(source: Expression, context: BindContext): BoundExpression {
  const value = (each: Expression): BoundExpression => bind(each, context);
  switch (source.kind) {
    case 'column':
      return context.column(source.path);
    case 'literal':
      return boundLiteral(source.type, source.value);
    case 'compare':
      return bindCompare(source.op, value(source.left), value(source.right), source);
    case 'in':
      return bindIn(value(source.operand), source.list.map(value), source);
    case 'like':
      return bindLike(value(source.operand), value(source.pattern), source);
    case 'isNull':
      return { kind: 'isNull', type: BOOLEAN, operand: value(source.operand) };
    case 'is':
      return { kind: 'is', type: BOOLEAN, operand: condition(source.operand, context), value: source.value };
    case 'and':
    case 'or':
      return {
        kind: source.kind,
        type: BOOLEAN,
        operands: source.operands.map((each) => condition(each, context)),
      };
    case 'not':
      return { kind: 'not', type: BOOLEAN, operand: condition(source.operand, context) };
    case 'cast': {
      const operand = value(source.operand);
      if (canCast(operand.type, source.to)) return castTo(operand, source.to);
      throw typeError(source, `${described(operand)} cannot be cast to ${typeText(source.to)}`);
    }
    case 'negate':
      return bindNegate(value(source.operand), source);
    case 'arithmetic':
      return bindArithmetic(source, value(source.left), value(source.right));
    case 'case': {
      const branches = source.branches.map(({ when, result }) => ({
        when: condition(when, context),
        result: value(result),
      }));
      return bindCase(source, branches, value(source.otherwise));
    }
    case 'call':
      return bindCall(source, source.args.map(value));
  }
}

/** Binds what must be TRUE, FALSE or NULL; a BOOLEAN column becomes a comparison, so that there is one kind of leaf. */
function condition(source: Expression, context: BindContext): BoundExpression {
  const bound = bind(source, context);
  if (bound.type.type === 'void') return boundLiteral(BOOLEAN, null);
  if (bound.type.type !== 'boolean') throw typeError(source, `${described(bound)} is no condition`);
  if (bound.kind !== 'column') return bound;
  return {
    kind: 'compare',
    type: BOOLEAN,
    op: '=',
    domain: BOOLEAN,
    left: bound,
    right: boundLiteral(BOOLEAN, true),
  };
}

function bindLike(
  operand: BoundExpression,
  pattern: BoundExpression,
  source: Extract<Expression, { kind: 'like' }>,
): BoundExpression {
  for (const each of [operand, pattern]) {
    if (!canCast(each.type, STRING) || each.type.type === 'binary')
      throw typeError(source, `${described(each)} is no text for LIKE`);
  }
  const text = castTo(pattern, STRING);
  const constant = text.kind === 'literal' && typeof text.value === 'string' ? text.value : undefined;
  const compiled = constant === undefined ? undefined : compileLike(constant, source.escape);
  if (compiled?.exact === true && operand.type.type === 'string') {
    return bindCompare('=', operand, boundLiteral(STRING, compiled.prefix), source);
  }
  return {
    kind: 'like',
    type: BOOLEAN,
    operand: castTo(operand, STRING),
    pattern: text,
    escape: source.escape,
    compiled,
  };
}

const STRING: DataType = { type: 'string' };

/** Computes a node whose operands are constants. */
function folded(node: BoundExpression): BoundExpression {
  const children = childrenOf(node);
  if (children.length === 0 || !children.every((each) => each.kind === 'literal')) return node;
  return boundLiteral(node.type, compileRow(node, unreachable)(0));
}

function unreachable(): never {
  throw new TableError('INTERNAL', 'a constant reads a column', {});
}
