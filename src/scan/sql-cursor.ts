import type { TableError } from '../errors.js';
import type { ArithmeticOperator } from './predicate.js';
import { syntaxError, type Token, tokenize } from './sql-tokens.js';

/** Words that cannot be column names unless in backquotes. */
export const RESERVED: ReadonlySet<string> = new Set(
  'and or not in is null true false between like ilike rlike case when then else end cast try_cast escape distinct from as'.split(
    ' ',
  ),
);

/** The tokens of a text with a place among them. */
export class Cursor {
  readonly #text: string;
  readonly #tokens: readonly Token[];
  #next = 0;

  constructor(text: string) {
    this.#text = text;
    this.#tokens = tokenize(text);
  }

  /** INVALID_PREDICATE that says what stands where something else should. */
  unexpected(token: Token, wanted: string): TableError {
    const found = token.kind === 'end' ? 'the text ends' : `found ${this.#text.slice(token.at, token.end)}`;
    const hint =
      token.kind === 'word' && RESERVED.has(token.text.toLowerCase())
        ? ' (a column of that name goes in backquotes)'
        : '';
    return syntaxError(this.#text, token.at, `${found} where ${wanted} should be${hint}`);
  }

  peek(ahead = 0): Token {
    return this.#tokens[Math.min(this.#next + ahead, this.#tokens.length - 1)]!;
  }

  advance(): Token {
    const token = this.peek();
    if (token.kind !== 'end') this.#next++;
    return token;
  }

  isWord(token: Token, word: string): boolean {
    return token.kind === 'word' && token.text.toLowerCase() === word;
  }

  takeWord(word: string): boolean {
    if (!this.isWord(this.peek(), word)) return false;
    this.#next++;
    return true;
  }

  take(symbol: string): boolean {
    const token = this.peek();
    if (token.kind !== 'symbol' || token.text !== symbol) return false;
    this.#next++;
    return true;
  }

  takeOperator(...symbols: ArithmeticOperator[]): ArithmeticOperator | undefined {
    return symbols.find((symbol) => this.take(symbol));
  }

  expect(symbol: string): void {
    if (!this.take(symbol)) throw this.unexpected(this.peek(), symbol);
  }
}
