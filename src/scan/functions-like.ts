import { TableError } from '../errors.js';

/** A LIKE pattern made ready: the test, and the literal text that every match starts with. */
export interface LikePattern {
  readonly test: (text: string) => boolean;
  readonly prefix: string;
  /** Whether every text with the prefix matches (`abc%`). */
  readonly prefixOnly: boolean;
  /** Whether only the prefix itself matches (no wildcard). */
  readonly exact: boolean;
}

const ONE = -1;
const RUN = -2;

/**
 * Compiles a LIKE pattern: `%` any run, `_` one character (code point), newlines included. `escapeWith` may stand before `%`, `_` and itself alone, as in
 * Spark. Matching takes at most pattern times text steps. Throws INVALID_PREDICATE for an escape before anything else or at the end.
 */
export function compileLike(pattern: string, escapeWith: string): LikePattern {
  const tokens = tokensOf(pattern, escapeWith);
  const wild = tokens.findIndex((token) => token < 0);
  const prefix = String.fromCharCode(...(wild < 0 ? tokens : tokens.slice(0, wild)));
  if (wild < 0) return { test: (text) => text === prefix, prefix, prefixOnly: false, exact: true };
  if (tokens.length === wild + 1 && tokens[wild] === RUN) {
    return { test: (text) => text.startsWith(prefix), prefix, prefixOnly: true, exact: false };
  }
  return { test: (text) => matches(tokens, text), prefix, prefixOnly: false, exact: false };
}

/** UTF-16 units, or ONE, or RUN (never two in a row). */
function tokensOf(pattern: string, escapeWith: string): number[] {
  const tokens: number[] = [];
  const characters = [...pattern];
  for (let i = 0; i < characters.length; i++) {
    let character = characters[i]!;
    if (character === escapeWith) {
      const next = characters[++i];
      if (next !== '%' && next !== '_' && next !== escapeWith) throw badEscape(pattern, escapeWith, next);
      character = next;
    } else if (character === '_') {
      tokens.push(ONE);
      continue;
    } else if (character === '%') {
      if (tokens.at(-1) !== RUN) tokens.push(RUN);
      continue;
    }
    for (let unit = 0; unit < character.length; unit++) tokens.push(character.charCodeAt(unit));
  }
  return tokens;
}

function badEscape(pattern: string, escapeWith: string, next: string | undefined): TableError {
  const where = next === undefined ? 'at its end' : `before ${JSON.stringify(next)}`;
  const message = `the LIKE pattern ${JSON.stringify(pattern)} has its escape ${JSON.stringify(escapeWith)} ${where}`;
  return new TableError('INVALID_PREDICATE', `${message}; it may stand before %, _ and itself`, {
    pattern,
    escape: escapeWith,
  });
}

/** Greedy, going back to the last run alone: an earlier run never needs to take more once a later one was reached. */
function matches(tokens: readonly number[], text: string): boolean {
  let at = 0;
  let token = 0;
  let runToken = -1;
  let runAt = 0;
  while (at < text.length) {
    const expected = tokens[token];
    if (expected === RUN) {
      runToken = token++;
      runAt = at;
    } else if (expected === ONE) {
      at += width(text, at);
      token++;
    } else if (expected === text.charCodeAt(at)) {
      at++;
      token++;
    } else if (runToken >= 0) {
      runAt += width(text, runAt);
      at = runAt;
      token = runToken + 1;
    } else {
      return false;
    }
  }
  while (tokens[token] === RUN) token++;
  return token === tokens.length;
}

function width(text: string, at: number): number {
  const point = text.codePointAt(at)!;
  return point > 0xffff ? 2 : 1;
}
