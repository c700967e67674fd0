import { TableError } from '../errors.js';
import { dateText, timestampText } from '../schema/calendar-text.js';
import { decimalText } from '../schema/number-text.js';
import { typeText } from '../schema/type-text.js';
import type { Expression, LiteralExpression, Predicate } from './predicate.js';
import { RESERVED } from './sql-cursor.js';

/** SQL text that `parsePredicate` reads back as the same tree, and that Spark understands alike. */
export function printPredicate(predicate: Predicate): string {
  return print(predicate, 0);
}

/** How tightly each construct binds, from OR to a value. */
const OR = 1;
const AND = 2;
const NOT = 3;
const TEST = 4;
const SUM = 5;
const PRODUCT = 6;
const UNARY = 7;

/** Wraps in parentheses what binds looser than `outer`. */
function print(expression: Expression, outer: number): string {
  const [text, binding] = printed(expression);
  return binding < outer ? `(${text})` : text;
}

function printed(expression: Expression): [string, number] {
  switch (expression.kind) {
    case 'column':
      return [expression.path.map(printName).join('.'), UNARY + 1];
    case 'literal':
      return printLiteral(expression);
    case 'compare':
      return [`${print(expression.left, SUM)} ${expression.op} ${print(expression.right, SUM)}`, TEST];
    case 'in':
      return [`${print(expression.operand, SUM)} IN (${printList(expression.list)})`, TEST];
    case 'like': {
      const tail = expression.escape === '\\' ? '' : ` ESCAPE ${printString(expression.escape)}`;
      return [`${print(expression.operand, SUM)} LIKE ${print(expression.pattern, SUM)}${tail}`, TEST];
    }
    case 'isNull':
      return [`${print(expression.operand, SUM)} IS NULL`, TEST];
    case 'is':
      return [`${print(expression.operand, SUM)} IS ${expression.value ? 'TRUE' : 'FALSE'}`, TEST];
    case 'and':
      return [expression.operands.map((each) => print(each, AND + 1)).join(' AND '), AND];
    case 'or':
      return [expression.operands.map((each) => print(each, OR + 1)).join(' OR '), OR];
    case 'not':
      return printNot(expression.operand);
    case 'cast':
      return [`CAST(${print(expression.operand, 0)} AS ${typeText(expression.to).toUpperCase()})`, UNARY + 1];
    case 'negate':
      return [`- ${print(expression.operand, UNARY)}`, UNARY];
    case 'arithmetic': {
      const level = expression.op === '+' || expression.op === '-' ? SUM : PRODUCT;
      return [
        `${print(expression.left, level)} ${expression.op} ${print(expression.right, level + 1)}`,
        level,
      ];
    }
    case 'case': {
      const branches = expression.branches.map(
        ({ when, result }) => `WHEN ${print(when, 0)} THEN ${print(result, 0)}`,
      );
      return [`CASE ${branches.join(' ')} ELSE ${print(expression.otherwise, 0)} END`, UNARY + 1];
    }
    case 'call':
      return [`${expression.name}(${printList(expression.args)})`, UNARY + 1];
  }
}

function printList(list: readonly Expression[]): string {
  return list.map((each) => print(each, 0)).join(', ');
}

/** `NOT` of a test reads better inside it. */
function printNot(operand: Expression): [string, number] {
  switch (operand.kind) {
    case 'isNull':
      return [`${print(operand.operand, SUM)} IS NOT NULL`, TEST];
    case 'is':
      return [`${print(operand.operand, SUM)} IS NOT ${operand.value ? 'TRUE' : 'FALSE'}`, TEST];
    case 'in':
      return [`${print(operand.operand, SUM)} NOT IN (${printList(operand.list)})`, TEST];
    default:
      return [`NOT ${print(operand, NOT)}`, NOT];
  }
}

function printName(name: string): string {
  const plain = /^[A-Za-z_][A-Za-z0-9_]*$/.test(name) && !RESERVED.has(name.toLowerCase());
  return plain ? name : `\`${name.replaceAll('`', '``')}\``;
}

function printString(text: string): string {
  const escapes: Readonly<Record<string, string>> = {
    '\\': '\\\\',
    "'": "\\'",
    '\n': '\\n',
    '\r': '\\r',
    '\t': '\\t',
    '\0': '\\u0000',
  };
  return `'${text.replace(/[\\'\n\r\t\0]/g, (character) => escapes[character]!)}'`;
}

function printLiteral({ type, value }: LiteralExpression): [string, number] {
  const atom = UNARY + 1;
  if (value === null) return ['NULL', atom];
  const signed = (text: string): [string, number] => [text, text.startsWith('-') ? UNARY : atom];
  switch (type.type) {
    case 'boolean':
      return [value === true ? 'TRUE' : 'FALSE', atom];
    case 'byte':
      return signed(`${value}Y`);
    case 'short':
      return signed(`${value}S`);
    case 'integer':
      return signed(`${value}`);
    case 'long':
      // Without a suffix a small number would be an INT.
      return signed(BigInt.asIntN(32, value as bigint) === value ? `${value}L` : `${value}`);
    case 'float':
    case 'double': {
      const number = value as number;
      if (!Number.isFinite(number)) return [`CAST('${number}' AS ${type.type.toUpperCase()})`, atom];
      const digits = Object.is(number, -0) ? '-0.0' : String(number);
      return signed(`${digits}${type.type === 'float' ? 'F' : 'D'}`);
    }
    case 'decimal':
      return signed(type.scale === 0 ? `${value}BD` : decimalText(value as bigint, type.scale));
    case 'string':
      return [printString(value as string), atom];
    case 'binary':
      return [
        `X'${Buffer.from(value as Uint8Array)
          .toString('hex')
          .toUpperCase()}'`,
        atom,
      ];
    case 'date':
      return [`DATE '${dateText(value as number)}'`, atom];
    case 'timestamp':
      return [`TIMESTAMP '${timestampText(value as bigint, 'T', 'needed')}Z'`, atom];
    case 'timestamp_ntz':
      return [`TIMESTAMP_NTZ '${timestampText(value as bigint, 'T', 'needed')}'`, atom];
    default:
      throw new TableError('INVALID_PREDICATE', `a ${type.type} value has no SQL text`, { type: type.type });
  }
}
