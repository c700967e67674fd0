import { typeText } from '../schema/type-text.js';
import type { DataType } from '../schema/types.js';
import { nearestName } from './bind-column.js';
import type { BoundExpression } from './bind-tree.js';
import { castTo, commonType, described, typeError } from './bind-types.js';
import { functionNamed, functionNames, type Parameter, refusalOf, type SqlFunction } from './functions.js';
import { arithmeticType } from './functions-arithmetic.js';
import { canCast, isInteger, isNumeric, isTemporal } from './functions-cast.js';
import type { ArithmeticExpression, CaseExpression, Expression } from './predicate.js';

type CallExpression = Extract<Expression, { kind: 'call' }>;

/** Arithmetic on numbers, text read as DOUBLE; a DATE plus or minus whole days is a DATE. */
export function bindArithmetic(
  source: ArithmeticExpression,
  left: BoundExpression,
  right: BoundExpression,
): BoundExpression {
  const { op } = source;
  if (
    left.type.type === 'date' &&
    (isInteger(right.type) || right.type.type === 'void') &&
    (op === '+' || op === '-')
  ) {
    return callOf(op === '+' ? 'date_add' : 'date_sub', source, [left, right]);
  }
  if (op === '+' && right.type.type === 'date' && isInteger(left.type))
    return callOf('date_add', source, [right, left]);
  const a = asOperand(asNumber(left, source), right);
  const b = asOperand(asNumber(right, source), left);
  return { kind: 'arithmetic', op, type: arithmeticType(op, a.type, b.type), left: a, right: b };
}

/** Beside a decimal a whole literal counts with the digits it has, not with those of its type, as in Spark. */
function asOperand(number: BoundExpression, other: BoundExpression): BoundExpression {
  if (other.type.type !== 'decimal' || number.kind !== 'literal' || !isInteger(number.type)) return number;
  if (number.value === null) return number;
  const precision = String(number.value).replace('-', '').length;
  return castTo(number, { type: 'decimal', precision, scale: 0 });
}

export function bindNegate(operand: BoundExpression, source: Expression): BoundExpression {
  const number = asNumber(operand, source);
  return { kind: 'negate', type: number.type, operand: number };
}

function asNumber(operand: BoundExpression, source: Expression): BoundExpression {
  if (isNumeric(operand.type)) return operand;
  if (operand.type.type === 'string' || operand.type.type === 'void')
    return castTo(operand, { type: 'double' });
  throw typeError(source, `${described(operand)} is no number`);
}

export function bindCase(
  source: CaseExpression,
  branches: readonly { readonly when: BoundExpression; readonly result: BoundExpression }[],
  otherwise: BoundExpression,
): BoundExpression {
  const type = meeting([...branches.map(({ result }) => result), otherwise], source);
  return {
    kind: 'case',
    type,
    branches: branches.map(({ when, result }) => ({ when, result: castTo(result, type) })),
    otherwise: castTo(otherwise, type),
  };
}

function meeting(expressions: readonly BoundExpression[], source: Expression): DataType {
  let type: DataType = { type: 'void' };
  for (const each of expressions) {
    const common = commonType(type, each.type, 'result');
    if (common === undefined)
      throw typeError(source, `${typeText(type)} and ${typeText(each.type)} have no common type`);
    type = common;
  }
  return type;
}

export function bindCall(source: CallExpression, args: readonly BoundExpression[]): BoundExpression {
  const [left, right] = args;
  if (source.name === 'mod' && args.length === 2) {
    return bindArithmetic(
      { kind: 'arithmetic', op: '%', left: source.args[0]!, right: source.args[1]! },
      left!,
      right!,
    );
  }
  return callOf(source.name, source, args);
}

function callOf(name: string, source: Expression, given: readonly BoundExpression[]): BoundExpression {
  const definition = functionNamed(name);
  if (definition === undefined) throw unknownFunction(name, source);
  const most = definition.variadic === true ? Number.POSITIVE_INFINITY : definition.parameters.length;
  if (given.length < definition.required || given.length > most) {
    const wanted = most === definition.required ? `${most}` : `${definition.required} or more`;
    throw typeError(source, `${name} takes ${wanted} arguments, not ${given.length}`);
  }
  const args = argumentsOf(definition, name, given, source);
  const problem = definition.check?.(args.map((each) => (each.kind === 'literal' ? each.value : undefined)));
  if (problem !== undefined) throw typeError(source, problem);
  return { kind: 'call', type: definition.result(args.map((each) => each.type)), name, definition, args };
}

function argumentsOf(
  definition: SqlFunction,
  name: string,
  given: readonly BoundExpression[],
  source: Expression,
): BoundExpression[] {
  const { parameters } = definition;
  const parameterOf = (i: number): Parameter => parameters[Math.min(i, parameters.length - 1)]!;
  const alike = given.filter((_, i) => parameterOf(i) === 'same');
  const same = alike.length === 0 ? undefined : meeting(alike, source);
  return given.map((each, i) => {
    const parameter = parameterOf(i);
    if (parameter === 'any') return each;
    if (parameter === 'same') return castTo(each, same!);
    if (parameter === 'number') return asNumber(each, source);
    if (parameter === 'instant') {
      if (isTemporal(each.type)) return each;
      if (each.type.type === 'string' || each.type.type === 'void') return castTo(each, { type: 'date' });
    } else if (canCast(each.type, parameter)) {
      return castTo(each, parameter);
    }
    const wanted = parameter === 'instant' ? 'a date or timestamp' : typeText(parameter);
    throw typeError(source, `${name} takes ${wanted} as argument ${i + 1}, not ${described(each)}`);
  });
}

function unknownFunction(name: string, source: Expression) {
  const refused = refusalOf(name);
  if (refused !== undefined) return typeError(source, `${name} cannot be used: ${refused}`);
  const nearest = nearestName(name, functionNames());
  return typeError(
    source,
    `there is no function ${name}${nearest === undefined ? '' : `; did you mean ${nearest}?`}`,
  );
}
