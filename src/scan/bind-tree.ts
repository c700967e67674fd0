import type { DataType, Datum, StructField } from '../schema/types.js';
import type { SqlFunction } from './functions.js';
import type { LikePattern } from './functions-like.js';
import type { ArithmeticOperator } from './predicate.js';

/** An expression with its columns found, its types known, its literals in the types they are compared in and its constants computed. */
export type BoundExpression =
  | BoundColumn
  | BoundLiteral
  | BoundCompare
  | BoundIn
  | BoundLike
  | { readonly kind: 'isNull'; readonly type: DataType; readonly operand: BoundExpression }
  | {
      readonly kind: 'is';
      readonly type: DataType;
      readonly operand: BoundExpression;
      readonly value: boolean;
    }
  | { readonly kind: 'and' | 'or'; readonly type: DataType; readonly operands: readonly BoundExpression[] }
  | { readonly kind: 'not'; readonly type: DataType; readonly operand: BoundExpression }
  | { readonly kind: 'cast'; readonly type: DataType; readonly operand: BoundExpression }
  | { readonly kind: 'negate'; readonly type: DataType; readonly operand: BoundExpression }
  | BoundArithmetic
  | BoundCase
  | BoundCall;

export interface BoundColumn {
  readonly kind: 'column';
  readonly type: DataType;
  /** Logical names as the schema spells them, outermost first. */
  readonly path: readonly string[];
  /** The field at each step of `path`. */
  readonly fields: readonly StructField[];
  /** One text for each column, equal for equal paths. */
  readonly key: string;
}
export interface BoundLiteral {
  readonly kind: 'literal';
  readonly type: DataType;
  readonly value: Datum;
}
export type BoundOperator = '=' | '<=>' | '<' | '<=' | '>' | '>=';
export interface BoundCompare {
  readonly kind: 'compare';
  readonly type: DataType;
  readonly op: BoundOperator;
  /** The type in which both sides are compared. */
  readonly domain: DataType;
  readonly left: BoundExpression;
  /** Where one side is a literal it is this one, and not NULL. */
  readonly right: BoundExpression;
}
export interface BoundIn {
  readonly kind: 'in';
  readonly type: DataType;
  readonly domain: DataType;
  readonly operand: BoundExpression;
  /** Ascending, without duplicates and NULL. */
  readonly values: readonly Datum[];
  readonly hasNull: boolean;
}
export interface BoundLike {
  readonly kind: 'like';
  readonly type: DataType;
  readonly operand: BoundExpression;
  readonly pattern: BoundExpression;
  readonly escape: string;
  /** Of a constant pattern. */
  readonly compiled: LikePattern | undefined;
}
export interface BoundArithmetic {
  readonly kind: 'arithmetic';
  readonly type: DataType;
  readonly op: ArithmeticOperator;
  readonly left: BoundExpression;
  readonly right: BoundExpression;
}
export interface BoundCase {
  readonly kind: 'case';
  readonly type: DataType;
  readonly branches: readonly { readonly when: BoundExpression; readonly result: BoundExpression }[];
  readonly otherwise: BoundExpression;
}
export interface BoundCall {
  readonly kind: 'call';
  readonly type: DataType;
  readonly name: string;
  readonly definition: SqlFunction;
  readonly args: readonly BoundExpression[];
}

/**
 * A bound expression with the distinct columns that its source names: also those that computing constants made needless, so that the source can be bound
 * again against these alone.
 */
export interface Bound {
  readonly root: BoundExpression;
  readonly columns: readonly BoundColumn[];
}
/** A bound expression of type BOOLEAN. */
export type BoundPredicate = Bound;

export const BOOLEAN: DataType = { type: 'boolean' };

export function boundLiteral(type: DataType, value: Datum): BoundLiteral {
  return { kind: 'literal', type, value };
}

/** A child list in a fixed order, for walks. */
export function childrenOf(node: BoundExpression): readonly BoundExpression[] {
  switch (node.kind) {
    case 'column':
    case 'literal':
      return [];
    case 'compare':
    case 'arithmetic':
      return [node.left, node.right];
    case 'like':
      return [node.operand, node.pattern];
    case 'and':
    case 'or':
      return node.operands;
    case 'case':
      return [...node.branches.flatMap(({ when, result }) => [when, result]), node.otherwise];
    case 'call':
      return node.args;
    default:
      return [node.operand];
  }
}

/** The distinct columns read below a node. */
export function columnsOf(node: BoundExpression): BoundColumn[] {
  const found = new Map<string, BoundColumn>();
  const visit = (each: BoundExpression): void => {
    if (each.kind === 'column') found.set(each.key, each);
    else for (const child of childrenOf(each)) visit(child);
  };
  visit(node);
  return [...found.values()];
}
