import { TableError } from '../errors.js';
import { sameType, typeText } from '../schema/type-text.js';
import type { DataType } from '../schema/types.js';
import { type BoundExpression, boundLiteral } from './bind-tree.js';
import { asDecimal, widerInteger } from './functions-arithmetic.js';
import { canCast, castDatum, isFloating, isInteger, isNumeric, isTemporal } from './functions-cast.js';
import type { Expression } from './predicate.js';
import { printPredicate } from './print.js';

/** A wide decimal may have more than 38 digits where values are only compared in it. */
function decimalOf(left: DataType, right: DataType, limit: number): DataType {
  const a = asDecimal(left)!;
  const b = asDecimal(right)!;
  const scale = Math.max(a.scale, b.scale);
  const whole = Math.max(a.precision - a.scale, b.precision - b.scale);
  if (whole + scale <= limit) return { type: 'decimal', precision: whole + scale, scale };
  return { type: 'decimal', precision: limit, scale: Math.max(limit - whole, Math.min(scale, 6)) };
}

/** The type in which two types meet, or undefined. For a comparison text is read as the other type; for a result the other becomes text. */
export function commonType(left: DataType, right: DataType, use: 'compare' | 'result'): DataType | undefined {
  if (left.type === 'void') return right;
  if (right.type === 'void' || sameType(left, right)) return left;
  if (isNumeric(left) && isNumeric(right)) {
    if (isFloating(left) || isFloating(right)) return { type: 'double' };
    if (isInteger(left) && isInteger(right)) return widerInteger(left, right);
    return decimalOf(left, right, use === 'compare' ? 78 : 38);
  }
  if (isTemporal(left) && isTemporal(right)) {
    return left.type === 'timestamp' || right.type === 'timestamp'
      ? { type: 'timestamp' }
      : { type: 'timestamp_ntz' };
  }
  if (left.type === 'string' || right.type === 'string') {
    const other = left.type === 'string' ? right : left;
    if (!canCast({ type: 'string' }, other)) return undefined;
    if (use === 'result') return other.type === 'binary' ? other : { type: 'string' };
    return isInteger(other) ? { type: 'long' } : other.type === 'decimal' ? { type: 'double' } : other;
  }
  return undefined;
}

/** `expression` in another type; constants are cast at once. The caller knows that the cast exists. */
export function castTo(expression: BoundExpression, type: DataType): BoundExpression {
  if (sameType(expression.type, type)) return expression;
  if (expression.kind === 'literal')
    return boundLiteral(type, castDatum(expression.value, expression.type, type));
  return { kind: 'cast', type, operand: expression };
}

/** INVALID_PREDICATE for an expression whose types do not fit, with its text. */
export function typeError(source: Expression, problem: string): TableError {
  const text = printed(source);
  return new TableError('INVALID_PREDICATE', `${problem}, in: ${text}`, { expression: text });
}

function printed(source: Expression): string {
  const text = printPredicate(source);
  return text.length > 300 ? `${text.slice(0, 300)}...` : text;
}

/** A bound expression as an error message names it. */
export function described(expression: BoundExpression): string {
  const type = typeText(expression.type);
  return expression.kind === 'column'
    ? `column ${expression.path.join('.')} of type ${type}`
    : `a value of type ${type}`;
}
