import { TableError } from '../errors.js';

/** The longest text taken, in UTF-16 units. */
export const MAX_TEXT = 1_000_000;

export type TokenKind = 'word' | 'quoted' | 'string' | 'number' | 'binary' | 'symbol' | 'end';

export interface Token {
  readonly kind: TokenKind;
  /** Words as written, symbols, numbers with their suffix; strings, quoted names and X'..' without quotes and escapes. */
  readonly text: string;
  /** UTF-16 units from the start of the text. */
  readonly at: number;
  readonly end: number;
}

const WORD = /[\p{L}_][\p{L}\p{Nd}_]*/uy;
const NUMBER = /(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?(?:BD|[LSYDF])?(?![\p{L}\p{Nd}_])/iuy;
const SYMBOL = /<=>|<>|!=|<=|>=|==|\|\||::|[=<>!+\-*/%(),.]/y;
const SPACE = /(?:\s+|--[^\n]*(?:\n|$)|\/\*[\s\S]*?\*\/)+/y;

/**
 * Cuts SQL text into tokens. String literals are in single or double quotes, as Spark takes them: a doubled quote stands for one, backslash escapes are
 * processed (`\%` and `\_` stay as they are, for LIKE), r'..' takes none. Names in backquotes, a doubled one for itself. Comments are skipped.
 */
export function tokenize(text: string): Token[] {
  if (text.length > MAX_TEXT) {
    throw new TableError(
      'INVALID_PREDICATE',
      `the predicate has ${text.length} characters; the most is ${MAX_TEXT}`,
      { length: text.length },
    );
  }
  const tokens: Token[] = [];
  let at = 0;
  while (true) {
    at = matchAt(SPACE, text, at)?.end ?? at;
    if (at >= text.length) break;
    const token = nextToken(text, at);
    tokens.push(token);
    at = token.end;
  }
  tokens.push({ kind: 'end', text: '', at, end: at });
  return tokens;
}

function nextToken(text: string, at: number): Token {
  const first = text[at]!;
  if (first === "'" || first === '"') return quotedToken(text, at, at, 'string', true);
  if (first === '`') return quotedToken(text, at, at, 'quoted', false);
  const next = text[at + 1];
  if ((first === 'r' || first === 'R') && (next === "'" || next === '"')) {
    return quotedToken(text, at, at + 1, 'string', false);
  }
  if ((first === 'x' || first === 'X') && next === "'") return quotedToken(text, at, at + 1, 'binary', false);
  const word = matchAt(WORD, text, at);
  if (word !== undefined) return { kind: 'word', ...word };
  const number = matchAt(NUMBER, text, at);
  if (number !== undefined) return { kind: 'number', ...number };
  const symbol = matchAt(SYMBOL, text, at);
  if (symbol !== undefined) return { kind: 'symbol', ...symbol };
  throw syntaxError(
    text,
    at,
    `unexpected character ${JSON.stringify(String.fromCodePoint(text.codePointAt(at)!))}`,
  );
}

function matchAt(
  pattern: RegExp,
  text: string,
  at: number,
): { text: string; at: number; end: number } | undefined {
  pattern.lastIndex = at;
  const match = pattern.exec(text);
  return match === null ? undefined : { text: match[0], at, end: at + match[0].length };
}

function quotedToken(text: string, at: number, quoteAt: number, kind: TokenKind, escapes: boolean): Token {
  const quote = text[quoteAt]!;
  let value = '';
  let i = quoteAt + 1;
  while (i < text.length) {
    const character = text[i]!;
    if (character === quote) {
      if (text[i + 1] !== quote) return { kind, text: value, at, end: i + 1 };
      value += quote;
      i += 2;
    } else if (character === '\\' && escapes) {
      const [piece, length] = escaped(text, i);
      value += piece;
      i += length;
    } else {
      value += character;
      i++;
    }
  }
  throw syntaxError(text, at, `this ${quote} is never closed`);
}

const ESCAPES: Readonly<Record<string, string>> = { 0: '\0', b: '\b', n: '\n', r: '\r', t: '\t', Z: '\x1a' };

/** What the escape at `at` stands for, and its length in the text. */
function escaped(text: string, at: number): [string, number] {
  const rest = text.slice(at + 1, at + 10);
  const unicode = /^u([0-9a-fA-F]{4})|^U([0-9a-fA-F]{8})/.exec(rest);
  if (unicode !== null) {
    const point = Number.parseInt(unicode[1] ?? unicode[2]!, 16);
    if (point > 0x10ffff) throw syntaxError(text, at, 'no such Unicode character');
    return [
      unicode[1] === undefined ? String.fromCodePoint(point) : String.fromCharCode(point),
      unicode[0].length + 1,
    ];
  }
  const octal = /^[0-3][0-7]{2}/.exec(rest);
  if (octal !== null) return [String.fromCharCode(Number.parseInt(octal[0], 8)), 4];
  const next = rest[0];
  if (next === undefined) return ['\\', 1];
  if (next === '%' || next === '_') return [`\\${next}`, 2];
  return [ESCAPES[next] ?? next, 2];
}

/** INVALID_PREDICATE with the place in the text, one line of it and a caret below. */
export function syntaxError(text: string, at: number, problem: string): TableError {
  const lineStart = text.lastIndexOf('\n', at - 1) + 1;
  const newline = text.indexOf('\n', at);
  const lineEnd = newline < 0 ? text.length : newline;
  const from = Math.max(lineStart, at - 60);
  const line = text
    .slice(from, Math.min(lineEnd, at + 40))
    .replaceAll('\t', ' ')
    .replaceAll('\r', ' ');
  const pointer = `${' '.repeat(at - from)}^`;
  return new TableError('INVALID_PREDICATE', `${problem}, at character ${at + 1}:\n  ${line}\n  ${pointer}`, {
    position: at,
    predicate: text.length > 1000 ? `${text.slice(0, 1000)}...` : text,
  });
}
