import type { DataType } from '../schema/types.js';
import {
  add,
  and,
  arithmetic,
  between,
  type CompareOperator,
  call,
  caseWhen,
  cast,
  compare,
  type Expression,
  isIn,
  isNull,
  like,
  lit,
  negate,
  not,
  or,
  type Predicate,
} from './predicate.js';
import { Cursor, RESERVED } from './sql-cursor.js';
import { binaryLiteral, numberLiteral, typedLiteral } from './sql-literals.js';
import { syntaxError, type Token } from './sql-tokens.js';
import { typeNamed } from './sql-types.js';

/** How deep an expression may nest. */
export const MAX_DEPTH = 250;

const COMPARISONS: ReadonlyMap<string, CompareOperator> = new Map([
  ['=', '='],
  ['==', '='],
  ['<=>', '<=>'],
  ['<>', '<>'],
  ['!=', '<>'],
  ['<', '<'],
  ['<=', '<='],
  ['>', '>'],
  ['>=', '>='],
]);

/**
 * Parses a condition in Spark SQL text, the text that replaceWhere, CHECK constraints and DELETE take. Types and columns are checked by `bindPredicate`.
 * Throws INVALID_PREDICATE with the position and a caret.
 */
export function parsePredicate(text: string): Predicate {
  return parseExpression(text);
}

/** Parses any scalar expression of Spark SQL, such as that of a generated column. Throws as `parsePredicate`. */
export function parseExpression(text: string): Expression {
  const parser = new Parser(text);
  const expression = parser.expression();
  parser.expectEnd();
  return expression;
}

class Parser {
  readonly #text: string;
  readonly #cursor: Cursor;
  readonly #depths = new WeakMap<Expression, number>();
  #nesting = 0;

  constructor(text: string) {
    this.#text = text;
    this.#cursor = new Cursor(text);
  }

  expression(): Expression {
    if (++this.#nesting > MAX_DEPTH) throw this.#tooDeep();
    const operands = [this.#conjunction()];
    while (this.#cursor.takeWord('or')) operands.push(this.#conjunction());
    this.#nesting--;
    return this.#built(or(...operands), operands);
  }

  expectEnd(): void {
    const token = this.#cursor.peek();
    if (token.kind !== 'end') throw this.#cursor.unexpected(token, 'the end');
  }

  #conjunction(): Expression {
    const operands = [this.#negation()];
    while (this.#cursor.takeWord('and')) operands.push(this.#negation());
    return this.#built(and(...operands), operands);
  }

  #negation(): Expression {
    if (!this.#cursor.takeWord('not') && !this.#cursor.take('!')) return this.#condition();
    if (++this.#nesting > MAX_DEPTH) throw this.#tooDeep();
    const operand = this.#negation();
    this.#nesting--;
    return this.#built(not(operand), [operand]);
  }

  #condition(): Expression {
    let left = this.#sum();
    while (true) {
      const op =
        this.#cursor.peek().kind === 'symbol' ? COMPARISONS.get(this.#cursor.peek().text) : undefined;
      if (op !== undefined) {
        this.#cursor.advance();
        const right = this.#sum();
        left = this.#built(compare(op, left, right), [left, right]);
        continue;
      }
      const tested = this.#tested(left);
      if (tested === undefined) return left;
      left = tested;
    }
  }

  /** IN, BETWEEN, LIKE and IS after an operand. */
  #tested(left: Expression): Expression | undefined {
    if (this.#cursor.takeWord('is')) return this.#isTest(left);
    const negated =
      this.#cursor.isWord(this.#cursor.peek(), 'not') &&
      ['in', 'between', 'like', 'ilike'].some((word) => this.#cursor.isWord(this.#cursor.peek(1), word));
    if (negated) this.#cursor.advance();
    const positive = this.#positiveTest(left);
    if (positive === undefined) return undefined;
    return negated ? this.#built(not(positive), [positive]) : positive;
  }

  #positiveTest(left: Expression): Expression | undefined {
    if (this.#cursor.takeWord('in')) {
      this.#cursor.expect('(');
      const list = this.#list();
      return this.#built(isIn(left, list), [left, ...list]);
    }
    if (this.#cursor.takeWord('between')) {
      const low = this.#sum();
      if (!this.#cursor.takeWord('and')) throw this.#cursor.unexpected(this.#cursor.peek(), 'AND of BETWEEN');
      const high = this.#sum();
      return this.#built(between(left, low, high), [left, low, high]);
    }
    if (this.#cursor.takeWord('like')) return this.#like(left, this.#sum());
    if (this.#cursor.takeWord('ilike')) return this.#like(call('lower', left), call('lower', this.#sum()));
    if (
      this.#cursor.isWord(this.#cursor.peek(), 'rlike') ||
      this.#cursor.isWord(this.#cursor.peek(), 'regexp')
    ) {
      throw syntaxError(this.#text, this.#cursor.peek().at, 'regular expressions are not supported; LIKE is');
    }
    return undefined;
  }

  #like(left: Expression, pattern: Expression): Expression {
    let escapeWith = '\\';
    if (this.#cursor.takeWord('escape')) {
      const token = this.#cursor.advance();
      if (token.kind !== 'string' || [...token.text].length !== 1)
        throw this.#cursor.unexpected(token, 'one character in quotes');
      escapeWith = token.text;
    }
    return this.#built(like(left, pattern, escapeWith), [left, pattern]);
  }

  #isTest(left: Expression): Expression {
    const negated = this.#cursor.takeWord('not');
    const test = this.#isWhat(left);
    return negated ? this.#built(not(test), [test]) : test;
  }

  #isWhat(left: Expression): Expression {
    if (this.#cursor.takeWord('null') || this.#cursor.takeWord('unknown'))
      return this.#built(isNull(left), [left]);
    if (this.#cursor.takeWord('true')) return this.#built({ kind: 'is', operand: left, value: true }, [left]);
    if (this.#cursor.takeWord('false'))
      return this.#built({ kind: 'is', operand: left, value: false }, [left]);
    if (this.#cursor.takeWord('distinct')) {
      if (!this.#cursor.takeWord('from')) throw this.#cursor.unexpected(this.#cursor.peek(), 'FROM');
      const right = this.#sum();
      const same = this.#built(compare('<=>', left, right), [left, right]);
      return this.#built(not(same), [same]);
    }
    throw this.#cursor.unexpected(this.#cursor.peek(), 'NULL, TRUE, FALSE or DISTINCT FROM');
  }

  #sum(): Expression {
    let left = this.#product();
    while (true) {
      if (this.#cursor.take('||')) {
        const right = this.#product();
        left = this.#built(call('concat', left, right), [left, right]);
        continue;
      }
      const op = this.#cursor.takeOperator('+', '-');
      if (op === undefined) return left;
      const right = this.#product();
      left = this.#built(op === '+' ? add(left, right) : arithmetic(op, left, right), [left, right]);
    }
  }

  #product(): Expression {
    let left = this.#unary();
    while (true) {
      const op = this.#cursor.takeOperator('*', '/', '%');
      if (op === undefined) return left;
      const right = this.#unary();
      left = this.#built(arithmetic(op, left, right), [left, right]);
    }
  }

  #unary(): Expression {
    while (this.#cursor.take('+'));
    if (!this.#cursor.take('-')) return this.#postfix();
    if (++this.#nesting > MAX_DEPTH) throw this.#tooDeep();
    const token = this.#cursor.peek();
    if (token.kind === 'number') {
      // The smallest whole number has no positive counterpart, so the sign belongs to the literal.
      this.#cursor.advance();
      this.#nesting--;
      return this.#casts(this.#literal(() => numberLiteral(`-${token.text}`), token));
    }
    const operand = this.#unary();
    this.#nesting--;
    return this.#built(negate(operand), [operand]);
  }

  #postfix(): Expression {
    return this.#casts(this.#primary());
  }

  #casts(value: Expression): Expression {
    let result = value;
    while (this.#cursor.take('::')) result = this.#built(cast(result, this.#type()), [result]);
    return result;
  }

  #primary(): Expression {
    const token = this.#cursor.advance();
    switch (token.kind) {
      case 'number':
        return this.#literal(() => numberLiteral(token.text), token);
      case 'string':
        return lit(token.text);
      case 'binary':
        return this.#literal(() => binaryLiteral(token.text), token);
      case 'quoted':
        return this.#name(token);
      case 'word':
        return this.#word(token);
      default:
        if (token.kind === 'symbol' && token.text === '(') {
          const inner = this.expression();
          this.#cursor.expect(')');
          return inner;
        }
        throw this.#cursor.unexpected(token, 'a value, a column or a function');
    }
  }

  #word(token: Token): Expression {
    const word = token.text.toLowerCase();
    const next = this.#cursor.peek();
    if (word === 'true' || word === 'false') return lit(word === 'true');
    if (word === 'null') return lit(null);
    if (word === 'case') return this.#case();
    if ((word === 'cast' || word === 'try_cast') && this.#cursor.take('(')) return this.#castCall();
    if (word === 'interval' && (next.kind === 'number' || next.kind === 'string')) {
      throw syntaxError(this.#text, token.at, 'INTERVAL is not supported; date_add and add_months are');
    }
    if (next.kind === 'string') {
      const literal = this.#literal(() => typedLiteral(word, next.text), next);
      if (literal === undefined) {
        throw syntaxError(
          this.#text,
          token.at,
          `${token.text} '...' is no literal; DATE, TIMESTAMP, TIMESTAMP_NTZ and X are`,
        );
      }
      this.#cursor.advance();
      return literal;
    }
    if (next.kind === 'symbol' && next.text === '(') return this.#call(token);
    if (RESERVED.has(word)) throw this.#cursor.unexpected(token, 'a value, a column or a function');
    return this.#name(token);
  }

  #name(token: Token): Expression {
    const path = [token.text];
    if (token.text === '') throw syntaxError(this.#text, token.at, 'an empty column name');
    while (this.#cursor.take('.')) {
      const part = this.#cursor.advance();
      if ((part.kind !== 'word' && part.kind !== 'quoted') || part.text === '')
        throw this.#cursor.unexpected(part, 'the name of a field');
      path.push(part.text);
    }
    return { kind: 'column', path };
  }

  #call(token: Token): Expression {
    this.#cursor.expect('(');
    const args = this.#cursor.peek().text === ')' && this.#cursor.take(')') ? [] : this.#list();
    return this.#built(call(token.text, ...args), args);
  }

  #castCall(): Expression {
    const operand = this.expression();
    if (!this.#cursor.takeWord('as')) throw this.#cursor.unexpected(this.#cursor.peek(), 'AS');
    const type = this.#type();
    this.#cursor.expect(')');
    return this.#built(cast(operand, type), [operand]);
  }

  #case(): Expression {
    const subject = this.#cursor.isWord(this.#cursor.peek(), 'when') ? undefined : this.expression();
    const branches: { when: Expression; result: Expression }[] = [];
    const parts: Expression[] = [];
    while (this.#cursor.takeWord('when')) {
      const test = this.expression();
      const when = subject === undefined ? test : compare('=', subject, test);
      if (!this.#cursor.takeWord('then')) throw this.#cursor.unexpected(this.#cursor.peek(), 'THEN');
      const result = this.expression();
      branches.push({ when, result });
      parts.push(test, result);
    }
    if (branches.length === 0) throw this.#cursor.unexpected(this.#cursor.peek(), 'WHEN');
    const otherwise = this.#cursor.takeWord('else') ? this.expression() : lit(null);
    if (!this.#cursor.takeWord('end'))
      throw this.#cursor.unexpected(this.#cursor.peek(), 'WHEN, ELSE or END');
    return this.#built(caseWhen(branches, otherwise), [
      ...parts,
      otherwise,
      ...(subject === undefined ? [] : [subject]),
    ]);
  }

  #type(): DataType {
    const token = this.#cursor.advance();
    const parameters: number[] = [];
    if (token.kind === 'word' && this.#cursor.take('(')) {
      do {
        const number = this.#cursor.advance();
        if (!/^\d{1,9}$/.test(number.text)) throw this.#cursor.unexpected(number, 'a number');
        parameters.push(Number(number.text));
      } while (this.#cursor.take(','));
      this.#cursor.expect(')');
    }
    const type = token.kind === 'word' ? typeNamed(token.text, parameters) : undefined;
    if (type === undefined)
      throw this.#cursor.unexpected(
        token,
        'a type such as BIGINT, DECIMAL(10, 2), STRING, DATE or TIMESTAMP',
      );
    return type;
  }

  /** The rest of a parenthesised list, with its closing parenthesis. */
  #list(): Expression[] {
    const items: Expression[] = [];
    do items.push(this.expression());
    while (this.#cursor.take(','));
    this.#cursor.expect(')');
    return items;
  }

  #literal<T extends Expression | undefined>(make: () => T | string, token: Token): T {
    const made = make();
    if (typeof made === 'string') throw syntaxError(this.#text, token.at, made);
    return made;
  }

  #built(expression: Expression, operands: readonly Expression[]): Expression {
    let depth = 0;
    for (const each of operands) depth = Math.max(depth, this.#depths.get(each) ?? 0);
    if (depth >= MAX_DEPTH) throw this.#tooDeep();
    if (!operands.includes(expression)) this.#depths.set(expression, depth + 1);
    return expression;
  }

  #tooDeep() {
    return syntaxError(
      this.#text,
      this.#cursor.peek().at,
      `the expression nests more than ${MAX_DEPTH} deep`,
    );
  }
}
