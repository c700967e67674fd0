import type { DataType } from '../schema/types.js';
import {
  type ArithmeticOperator,
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
import { binaryLiteral, numberLiteral, typedLiteral } from './sql-literals.js';
import { syntaxError, type Token, tokenize } from './sql-tokens.js';
import { typeNamed } from './sql-types.js';

/** How deep an expression may nest. */
export const MAX_DEPTH = 250;

/** Words that cannot be column names unless in backquotes. */
export const RESERVED: ReadonlySet<string> = new Set(
  'and or not in is null true false between like ilike rlike case when then else end cast try_cast escape distinct from as'.split(
    ' ',
  ),
);

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
  readonly #tokens: readonly Token[];
  readonly #depths = new WeakMap<Expression, number>();
  #next = 0;
  #nesting = 0;

  constructor(text: string) {
    this.#text = text;
    this.#tokens = tokenize(text);
  }

  expression(): Expression {
    if (++this.#nesting > MAX_DEPTH) throw this.#tooDeep();
    const operands = [this.#conjunction()];
    while (this.#takeWord('or')) operands.push(this.#conjunction());
    this.#nesting--;
    return this.#built(or(...operands), operands);
  }

  expectEnd(): void {
    const token = this.#peek();
    if (token.kind !== 'end') throw this.#unexpected(token, 'the end');
  }

  #conjunction(): Expression {
    const operands = [this.#negation()];
    while (this.#takeWord('and')) operands.push(this.#negation());
    return this.#built(and(...operands), operands);
  }

  #negation(): Expression {
    if (!this.#takeWord('not') && !this.#take('!')) return this.#condition();
    if (++this.#nesting > MAX_DEPTH) throw this.#tooDeep();
    const operand = this.#negation();
    this.#nesting--;
    return this.#built(not(operand), [operand]);
  }

  #condition(): Expression {
    let left = this.#sum();
    while (true) {
      const op = this.#peek().kind === 'symbol' ? COMPARISONS.get(this.#peek().text) : undefined;
      if (op !== undefined) {
        this.#next++;
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
    if (this.#takeWord('is')) return this.#isTest(left);
    const negated =
      this.#isWord(this.#peek(), 'not') &&
      ['in', 'between', 'like', 'ilike'].some((word) => this.#isWord(this.#peek(1), word));
    if (negated) this.#next++;
    const positive = this.#positiveTest(left);
    if (positive === undefined) return undefined;
    return negated ? this.#built(not(positive), [positive]) : positive;
  }

  #positiveTest(left: Expression): Expression | undefined {
    if (this.#takeWord('in')) {
      this.#expect('(');
      const list = this.#list();
      return this.#built(isIn(left, list), [left, ...list]);
    }
    if (this.#takeWord('between')) {
      const low = this.#sum();
      if (!this.#takeWord('and')) throw this.#unexpected(this.#peek(), 'AND of BETWEEN');
      const high = this.#sum();
      return this.#built(between(left, low, high), [left, low, high]);
    }
    if (this.#takeWord('like')) return this.#like(left, this.#sum());
    if (this.#takeWord('ilike')) return this.#like(call('lower', left), call('lower', this.#sum()));
    if (this.#isWord(this.#peek(), 'rlike') || this.#isWord(this.#peek(), 'regexp')) {
      throw syntaxError(this.#text, this.#peek().at, 'regular expressions are not supported; LIKE is');
    }
    return undefined;
  }

  #like(left: Expression, pattern: Expression): Expression {
    let escapeWith = '\\';
    if (this.#takeWord('escape')) {
      const token = this.#advance();
      if (token.kind !== 'string' || [...token.text].length !== 1)
        throw this.#unexpected(token, 'one character in quotes');
      escapeWith = token.text;
    }
    return this.#built(like(left, pattern, escapeWith), [left, pattern]);
  }

  #isTest(left: Expression): Expression {
    const negated = this.#takeWord('not');
    const test = this.#isWhat(left);
    return negated ? this.#built(not(test), [test]) : test;
  }

  #isWhat(left: Expression): Expression {
    if (this.#takeWord('null') || this.#takeWord('unknown')) return this.#built(isNull(left), [left]);
    if (this.#takeWord('true')) return this.#built({ kind: 'is', operand: left, value: true }, [left]);
    if (this.#takeWord('false')) return this.#built({ kind: 'is', operand: left, value: false }, [left]);
    if (this.#takeWord('distinct')) {
      if (!this.#takeWord('from')) throw this.#unexpected(this.#peek(), 'FROM');
      const right = this.#sum();
      const same = this.#built(compare('<=>', left, right), [left, right]);
      return this.#built(not(same), [same]);
    }
    throw this.#unexpected(this.#peek(), 'NULL, TRUE, FALSE or DISTINCT FROM');
  }

  #sum(): Expression {
    let left = this.#product();
    while (true) {
      if (this.#take('||')) {
        const right = this.#product();
        left = this.#built(call('concat', left, right), [left, right]);
        continue;
      }
      const op = this.#takeOperator('+', '-');
      if (op === undefined) return left;
      const right = this.#product();
      left = this.#built(op === '+' ? add(left, right) : arithmetic(op, left, right), [left, right]);
    }
  }

  #product(): Expression {
    let left = this.#unary();
    while (true) {
      const op = this.#takeOperator('*', '/', '%');
      if (op === undefined) return left;
      const right = this.#unary();
      left = this.#built(arithmetic(op, left, right), [left, right]);
    }
  }

  #unary(): Expression {
    while (this.#take('+'));
    if (!this.#take('-')) return this.#postfix();
    if (++this.#nesting > MAX_DEPTH) throw this.#tooDeep();
    const token = this.#peek();
    if (token.kind === 'number') {
      // The smallest whole number has no positive counterpart, so the sign belongs to the literal.
      this.#next++;
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
    while (this.#take('::')) result = this.#built(cast(result, this.#type()), [result]);
    return result;
  }

  #primary(): Expression {
    const token = this.#advance();
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
          this.#expect(')');
          return inner;
        }
        throw this.#unexpected(token, 'a value, a column or a function');
    }
  }

  #word(token: Token): Expression {
    const word = token.text.toLowerCase();
    const next = this.#peek();
    if (word === 'true' || word === 'false') return lit(word === 'true');
    if (word === 'null') return lit(null);
    if (word === 'case') return this.#case();
    if ((word === 'cast' || word === 'try_cast') && this.#take('(')) return this.#castCall();
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
      this.#next++;
      return literal;
    }
    if (next.kind === 'symbol' && next.text === '(') return this.#call(token);
    if (RESERVED.has(word)) throw this.#unexpected(token, 'a value, a column or a function');
    return this.#name(token);
  }

  #name(token: Token): Expression {
    const path = [token.text];
    if (token.text === '') throw syntaxError(this.#text, token.at, 'an empty column name');
    while (this.#take('.')) {
      const part = this.#advance();
      if ((part.kind !== 'word' && part.kind !== 'quoted') || part.text === '')
        throw this.#unexpected(part, 'the name of a field');
      path.push(part.text);
    }
    return { kind: 'column', path };
  }

  #call(token: Token): Expression {
    this.#expect('(');
    const args = this.#peek().text === ')' && this.#take(')') ? [] : this.#list();
    return this.#built(call(token.text, ...args), args);
  }

  #castCall(): Expression {
    const operand = this.expression();
    if (!this.#takeWord('as')) throw this.#unexpected(this.#peek(), 'AS');
    const type = this.#type();
    this.#expect(')');
    return this.#built(cast(operand, type), [operand]);
  }

  #case(): Expression {
    const subject = this.#isWord(this.#peek(), 'when') ? undefined : this.expression();
    const branches: { when: Expression; result: Expression }[] = [];
    const parts: Expression[] = [];
    while (this.#takeWord('when')) {
      const test = this.expression();
      const when = subject === undefined ? test : compare('=', subject, test);
      if (!this.#takeWord('then')) throw this.#unexpected(this.#peek(), 'THEN');
      const result = this.expression();
      branches.push({ when, result });
      parts.push(test, result);
    }
    if (branches.length === 0) throw this.#unexpected(this.#peek(), 'WHEN');
    const otherwise = this.#takeWord('else') ? this.expression() : lit(null);
    if (!this.#takeWord('end')) throw this.#unexpected(this.#peek(), 'WHEN, ELSE or END');
    return this.#built(caseWhen(branches, otherwise), [
      ...parts,
      otherwise,
      ...(subject === undefined ? [] : [subject]),
    ]);
  }

  #type(): DataType {
    const token = this.#advance();
    const parameters: number[] = [];
    if (token.kind === 'word' && this.#take('(')) {
      do {
        const number = this.#advance();
        if (!/^\d{1,9}$/.test(number.text)) throw this.#unexpected(number, 'a number');
        parameters.push(Number(number.text));
      } while (this.#take(','));
      this.#expect(')');
    }
    const type = token.kind === 'word' ? typeNamed(token.text, parameters) : undefined;
    if (type === undefined)
      throw this.#unexpected(token, 'a type such as BIGINT, DECIMAL(10, 2), STRING, DATE or TIMESTAMP');
    return type;
  }

  /** The rest of a parenthesised list, with its closing parenthesis. */
  #list(): Expression[] {
    const items: Expression[] = [];
    do items.push(this.expression());
    while (this.#take(','));
    this.#expect(')');
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
    return syntaxError(this.#text, this.#peek().at, `the expression nests more than ${MAX_DEPTH} deep`);
  }

  #unexpected(token: Token, wanted: string) {
    const found = token.kind === 'end' ? 'the text ends' : `found ${this.#text.slice(token.at, token.end)}`;
    const hint =
      token.kind === 'word' && RESERVED.has(token.text.toLowerCase())
        ? ` (a column of that name goes in backquotes)`
        : '';
    return syntaxError(this.#text, token.at, `${found} where ${wanted} should be${hint}`);
  }

  #peek(ahead = 0): Token {
    return this.#tokens[Math.min(this.#next + ahead, this.#tokens.length - 1)]!;
  }

  #advance(): Token {
    const token = this.#peek();
    if (token.kind !== 'end') this.#next++;
    return token;
  }

  #isWord(token: Token, word: string): boolean {
    return token.kind === 'word' && token.text.toLowerCase() === word;
  }

  #takeWord(word: string): boolean {
    if (!this.#isWord(this.#peek(), word)) return false;
    this.#next++;
    return true;
  }

  #take(symbol: string): boolean {
    const token = this.#peek();
    if (token.kind !== 'symbol' || token.text !== symbol) return false;
    this.#next++;
    return true;
  }

  #takeOperator(...symbols: ArithmeticOperator[]): ArithmeticOperator | undefined {
    return symbols.find((symbol) => this.#take(symbol));
  }

  #expect(symbol: string): void {
    if (!this.#take(symbol)) throw this.#unexpected(this.#peek(), symbol);
  }
}
