import { TableError } from '../errors.js';
import type { Json, JsonObject } from '../schema/types.js';

/** A JSON number that neither a double nor a bigint holds exactly, as its text. A class, so that no parsed object `{"raw": ...}` is taken for one. */
export class RawNumber {
  readonly raw: string;

  constructor(raw: string) {
    this.raw = raw;
  }
}

/** Nesting beyond this is refused: no log of a real table comes near, and callers recurse over what is parsed. */
export const MAX_JSON_DEPTH = 500;

/** Digits beyond this make an integer a `RawNumber`, because reading a bigint takes time quadratic in its digits. */
const MAX_INTEGER_DIGITS = 64;

/** Where a number stands that a double might change: 16 digits or more, or an exponent. Also hits inside strings, which costs time alone. */
const MAYBE_INEXACT = /[:,[\s]-?(?:\d[\d.]{15}|\d[\d.]*[eE])|^-?\d/;

/**
 * Parses one JSON text exactly: integers beyond 2^53 become bigint; other numbers that a double would change become `RawNumber`; `__proto__` becomes an
 * own property; of equal keys the last wins. Nesting beyond `MAX_JSON_DEPTH` is `LIMIT_EXCEEDED`; anything that is not JSON is a `SyntaxError`.
 */
export function parseJson(text: string): Json {
  assertDepth(text);
  // JSON.parse makes `__proto__` an own property, as this parser must.
  if (!MAYBE_INEXACT.test(text)) return JSON.parse(text) as Json;
  return new ExactParser(text).parse();
}

/**
 * Writes JSON without spaces, the inverse of `parseJson`; undefined members are left out, undefined elements are null. NaN and the infinities are
 * `INVALID_INPUT`, because JSON has no such numbers.
 */
export function stringifyJson(value: unknown): string {
  return write(value, 0);
}

function write(value: unknown, depth: number): string {
  if (value === null || value === undefined) return 'null';
  switch (typeof value) {
    case 'string':
      return JSON.stringify(value);
    case 'number':
      if (!Number.isFinite(value))
        throw new TableError('INVALID_INPUT', `JSON cannot hold the number ${value}.`, {
          value: String(value),
        });
      return Object.is(value, -0) ? '-0.0' : String(value);
    case 'bigint':
    case 'boolean':
      return String(value);
    case 'object':
      break;
    default:
      throw new TableError('INVALID_INPUT', `JSON cannot hold a ${typeof value}.`, { type: typeof value });
  }
  if (value instanceof RawNumber) return value.raw;
  if (depth >= MAX_JSON_DEPTH) throw tooDeep();
  if (Array.isArray(value)) {
    const parts: string[] = [];
    for (const element of value) parts.push(write(element, depth + 1));
    return `[${parts.join(',')}]`;
  }
  const parts: string[] = [];
  for (const [key, member] of Object.entries(value)) {
    if (member !== undefined) parts.push(`${JSON.stringify(key)}:${write(member, depth + 1)}`);
  }
  return `{${parts.join(',')}}`;
}

/** The value of a number token: number where that is exact, else bigint, else `RawNumber`. The token must be a JSON number. */
export function jsonNumber(token: string): number | bigint | RawNumber {
  const value = Number(token);
  if (/^-?\d+$/.test(token)) {
    if (Number.isSafeInteger(value)) return value;
    return token.length <= MAX_INTEGER_DIGITS ? BigInt(token) : new RawNumber(token);
  }
  if (token.length <= 16 && !/[eE]/.test(token)) return value;
  if (Number.isFinite(value) && normalize(token) === normalize(String(value))) return value;
  return new RawNumber(token);
}

/** A decimal as sign, digits without zeros at either end, and exponent, so that equal values have equal text. */
function normalize(token: string): string {
  const [, sign = '', whole = '', fraction = '', exponent = '0'] =
    /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(token) ?? [];
  const digits = `${whole}${fraction}`.replace(/^0+/, '');
  const significant = digits.replace(/0+$/, '');
  if (significant === '') return `${sign}0`;
  return `${sign}${significant}e${Number(exponent) - fraction.length + digits.length - significant.length}`;
}

/** Counts what opens before looking closer: most texts have fewer brackets in all than the limit. */
function assertDepth(text: string): void {
  if (text.length <= MAX_JSON_DEPTH) return;
  let opened = 0;
  for (const bracket of '{[') {
    for (
      let at = text.indexOf(bracket);
      at >= 0 && opened <= MAX_JSON_DEPTH;
      at = text.indexOf(bracket, at + 1)
    )
      opened++;
  }
  if (opened > MAX_JSON_DEPTH && deepest(text) > MAX_JSON_DEPTH) throw tooDeep();
}

function deepest(text: string): number {
  let depth = 0;
  let most = 0;
  for (let at = 0; at < text.length; at++) {
    const c = text.charCodeAt(at);
    if (c === QUOTE) at = endOfString(text, at);
    else if (c === OPEN_BRACE || c === OPEN_BRACKET) most = Math.max(most, ++depth);
    else if (c === CLOSE_BRACE || c === CLOSE_BRACKET) depth--;
  }
  return most;
}

function tooDeep(): TableError {
  return new TableError('LIMIT_EXCEEDED', `JSON is nested deeper than ${MAX_JSON_DEPTH} levels.`, {
    limit: MAX_JSON_DEPTH,
  });
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;

/** The index of the quote that ends the string starting at `start`, or the text's length. */
function endOfString(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); end >= 0; end = text.indexOf('"', end + 1)) {
    let slashes = 0;
    while (text.charCodeAt(end - 1 - slashes) === BACKSLASH) slashes++;
    if (slashes % 2 === 0) return end;
  }
  return text.length;
}

const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
// biome-ignore lint/suspicious/noControlCharactersInRegex: JSON forbids them unescaped.
const NEEDS_DECODING = /[\\\u0000-\u001f]/;

/** Recursive descent over a text whose depth has been checked. */
class ExactParser {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  parse(): Json {
    const value = this.#value();
    this.#space();
    if (this.#at < this.#text.length) throw this.#unexpected();
    return value;
  }

  #space(): void {
    for (;;) {
      const c = this.#text.charCodeAt(this.#at);
      if (c !== 0x20 && c !== 0x0a && c !== 0x0d && c !== 0x09) return;
      this.#at++;
    }
  }

  #value(): Json {
    this.#space();
    switch (this.#text[this.#at]) {
      case '{':
        return this.#object();
      case '[':
        return this.#array();
      case '"':
        return this.#string();
      case 't':
        return this.#word('true', true);
      case 'f':
        return this.#word('false', false);
      case 'n':
        return this.#word('null', null);
      default:
        return this.#number();
    }
  }

  #object(): JsonObject {
    const object: Record<string, Json> = {};
    this.#at++;
    if (this.#closes('}')) return object;
    for (;;) {
      this.#space();
      if (this.#text[this.#at] !== '"') throw this.#unexpected();
      const key = this.#string();
      this.#space();
      if (this.#text[this.#at] !== ':') throw this.#unexpected();
      this.#at++;
      const value = this.#value();
      // Plain assignment would set the prototype.
      if (key === '__proto__')
        Object.defineProperty(object, key, { value, writable: true, enumerable: true, configurable: true });
      else object[key] = value;
      if (this.#closes('}')) return object;
      this.#comma();
    }
  }

  #array(): Json[] {
    const array: Json[] = [];
    this.#at++;
    if (this.#closes(']')) return array;
    for (;;) {
      array.push(this.#value());
      if (this.#closes(']')) return array;
      this.#comma();
    }
  }

  #closes(bracket: string): boolean {
    this.#space();
    if (this.#text[this.#at] !== bracket) return false;
    this.#at++;
    return true;
  }

  #comma(): void {
    if (this.#text[this.#at] !== ',') throw this.#unexpected();
    this.#at++;
  }

  #string(): string {
    const start = this.#at;
    const end = endOfString(this.#text, start);
    if (end >= this.#text.length) throw new SyntaxError('Unterminated string in JSON');
    this.#at = end + 1;
    const content = this.#text.slice(start + 1, end);
    return NEEDS_DECODING.test(content) ? (JSON.parse(this.#text.slice(start, end + 1)) as string) : content;
  }

  #number(): Json {
    NUMBER.lastIndex = this.#at;
    const token = NUMBER.exec(this.#text)?.[0];
    if (token === undefined) throw this.#unexpected();
    this.#at += token.length;
    return jsonNumber(token);
  }

  #word<T extends Json>(word: string, value: T): T {
    if (!this.#text.startsWith(word, this.#at)) throw this.#unexpected();
    this.#at += word.length;
    return value;
  }

  #unexpected(): SyntaxError {
    const found = this.#text[this.#at];
    return new SyntaxError(
      found === undefined
        ? 'Unexpected end of JSON'
        : `Unexpected ${JSON.stringify(found)} in JSON at position ${this.#at}`,
    );
  }
}
