import type { DataType, Datum, DecimalType } from '../schema/types.js';
import { isFloating, isInteger, rangeOf, rescaleHalfUp, toExact } from './functions-cast.js';
import type { ArithmeticOperator } from './predicate.js';

const DIGITS: Readonly<Record<string, number>> = { byte: 3, short: 5, integer: 10, long: 20 };
const WIDTH = ['byte', 'short', 'integer', 'long'];

/** The decimal that holds every value of a whole-number or decimal type. */
export function asDecimal(type: DataType): DecimalType | undefined {
  if (type.type === 'decimal') return type;
  const precision = DIGITS[type.type];
  return precision === undefined ? undefined : { type: 'decimal', precision, scale: 0 };
}

export function widerInteger(left: DataType, right: DataType): DataType {
  return WIDTH.indexOf(left.type) >= WIDTH.indexOf(right.type) ? left : right;
}

/** The type of `left op right` for numeric types, by Spark's rules. */
export function arithmeticType(op: ArithmeticOperator, left: DataType, right: DataType): DataType {
  if (isFloating(left) || isFloating(right)) {
    return left.type === 'float' && right.type === 'float' && op !== '/' ? left : { type: 'double' };
  }
  if (isInteger(left) && isInteger(right)) return op === '/' ? { type: 'double' } : widerInteger(left, right);
  const a = asDecimal(left)!;
  const b = asDecimal(right)!;
  const whole = Math.max(a.precision - a.scale, b.precision - b.scale);
  const scale = Math.max(a.scale, b.scale);
  switch (op) {
    case '+':
    case '-':
      return bounded(whole + scale + 1, scale);
    case '*':
      return bounded(a.precision + b.precision + 1, a.scale + b.scale);
    case '/': {
      const quotientScale = Math.max(6, a.scale + b.precision + 1);
      return bounded(a.precision - a.scale + b.scale + quotientScale, quotientScale);
    }
    case '%':
      return bounded(Math.min(a.precision - a.scale, b.precision - b.scale) + scale, scale);
  }
}

/** Beyond 38 digits, fraction digits go first, down to six. */
function bounded(precision: number, scale: number): DecimalType {
  if (precision <= 38) return { type: 'decimal', precision, scale };
  const kept = Math.max(38 - (precision - scale), Math.min(scale, 6));
  return { type: 'decimal', precision: 38, scale: kept };
}

/** `left op right` of values that are not NULL. NULL for a divisor of zero and for results outside the type. */
export function arithmeticDatum(
  op: ArithmeticOperator,
  left: Datum,
  right: Datum,
  leftType: DataType,
  rightType: DataType,
  type: DataType,
): Datum {
  if (isFloating(type)) {
    const result = floating(op, toDouble(left, leftType), toDouble(right, rightType));
    return result === null ? null : type.type === 'float' ? Math.fround(result) : result;
  }
  if (type.type !== 'decimal') return whole(op, BigInt(left as number), BigInt(right as number), type);
  const a = toExact(left, leftType)!;
  const b = toExact(right, rightType)!;
  const scale = Math.max(a.scale, b.scale);
  const x = a.unscaled * 10n ** BigInt(scale - a.scale);
  const y = b.unscaled * 10n ** BigInt(scale - b.scale);
  switch (op) {
    case '+':
      return inDecimal(x + y, scale, type);
    case '-':
      return inDecimal(x - y, scale, type);
    case '*':
      return inDecimal(a.unscaled * b.unscaled, a.scale + b.scale, type);
    case '%':
      return y === 0n ? null : inDecimal(x % y, scale, type);
    case '/':
      // One digit more than wanted, and the rest folded into it, so that rounding half up is exact.
      return y === 0n
        ? null
        : inDecimal(quotient(x * 10n ** BigInt(type.scale + 1), y), type.scale + 2, type);
  }
}

function quotient(dividend: bigint, divisor: bigint): bigint {
  const result = dividend / divisor;
  const rest = dividend % divisor === 0n ? 0n : dividend < 0n !== divisor < 0n ? -1n : 1n;
  return result * 10n + rest;
}

function inDecimal(unscaled: bigint, scale: number, type: DecimalType): bigint | null {
  const value = rescaleHalfUp(unscaled, scale, type.scale);
  const [low, high] = rangeOf(type)!;
  return value < low || value > high ? null : value;
}

function whole(op: ArithmeticOperator, a: bigint, b: bigint, type: DataType): Datum {
  if (op === '%' && b === 0n) return null;
  const value = op === '+' ? a + b : op === '-' ? a - b : op === '*' ? a * b : a % b;
  const [low, high] = rangeOf(type)!;
  if (value < low || value > high) return null;
  return type.type === 'long' ? value : Number(value);
}

function floating(op: ArithmeticOperator, a: number, b: number): number | null {
  switch (op) {
    case '+':
      return a + b;
    case '-':
      return a - b;
    case '*':
      return a * b;
    case '/':
      return b === 0 ? null : a / b;
    case '%':
      return b === 0 ? null : a % b;
  }
}

function toDouble(value: Datum, type: DataType): number {
  if (type.type !== 'decimal') return Number(value as number | bigint);
  const negative = (value as bigint) < 0n;
  const digits = (negative ? -(value as bigint) : (value as bigint)).toString();
  return Number(`${negative ? '-' : ''}${digits}e-${type.scale}`);
}

export function negateDatum(value: Datum, type: DataType): Datum {
  if (isFloating(type)) return -(value as number);
  if (type.type === 'decimal') return -(value as bigint);
  return whole('-', 0n, BigInt(value as number | bigint), type);
}
