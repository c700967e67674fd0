import { decodeUtf8, encodeUtf8 } from '../parquet/flat/byte-text.js';
import type { ColumnTokens, StatisticsSource } from './statistics.js';

/** Where the statistics of a row are: bytes of JSON text, or of the content of a JSON string that holds it. */
export interface StatsSpans {
  readonly rows: number;
  /** Undefined where the row has none. The span stays valid until the next call. */
  span(row: number): StatsSpan | undefined;
}

export interface StatsSpan {
  readonly bytes: Uint8Array;
  readonly start: number;
  readonly end: number;
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN = 0x7b;
const CLOSE = 0x7d;

/** Statistics that are JSON text. Each column asked for costs one pass over the bytes of all rows; its tokens are kept. */
export function jsonStatistics(spans: StatsSpans): StatisticsSource {
  const columns = new Map<string, ColumnTokens>();
  let counts: Float64Array | undefined;
  return {
    statsText(row) {
      const found = spans.span(row);
      return found && decodeUtf8(found.bytes, found.start, found.end);
    },
    column(path) {
      const key = JSON.stringify(path);
      let column = columns.get(key);
      if (column === undefined) {
        column = scanColumn(spans, path);
        columns.set(key, column);
      }
      return column;
    },
    numRecords(row) {
      counts ??= scanCounts(spans);
      const count = counts[row] as number;
      return count >= 0 ? count : undefined;
    },
  };
}

const NO_COUNT = -1;
const MIN = 0;
const MAX = 1;
const NULLS = 2;
const SECTIONS = ['minValues', 'maxValues', 'nullCount'].map(encodeUtf8);
const NUM_RECORDS = encodeUtf8('numRecords');

function scanCounts(spans: StatsSpans): Float64Array {
  const counts = new Float64Array(spans.rows).fill(NO_COUNT);
  for (let row = 0; row < spans.rows; row++) {
    const span = spans.span(row);
    if (span === undefined) continue;
    const { bytes, start, end } = span;
    let at = blanks(bytes, start, end);
    if (bytes[at++] !== OPEN) continue;
    for (;;) {
      const name = nextName(bytes, at, end);
      if (name < 0) break;
      const value = cursor;
      const wanted = sameName(bytes, name, NUM_RECORDS);
      at = skipValue(bytes, value, end);
      if (at < 0) break;
      if (wanted) {
        const count = Number(decodeUtf8(bytes, value, at));
        if (Number.isSafeInteger(count) && count >= 0) counts[row] = count;
        break;
      }
      at = blanks(bytes, at, end);
      if (bytes[at] !== COMMA) break;
      at++;
    }
  }
  return counts;
}

/** Tokens copied side by side: starts and lengths by row, for minimum and maximum. */
function scanColumn(spans: StatsSpans, path: readonly string[]): ColumnTokens {
  const { rows } = spans;
  const names = path.map((name) => encodeUtf8(JSON.stringify(name).slice(1, -1)));
  const starts = [new Int32Array(rows), new Int32Array(rows)] as const;
  const lengths = [new Int32Array(rows), new Int32Array(rows)] as const;
  const nulls = new Float64Array(rows).fill(NO_COUNT);
  let slab = new Uint8Array(Math.max(64, rows * 16));
  let used = 0;
  for (let row = 0; row < rows; row++) {
    const span = spans.span(row);
    if (span === undefined) continue;
    const { bytes, end } = span;
    let at = blanks(bytes, span.start, end);
    if (bytes[at++] !== OPEN) continue;
    let found = 0;
    for (;;) {
      const name = nextName(bytes, at, end);
      if (name < 0) break;
      const value = cursor;
      const section = sectionOf(bytes, name);
      if (section < 0) {
        at = skipValue(bytes, value, end);
      } else {
        tokenStart = -1;
        at = scanSection(bytes, value, end, names, 0);
        if (tokenStart >= 0) {
          const length = tokenEnd - tokenStart;
          if (section === NULLS) nulls[row] = smallCount(bytes, tokenStart, tokenEnd);
          else if (bytes[tokenStart] !== 0x6e) {
            if (used + length > slab.length) slab = doubled(slab, used + length);
            for (let i = 0; i < length; i++) slab[used + i] = bytes[tokenStart + i] as number;
            starts[section as 0 | 1][row] = used;
            lengths[section as 0 | 1][row] = length;
            used += length;
          }
        }
        if (++found === 3) break;
      }
      if (at < 0) break;
      at = blanks(bytes, at, end);
      if (bytes[at] !== COMMA) break;
      at++;
    }
  }
  const token = (side: 0 | 1, row: number): string | undefined => {
    const length = lengths[side][row] as number;
    const start = starts[side][row] as number;
    return length === 0 ? undefined : decodeUtf8(slab, start, start + length);
  };
  return {
    min: (row) => token(MIN, row),
    max: (row) => token(MAX, row),
    nullCount(row) {
      const count = nulls[row] as number;
      return count >= 0 ? count : undefined;
    },
  };
}

/** The value that `scanSection` found, and where the value of the name that `nextName` found starts; module state so that no pass allocates. */
let tokenStart = -1;
let tokenEnd = -1;
let cursor = -1;
let nameEnd = -1;

/** Walks one section to its end, noting the value at the path. Returns the end, or -1 where it is no sound JSON. */
function scanSection(
  bytes: Uint8Array,
  start: number,
  end: number,
  path: readonly Uint8Array[],
  depth: number,
): number {
  let at = start;
  if (bytes[at] !== OPEN) return skipValue(bytes, at, end);
  at = blanks(bytes, at + 1, end);
  if (bytes[at] === CLOSE) return at + 1;
  const wanted = path[depth] as Uint8Array;
  for (;;) {
    const name = nextName(bytes, at, end);
    if (name < 0) return -1;
    const value = cursor;
    if (!sameName(bytes, name, wanted)) at = skipValue(bytes, value, end);
    else if (depth + 1 < path.length) at = scanSection(bytes, value, end, path, depth + 1);
    else {
      at = skipValue(bytes, value, end);
      // An object here is a struct's; it has no minimum of its own.
      if (bytes[value] !== OPEN) {
        tokenStart = value;
        tokenEnd = at;
      }
    }
    if (at < 0) return -1;
    at = blanks(bytes, at, end);
    if (bytes[at] === CLOSE) return at + 1;
    if (bytes[at] !== COMMA) return -1;
    at++;
  }
}

function sectionOf(bytes: Uint8Array, name: number): number {
  for (let i = 0; i < 3; i++) if (sameName(bytes, name, SECTIONS[i] as Uint8Array)) return i;
  return -1;
}

/** Finds the next member's name at `at`; gives where its text starts, and leaves its end in `nameEnd` and its value's start in `cursor`. */
function nextName(bytes: Uint8Array, at: number, end: number): number {
  let i = blanks(bytes, at, end);
  if (bytes[i] !== QUOTE) return -1;
  const start = ++i;
  while (i < end && bytes[i] !== QUOTE) i += bytes[i] === BACKSLASH ? 2 : 1;
  nameEnd = i;
  i = blanks(bytes, i + 1, end);
  if (bytes[i] !== COLON) return -1;
  cursor = blanks(bytes, i + 1, end);
  return cursor < end ? start : -1;
}

/** True where the name that `nextName` just found is `wanted`, both as JSON text without quotes. */
function sameName(bytes: Uint8Array, start: number, wanted: Uint8Array): boolean {
  const length = nameEnd - start;
  if (length === wanted.length) {
    let i = 0;
    while (i < length && bytes[start + i] === wanted[i]) i++;
    if (i === length) return true;
  }
  for (let i = start; i < nameEnd; i++) {
    // Escapes may be spelled in more than one way.
    if (bytes[i] === BACKSLASH)
      return sameText(decodeUtf8(bytes, start, nameEnd), decodeUtf8(wanted, 0, wanted.length));
  }
  return false;
}

function sameText(a: string, b: string): boolean {
  try {
    return JSON.parse(`"${a}"`) === JSON.parse(`"${b}"`);
  } catch {
    return false;
  }
}

function blanks(bytes: Uint8Array, at: number, end: number): number {
  let i = at;
  while (i < end && (bytes[i] as number) <= 0x20) i++;
  return i;
}

function skipValue(bytes: Uint8Array, start: number, end: number): number {
  let i = start;
  const first = bytes[i];
  if (first === QUOTE) return skipText(bytes, i, end);
  if (first === OPEN || first === 0x5b) {
    let depth = 0;
    while (i < end) {
      const byte = bytes[i] as number;
      if (byte === QUOTE) {
        i = skipText(bytes, i, end);
        if (i < 0) return -1;
        continue;
      }
      i++;
      if (byte === OPEN || byte === 0x5b) depth++;
      else if ((byte === CLOSE || byte === 0x5d) && --depth === 0) return i;
    }
    return -1;
  }
  while (i < end) {
    const byte = bytes[i] as number;
    if (byte === COMMA || byte === CLOSE || byte <= 0x20) break;
    i++;
  }
  return i;
}

function skipText(bytes: Uint8Array, start: number, end: number): number {
  for (let i = start + 1; i < end; i++) {
    if (bytes[i] === QUOTE) return i + 1;
    if (bytes[i] === BACKSLASH) i++;
  }
  return -1;
}

function smallCount(bytes: Uint8Array, start: number, end: number): number {
  const count = Number(decodeUtf8(bytes, start, end));
  return Number.isSafeInteger(count) && count >= 0 ? count : NO_COUNT;
}

function doubled(from: Uint8Array, needed: number): Uint8Array<ArrayBuffer> {
  const to = new Uint8Array(Math.max(from.length * 2, needed));
  to.set(from);
  return to;
}

/** Resolves the escapes of JSON strings into one buffer that is used again for each. */
export class Unescaper {
  #buffer = new Uint8Array(1024);

  /** The text of the string's content [start, end), valid until the next call; undefined for escapes that JSON does not have. */
  resolve(bytes: Uint8Array, start: number, end: number): StatsSpan | undefined {
    if (this.#buffer.length < end - start) this.#buffer = new Uint8Array((end - start) * 2);
    const out = this.#buffer;
    let to = 0;
    for (let i = start; i < end; i++) {
      const byte = bytes[i] as number;
      if (byte !== BACKSLASH) {
        out[to++] = byte;
        continue;
      }
      const escaped = bytes[++i];
      if (escaped === QUOTE || escaped === BACKSLASH || escaped === 0x2f) out[to++] = escaped;
      else return this.#slow(bytes, start, end);
    }
    return { bytes: out, start: 0, end: to };
  }

  #slow(bytes: Uint8Array, start: number, end: number): StatsSpan | undefined {
    try {
      const text = encodeUtf8(JSON.parse(`"${decodeUtf8(bytes, start, end)}"`) as string);
      return { bytes: text, start: 0, end: text.length };
    } catch {
      return undefined;
    }
  }
}
