import { TableError } from '../errors.js';
import type { DataType, Datum } from '../schema/types.js';
import { rangeOf } from './functions-cast.js';
import { parseDate, parseTimestamp } from './functions-time.js';
import { castNamed } from './sql-types.js';

/**
 * Predicates and expressions as plain immutable data, with SQL's three-valued logic: TRUE, FALSE, NULL. One tree serves pruning, filtering,
 * conflict checks, CHECK constraints and generated columns. Names are not resolved and nothing is type-checked before `bindPredicate`.
 */
export type Expression =
  | ColumnExpression
  | LiteralExpression
  | CompareExpression
  | InExpression
  | LikeExpression
  | { readonly kind: 'isNull'; readonly operand: Expression }
  | { readonly kind: 'is'; readonly operand: Expression; readonly value: boolean }
  | { readonly kind: 'and' | 'or'; readonly operands: readonly Expression[] }
  | { readonly kind: 'not'; readonly operand: Expression }
  | { readonly kind: 'cast'; readonly operand: Expression; readonly to: DataType }
  | { readonly kind: 'negate'; readonly operand: Expression }
  | ArithmeticExpression
  | CaseExpression
  | { readonly kind: 'call'; readonly name: string; readonly args: readonly Expression[] };

/** An expression whose value is TRUE, FALSE or NULL; binding checks it. */
export type Predicate = Expression;

export interface ColumnExpression {
  readonly kind: 'column';
  /** Names from the outermost column inwards, as written. */
  readonly path: readonly string[];
}
export interface LiteralExpression {
  readonly kind: 'literal';
  /** `void` for NULL. */
  readonly type: DataType;
  readonly value: Datum;
}
export type CompareOperator = '=' | '<=>' | '<>' | '<' | '<=' | '>' | '>=';
export interface CompareExpression {
  readonly kind: 'compare';
  readonly op: CompareOperator;
  readonly left: Expression;
  readonly right: Expression;
}
export interface InExpression {
  readonly kind: 'in';
  readonly operand: Expression;
  readonly list: readonly Expression[];
}
export interface LikeExpression {
  readonly kind: 'like';
  readonly operand: Expression;
  readonly pattern: Expression;
  /** One character. */
  readonly escape: string;
}
export type ArithmeticOperator = '+' | '-' | '*' | '/' | '%';
export interface ArithmeticExpression {
  readonly kind: 'arithmetic';
  readonly op: ArithmeticOperator;
  readonly left: Expression;
  readonly right: Expression;
}
export interface CaseExpression {
  readonly kind: 'case';
  readonly branches: readonly { readonly when: Expression; readonly result: Expression }[];
  readonly otherwise: Expression;
}

/** What the builders take as an operand: an expression, or a JavaScript value for `lit`. */
export type Operand = Expression | LiteralValue;
export type LiteralValue = null | boolean | number | bigint | string | Uint8Array | Date | TemporalLike;

/** A Temporal Instant, PlainDate or PlainDateTime of any copy of Temporal, known by its tag. */
export interface TemporalLike {
  readonly [Symbol.toStringTag]: string;
  toString(): string;
}

/** A column: `col('a.b')` is field `b` of struct `a`; `col(['a.b'])` is the column named `a.b`. */
export function col(path: string | readonly string[]): ColumnExpression {
  const parts = typeof path === 'string' ? path.split('.') : [...path];
  if (parts.length === 0 || parts.some((part) => part === '')) {
    throw new TableError('INVALID_PREDICATE', `not a column path: ${JSON.stringify(path)}`, { path });
  }
  return { kind: 'column', path: parts };
}

export const eq = (left: Operand, right: Operand): CompareExpression => compare('=', left, right);
export const neq = (left: Operand, right: Operand): CompareExpression => compare('<>', left, right);
export const lt = (left: Operand, right: Operand): CompareExpression => compare('<', left, right);
export const le = (left: Operand, right: Operand): CompareExpression => compare('<=', left, right);
export const gt = (left: Operand, right: Operand): CompareExpression => compare('>', left, right);
export const ge = (left: Operand, right: Operand): CompareExpression => compare('>=', left, right);
/** `<=>`: equality that is never NULL; NULL equals NULL. */
export const nullSafeEq = (left: Operand, right: Operand): CompareExpression => compare('<=>', left, right);

export function compare(op: CompareOperator, left: Operand, right: Operand): CompareExpression {
  return { kind: 'compare', op, left: operand(left), right: operand(right) };
}

/** NULL when nothing matches and the operand or an item is NULL, as in SQL. */
export function isIn(value: Operand, list: readonly Operand[]): InExpression {
  return { kind: 'in', operand: operand(value), list: list.map(operand) };
}

/** Both ends included. */
export function between(value: Operand, low: Operand, high: Operand): Expression {
  return and(ge(value, low), le(value, high));
}

/** SQL LIKE: `%` is any run of characters, `_` is one; `escapeWith` takes the meaning from the next. */
export function like(value: Operand, pattern: Operand, escapeWith = '\\'): LikeExpression {
  if ([...escapeWith].length !== 1) {
    throw new TableError(
      'INVALID_PREDICATE',
      `the ESCAPE of LIKE must be one character, not ${JSON.stringify(escapeWith)}`,
      { escape: escapeWith },
    );
  }
  return { kind: 'like', operand: operand(value), pattern: operand(pattern), escape: escapeWith };
}

export const isNull = (value: Operand): Expression => ({ kind: 'isNull', operand: operand(value) });
export const isNotNull = (value: Operand): Expression => not(isNull(value));
/** `IS TRUE`, never NULL. The rows that `p` does not select are `not(isTrue(p))`. */
export const isTrue = (value: Operand): Expression => ({ kind: 'is', operand: operand(value), value: true });
export const isFalse = (value: Operand): Expression => ({
  kind: 'is',
  operand: operand(value),
  value: false,
});

/** All of them; nested `and`s become one. No operand: TRUE. */
export const and = (...operands: readonly Operand[]): Expression => junction('and', operands);
/** Any of them; nested `or`s become one. No operand: FALSE. */
export const or = (...operands: readonly Operand[]): Expression => junction('or', operands);
export const not = (value: Operand): Expression => ({ kind: 'not', operand: operand(value) });

/** A value that the target type cannot hold becomes NULL. */
export function cast(value: Operand, to: DataType): Expression {
  const inner = operand(value);
  const special =
    inner.kind === 'literal' && typeof inner.value === 'string' ? SPECIAL_FLOATS.get(inner.value) : undefined;
  if (special !== undefined && (to.type === 'double' || to.type === 'float')) {
    return { kind: 'literal', type: to, value: special };
  }
  return { kind: 'cast', operand: inner, to };
}

export const add = (left: Operand, right: Operand): Expression => arithmetic('+', left, right);
export const subtract = (left: Operand, right: Operand): Expression => arithmetic('-', left, right);
export const multiply = (left: Operand, right: Operand): Expression => arithmetic('*', left, right);
export const divide = (left: Operand, right: Operand): Expression => arithmetic('/', left, right);
export const modulo = (left: Operand, right: Operand): Expression => arithmetic('%', left, right);

export function arithmetic(op: ArithmeticOperator, left: Operand, right: Operand): Expression {
  return { kind: 'arithmetic', op, left: operand(left), right: operand(right) };
}

/** Minus; of a number literal the literal itself. */
export function negate(value: Operand): Expression {
  const inner = operand(value);
  return (inner.kind === 'literal' ? negatedLiteral(inner) : undefined) ?? { kind: 'negate', operand: inner };
}

function negatedLiteral({ type, value }: LiteralExpression): LiteralExpression | undefined {
  switch (type.type) {
    case 'float':
    case 'double':
      return { kind: 'literal', type, value: -(value as number) };
    case 'decimal':
      return { kind: 'literal', type, value: -(value as bigint) };
    case 'integer':
    case 'long':
      return integerLiteral(-BigInt(value as number | bigint));
    case 'short':
    case 'byte':
      return -(value as number) > rangeOf(type)![1]
        ? undefined
        : { kind: 'literal', type, value: -(value as number) };
    default:
      return undefined;
  }
}

/** A function by name, such as `year`, `date_trunc`, `coalesce`; the name of a type with one argument is a cast. */
export function call(name: string, ...args: readonly Operand[]): Expression {
  if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(name)) {
    throw new TableError('INVALID_PREDICATE', `not the name of a function: ${JSON.stringify(name)}`, {
      name,
    });
  }
  const type = args.length === 1 ? castNamed(name) : undefined;
  if (type !== undefined) return cast(args[0]!, type);
  return { kind: 'call', name: name.toLowerCase(), args: args.map(operand) };
}

/** `CASE WHEN when THEN result ... ELSE otherwise END`. */
export function caseWhen(
  branches: readonly { readonly when: Operand; readonly result: Operand }[],
  otherwise: Operand = null,
): CaseExpression {
  return {
    kind: 'case',
    branches: branches.map(({ when, result }) => ({ when: operand(when), result: operand(result) })),
    otherwise: operand(otherwise),
  };
}

/**
 * A literal from a JavaScript value: whole numbers are INT or BIGINT, other numbers DOUBLE, bigint BIGINT or DECIMAL(38, 0), strings STRING,
 * Uint8Array BINARY, Date and Temporal.Instant TIMESTAMP, PlainDate DATE, PlainDateTime TIMESTAMP_NTZ. With `type`, `value` is that type's Datum.
 */
export function lit(value: LiteralValue, type?: DataType): LiteralExpression {
  if (value === null) return { kind: 'literal', type: { type: 'void' }, value: null };
  if (type?.type === 'decimal') return decimalLiteral(value as bigint, type.scale);
  if (type !== undefined) return { kind: 'literal', type, value: value as Datum };
  switch (typeof value) {
    case 'boolean':
      return { kind: 'literal', type: { type: 'boolean' }, value };
    case 'string':
      return { kind: 'literal', type: { type: 'string' }, value };
    case 'bigint':
      return integerLiteral(value);
    case 'number':
      if (Number.isInteger(value) && !Object.is(value, -0)) {
        if (Number.isSafeInteger(value)) return integerLiteral(BigInt(value));
      }
      return { kind: 'literal', type: { type: 'double' }, value };
    default:
      return objectLiteral(value);
  }
}

/** A literal of INT, BIGINT or DECIMAL(38, 0): the first that holds it. */
export function integerLiteral(value: bigint): LiteralExpression {
  if (BigInt.asIntN(32, value) === value)
    return { kind: 'literal', type: { type: 'integer' }, value: Number(value) };
  if (BigInt.asIntN(64, value) === value) return { kind: 'literal', type: { type: 'long' }, value };
  return decimalLiteral(value, 0);
}

/** A DECIMAL literal from its unscaled value; its precision is the digits it has. */
export function decimalLiteral(unscaled: bigint, scale: number): LiteralExpression {
  const digits = (unscaled < 0n ? -unscaled : unscaled).toString().length;
  const precision = Math.max(digits, scale, 1);
  if (precision > 38) {
    throw new TableError(
      'INVALID_PREDICATE',
      `a number of ${precision} digits is more than DECIMAL(38) holds`,
      { precision },
    );
  }
  return { kind: 'literal', type: { type: 'decimal', precision, scale }, value: unscaled };
}

/** A DECIMAL literal from text such as `-12.50`. */
export function decimal(text: string): LiteralExpression {
  const match = /^([+-]?)(\d*)(?:\.(\d*))?$/.exec(text);
  if (match === null || `${match[2]}${match[3] ?? ''}` === '') {
    throw new TableError('INVALID_PREDICATE', `not a decimal number: ${JSON.stringify(text)}`, { text });
  }
  const fraction = match[3] ?? '';
  const unscaled = BigInt(`${match[2]}${fraction}`);
  return decimalLiteral(match[1] === '-' ? -unscaled : unscaled, fraction.length);
}

/** DATE from `2024-01-01`. */
export function date(text: string): LiteralExpression {
  const days = parseDate(text);
  if (days === undefined)
    throw new TableError('INVALID_PREDICATE', `not a date: ${JSON.stringify(text)}`, { text });
  return { kind: 'literal', type: { type: 'date' }, value: days };
}

/** TIMESTAMP from ISO 8601 text; without a zone it is UTC. */
export const timestamp = (text: string): LiteralExpression => instant(text, 'timestamp');
/** TIMESTAMP_NTZ from ISO 8601 text without a zone. */
export const timestampNtz = (text: string): LiteralExpression => instant(text, 'timestamp_ntz');

function instant(text: string, type: 'timestamp' | 'timestamp_ntz'): LiteralExpression {
  const micros = parseTimestamp(text);
  if (micros === undefined) {
    const hint =
      'write 2024-01-31T12:00:00.000000Z or with an offset such as +01:00; zone names are not taken';
    throw new TableError('INVALID_PREDICATE', `not a timestamp: ${JSON.stringify(text)}; ${hint}`, { text });
  }
  return { kind: 'literal', type: { type }, value: micros };
}

function objectLiteral(value: Uint8Array | Date | TemporalLike): LiteralExpression {
  if (value instanceof Uint8Array) return { kind: 'literal', type: { type: 'binary' }, value };
  if (value instanceof Date) {
    if (Number.isNaN(value.getTime()))
      throw new TableError('INVALID_PREDICATE', 'an invalid Date is no literal', {});
    return { kind: 'literal', type: { type: 'timestamp' }, value: BigInt(value.getTime()) * 1000n };
  }
  switch (value[Symbol.toStringTag]) {
    case 'Temporal.Instant':
      return timestamp(value.toString());
    case 'Temporal.PlainDateTime':
      return timestampNtz(value.toString());
    case 'Temporal.PlainDate':
      return date(value.toString());
    default:
      throw new TableError(
        'INVALID_PREDICATE',
        `a ${value[Symbol.toStringTag] ?? typeof value} is no literal`,
        {},
      );
  }
}

/** Makes a literal of what is not an expression already. */
export function operand(value: Operand): Expression {
  return isExpression(value) ? value : lit(value);
}

function isExpression(value: Operand): value is Expression {
  return typeof value === 'object' && value !== null && 'kind' in value && typeof value.kind === 'string';
}

function junction(kind: 'and' | 'or', operands: readonly Operand[]): Expression {
  const flat = operands.map(operand).flatMap((each) => (each.kind === kind ? each.operands : [each]));
  if (flat.length === 0) return lit(kind === 'and');
  return flat.length === 1 ? flat[0]! : { kind, operands: flat };
}

const SPECIAL_FLOATS: ReadonlyMap<string, number> = new Map([
  ['NaN', Number.NaN],
  ['Infinity', Number.POSITIVE_INFINITY],
  ['-Infinity', Number.NEGATIVE_INFINITY],
]);
