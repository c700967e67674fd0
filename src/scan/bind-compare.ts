import { decimalText } from '../schema/number-text.js';
import type { DataType, Datum } from '../schema/types.js';
import { compareDatum } from '../schema/value.js';
import {
  BOOLEAN,
  type BoundCompare,
  type BoundExpression,
  type BoundLiteral,
  type BoundOperator,
  boundLiteral,
} from './bind-tree.js';
import { castTo, commonType, described, typeError } from './bind-types.js';
import {
  castDatum,
  type Exact,
  isFloating,
  isInteger,
  isNumeric,
  isTemporal,
  isTimestamp,
  parseExact,
  rangeOf,
  toExact,
} from './functions-cast.js';
import { dayOfMicros, microsOfDate } from './functions-time.js';
import type { CompareOperator, Expression } from './predicate.js';

const FLIPPED: Readonly<Record<BoundOperator, BoundOperator>> = {
  '=': '=',
  '<=>': '<=>',
  '<': '>',
  '<=': '>=',
  '>': '<',
  '>=': '<=',
};
const DATE: DataType = { type: 'date' };
const DAYS: readonly [bigint, bigint] = [-2_147_483_648n, 2_147_483_647n];

/**
 * Binds a comparison. A literal is brought to the type of the other side, exactly: a number that the type cannot hold turns the operator instead
 * (`id < 1.5` is `id <= 1`), so that nothing is rounded and statistics stay of use. Two other expressions meet in their common type.
 */
export function bindCompare(
  op: CompareOperator,
  left: BoundExpression,
  right: BoundExpression,
  source: Expression,
): BoundExpression {
  if (op === '<>') return { kind: 'not', type: BOOLEAN, operand: bindCompare('=', left, right, source) };
  if (isNullLiteral(left) || isNullLiteral(right)) {
    if (op !== '<=>') return boundLiteral(BOOLEAN, null);
    return { kind: 'isNull', type: BOOLEAN, operand: isNullLiteral(left) ? right : left };
  }
  if (right.kind === 'literal') return withLiteral(op, left, right, source);
  if (left.kind === 'literal') return withLiteral(FLIPPED[op], right, left, source);
  const domain = commonType(left.type, right.type, 'compare');
  if (domain === undefined || !isOrdered(domain)) throw notComparable(left, right, source);
  return compareIn(op, domain, castTo(left, domain), castTo(right, domain));
}

const isNullLiteral = (node: BoundExpression): boolean => node.kind === 'literal' && node.value === null;

function isOrdered(type: DataType): boolean {
  return !['array', 'map', 'struct', 'variant', 'void'].includes(type.type);
}

function notComparable(left: BoundExpression, right: BoundExpression, source: Expression) {
  return typeError(source, `${described(left)} cannot be compared with ${described(right)}`);
}

function compareIn(
  op: BoundOperator,
  domain: DataType,
  left: BoundExpression,
  right: BoundExpression,
): BoundCompare {
  return { kind: 'compare', type: BOOLEAN, op, domain, left, right };
}

function withLiteral(
  op: BoundOperator,
  left: BoundExpression,
  literal: BoundLiteral,
  source: Expression,
): BoundExpression {
  // With a literal that is not NULL, `<=>` is `(left = literal) IS TRUE`.
  if (op === '<=>') {
    return { kind: 'is', type: BOOLEAN, value: true, operand: withLiteral('=', left, literal, source) };
  }
  // A column of type VOID holds NULL alone, which compares with anything.
  if (left.type.type === 'void') return withLiteral(op, castTo(left, literal.type), literal, source);
  const { type } = left;
  const given =
    literal.type.type === 'string' && type.type !== 'string' ? readAs(literal, left, source) : literal;
  if (type.type === 'string' && given.type.type !== 'string') return textWithLiteral(op, left, given, source);
  const to = (value: Datum, domain = type): BoundCompare =>
    compareIn(op, domain, left, boundLiteral(domain, value));
  if (isFloating(type) && isNumeric(given.type)) return to(asDouble(given), { type: 'double' });
  if (isNumeric(type) && isNumeric(given.type)) {
    return roundedCompare(op, left, exactAt(given, type.type === 'decimal' ? type.scale : 0), rangeOf(type)!);
  }
  if (type.type === 'date' && isTimestamp(given.type)) {
    const micros = given.value as bigint;
    const day = dayOfMicros(micros);
    return roundedCompare(op, left, { floor: BigInt(day), exact: microsOfDate(day) === micros }, DAYS);
  }
  if (type.type === 'date' && given.type.type === 'date') return compareDay(op, left, given.value as number);
  if (isTemporal(type) && isTemporal(given.type)) return to(castDatum(given.value, given.type, type));
  if (type.type === given.type.type && isOrdered(type)) return to(given.value);
  throw notComparable(left, given, source);
}

/** Compares a DATE. The day of a timestamp is compared by the instants that it spans, so that the column itself stands in the comparison. */
function compareDay(op: BoundOperator, left: BoundExpression, day: number): BoundExpression {
  if (left.kind !== 'cast' || !isTimestamp(left.operand.type))
    return compareIn(op, DATE, left, boundLiteral(DATE, day));
  const instant = left.operand;
  const against = (as: BoundOperator, days: number): BoundCompare =>
    compareIn(as, instant.type, instant, boundLiteral(instant.type, microsOfDate(days)));
  switch (op) {
    case '<':
    case '>=':
      return against(op, day);
    case '<=':
      return against('<', day + 1);
    case '>':
      return against('>=', day + 1);
    default:
      return { kind: 'and', type: BOOLEAN, operands: [against('>=', day), against('<', day + 1)] };
  }
}

/** A string literal read as a value that compares with `left`. */
function readAs(literal: BoundLiteral, left: BoundExpression, source: Expression): BoundLiteral {
  const text = literal.value as string;
  if (isInteger(left.type) || left.type.type === 'decimal') {
    const exact = parseExact(text);
    if (exact !== null) return boundLiteral(wideDecimal(exact), exact.unscaled);
  } else if (isOrdered(left.type)) {
    const value = castDatum(text, literal.type, left.type);
    if (value !== null) return boundLiteral(left.type, value);
  } else {
    throw notComparable(left, literal, source);
  }
  throw typeError(source, `${JSON.stringify(text)} cannot be read as a value of ${described(left)}`);
}

function wideDecimal(exact: Exact): DataType {
  return {
    type: 'decimal',
    precision: Math.max(exact.unscaled.toString().length, exact.scale),
    scale: exact.scale,
  };
}

/** Text compared with a literal of another type is read as that type; what cannot be read is NULL. */
function textWithLiteral(
  op: BoundOperator,
  left: BoundExpression,
  literal: BoundLiteral,
  source: Expression,
): BoundExpression {
  const type = commonType(left.type, literal.type, 'compare');
  if (type === undefined) throw notComparable(left, literal, source);
  // A whole literal beyond BIGINT and a decimal are compared as doubles, as in Spark.
  return withLiteral(op, castTo(left, type), literal, source);
}

function asDouble(literal: BoundLiteral): number {
  if (literal.type.type === 'decimal')
    return Number(decimalText(literal.value as bigint, literal.type.scale));
  return Number(literal.value);
}

/** A number on the grid of a type: the greatest value not above it, and whether that is the number itself. */
interface Rounded {
  readonly floor: bigint;
  readonly exact: boolean;
}

/** Beyond every range, for infinities and NaN, which is the greatest value. */
const BEYOND = 10n ** 400n;

function exactAt(literal: BoundLiteral, scale: number): Rounded {
  const exact = toExact(literal.value, literal.type);
  if (exact === null)
    return { floor: literal.value === Number.NEGATIVE_INFINITY ? -BEYOND : BEYOND, exact: false };
  if (exact.scale <= scale)
    return { floor: exact.unscaled * 10n ** BigInt(scale - exact.scale), exact: true };
  const unit = 10n ** BigInt(exact.scale - scale);
  const quotient = exact.unscaled / unit;
  const rest = exact.unscaled % unit;
  return { floor: rest < 0n ? quotient - 1n : quotient, exact: rest === 0n };
}

/** Compares with a number that may lie between the type's values or outside its range; NULL stays NULL in every case. */
function roundedCompare(
  op: BoundOperator,
  left: BoundExpression,
  { floor, exact }: Rounded,
  [low, high]: readonly [bigint, bigint],
): BoundCompare {
  const make = (as: BoundOperator, value: bigint): BoundCompare => {
    const big = left.type.type === 'long' || left.type.type === 'decimal';
    return compareIn(as, left.type, left, boundLiteral(left.type, big ? value : Number(value)));
  };
  const always = (): BoundCompare => make('>=', low);
  const never = (): BoundCompare => make('<', low);
  if (floor > high) return op === '<' || op === '<=' ? always() : never();
  if (floor < low) return op === '>' || op === '>=' ? always() : never();
  switch (op) {
    case '<':
      return make(exact ? '<' : '<=', floor);
    case '>=':
      return make(exact ? '>=' : '>', floor);
    case '=':
      return exact ? make('=', floor) : never();
    default:
      return make(op, floor);
  }
}

/** Binds IN: a sorted list where all items are constants of one domain, else the OR of the comparisons. */
export function bindIn(
  operand: BoundExpression,
  items: readonly BoundExpression[],
  source: Expression,
): BoundExpression {
  const tests = items
    .filter((item) => !isNullLiteral(item))
    .map((item) => bindCompare('=', operand, item, source));
  const hasNull = tests.length < items.length;
  const values: Datum[] = [];
  let domain: DataType | undefined;
  for (const test of tests) {
    if (test.kind !== 'compare' || test.left !== operand || test.right.kind !== 'literal')
      return disjunction(tests, hasNull);
    domain = test.domain;
    // Not `=`: the item is between the values of the type and equals none.
    if (test.op === '=') values.push(test.right.value);
  }
  if (domain === undefined) return disjunction(tests, hasNull);
  const order = domain;
  values.sort((a, b) => compareDatum(order, a, b));
  const distinct = values.filter((value, i) => i === 0 || compareDatum(order, value, values[i - 1]!) !== 0);
  return { kind: 'in', type: BOOLEAN, domain, operand, values: distinct, hasNull };
}

function disjunction(tests: readonly BoundExpression[], hasNull: boolean): BoundExpression {
  const operands = hasNull ? [...tests, boundLiteral(BOOLEAN, null)] : tests;
  return operands.length === 1 ? operands[0]! : { kind: 'or', type: BOOLEAN, operands };
}
