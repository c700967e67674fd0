import { decodeUtf8, encodeUtf8 } from '../parquet/flat/byte-text.js';
import type { ColumnTokens, StatisticsSource } from './statistics.js';

/** Where the statistics of rows are: bytes of JSON text. */
export interface StatsSpans {
  readonly rows: number;
  /** The span of a row, or undefined where it has none. The same object may be given each time, so it stays valid until the next call alone. */
  span(row: number): StatsSpan | undefined;
  /** The number of records of a row where that is known without resolving its span. */
  count?(row: number): number | undefined;
}

export interface StatsSpan {
  bytes: Uint8Array;
  start: number;
  end: number;
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN = 0x7b;
const CLOSE = 0x7d;

/** Statistics that are JSON text. Each column asked for costs a pass over the bytes of all rows; its tokens are kept. */
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
        column = lazyColumn(spans, path);
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

export const NO_COUNT = -1;
const MIN = 0;
const MAX = 1;
const NULLS = 2;
const SECTIONS = ['minValues', 'maxValues', 'nullCount'].map(encodeUtf8);
const NUM_RECORDS = encodeUtf8('numRecords');

function scanCounts(spans: StatsSpans): Float64Array {
  const counts = new Float64Array(spans.rows).fill(NO_COUNT);
  for (let row = 0; row < spans.rows; row++) {
    const known = spans.count?.(row);
    if (known !== undefined) {
      counts[row] = known;
      continue;
    }
    const span = spans.span(row);
    if (span === undefined) continue;
    const { bytes, start, end } = span;
    let at = blanks(bytes, start, end);
    if (bytes[at++] !== OPEN) continue;
    for (;;) {
      const name = nextName(bytes, at, end);
      if (name < 0) break;
      const value = cursor;
      if (sameName(bytes, name, NUM_RECORDS)) {
        counts[row] = readCount(bytes, value, end);
        break;
      }
      at = skipValue(bytes, value, end);
      if (at < 0) break;
      at = blanks(bytes, at, end);
      if (bytes[at] !== COMMA) break;
      at++;
    }
  }
  return counts;
}

/** The tokens of one column; bounds and counts of nulls are two passes, each made when first asked for. */
function lazyColumn(spans: StatsSpans, path: readonly string[]): ColumnTokens {
  const names = path.map((name) => encodeUtf8(JSON.stringify(name).slice(1, -1)));
  let bounds: TokenTable | undefined;
  let nulls: Float64Array | undefined;
  return {
    min(row) {
      bounds ??= scanBounds(spans, names);
      return bounds.token(MIN, row);
    },
    max(row) {
      bounds ??= scanBounds(spans, names);
      return bounds.token(MAX, row);
    },
    nullCount(row) {
      nulls ??= scanNulls(spans, names);
      const count = nulls[row] as number;
      return count >= 0 ? count : undefined;
    },
  };
}

/** Tokens copied side by side. */
class TokenTable {
  readonly #starts: readonly [Int32Array, Int32Array];
  readonly #lengths: readonly [Int32Array, Int32Array];
  #slab: Uint8Array;
  #used = 0;
  #ascii = true;
  #text: string | undefined;

  constructor(rows: number) {
    this.#starts = [new Int32Array(rows), new Int32Array(rows)];
    this.#lengths = [new Int32Array(rows), new Int32Array(rows)];
    this.#slab = new Uint8Array(Math.max(64, rows * 16));
  }

  put(side: 0 | 1, row: number, bytes: Uint8Array, start: number, end: number): void {
    const length = end - start;
    if (this.#used + length > this.#slab.length) this.#slab = doubled(this.#slab, this.#used + length);
    const slab = this.#slab;
    let to = this.#used;
    let all = 0;
    for (let i = start; i < end; i++) {
      const byte = bytes[i] as number;
      all |= byte;
      slab[to++] = byte;
    }
    if (all > 127) this.#ascii = false;
    this.#starts[side][row] = this.#used;
    this.#lengths[side][row] = length;
    this.#used = to;
  }

  token(side: 0 | 1, row: number): string | undefined {
    const length = this.#lengths[side][row] as number;
    if (length === 0) return undefined;
    const start = this.#starts[side][row] as number;
    if (!this.#ascii) return decodeUtf8(this.#slab, start, start + length);
    // Cutting one long string is several times cheaper than decoding each token.
    this.#text ??= Buffer.from(this.#slab.buffer, 0, this.#used).toString('latin1');
    return this.#text.substring(start, start + length);
  }
}

function scanBounds(spans: StatsSpans, names: readonly Uint8Array[]): TokenTable {
  const { rows } = spans;
  const table = new TokenTable(rows);
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
      if (section === MIN || section === MAX) {
        tokenStart = -1;
        at = scanSection(bytes, value, end, names, 0);
        if (tokenStart >= 0 && bytes[tokenStart] !== NULL)
          table.put(section, row, bytes, tokenStart, tokenEnd);
        if (++found === 2) break;
      } else {
        at = skipValue(bytes, value, end);
      }
      if (at < 0) break;
      at = blanks(bytes, at, end);
      if (bytes[at] !== COMMA) break;
      at++;
    }
  }
  return table;
}

function scanNulls(spans: StatsSpans, names: readonly Uint8Array[]): Float64Array {
  const nulls = new Float64Array(spans.rows).fill(NO_COUNT);
  for (let row = 0; row < spans.rows; row++) {
    const span = spans.span(row);
    if (span === undefined) continue;
    const { bytes, end } = span;
    let at = blanks(bytes, span.start, end);
    if (bytes[at++] !== OPEN) continue;
    for (;;) {
      const name = nextName(bytes, at, end);
      if (name < 0) break;
      const value = cursor;
      if (sectionOf(bytes, name) === NULLS) {
        tokenStart = -1;
        scanSection(bytes, value, end, names, 0);
        if (tokenStart >= 0) nulls[row] = readCount(bytes, tokenStart, tokenEnd);
        break;
      }
      at = skipValue(bytes, value, end);
      if (at < 0) break;
      at = blanks(bytes, at, end);
      if (bytes[at] !== COMMA) break;
      at++;
    }
  }
  return nulls;
}

/** The first letter of `null`, which no other value starts with. */
const NULL = 0x6e;
const MAX_DIGITS = 15;

/** The count whose digits start at `start` and end with its member, or `NO_COUNT` for anything but an integer that a double holds. */
export function readCount(bytes: Uint8Array, start: number, end: number): number {
  let value = 0;
  let at = start;
  for (; at < end; at++) {
    const digit = (bytes[at] as number) - 0x30;
    if (digit < 0 || digit > 9) break;
    value = value * 10 + digit;
  }
  if (at === start || at - start > MAX_DIGITS) return NO_COUNT;
  const next = bytes[at];
  return at === end || next === COMMA || next === CLOSE || (next as number) <= 0x20 ? value : NO_COUNT;
}

/** The value that `scanSection` found, and where the value of the name that `nextName` found starts; module state so that no pass allocates. */
let tokenStart = -1;
let tokenEnd = -1;
let cursor = -1;
let nameEnd = -1;
let nameEscaped = false;

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
  if (nameEnd - name === 9) {
    const section = bytes[name] === NULL ? NULLS : bytes[name + 1] === 0x69 ? MIN : MAX;
    if (sameBytes(bytes, name, SECTIONS[section] as Uint8Array)) return section;
  }
  return -1;
}

/** Finds the next member's name at `at`; gives where its text starts, and leaves its end in `nameEnd` and its value's start in `cursor`. */
function nextName(bytes: Uint8Array, at: number, end: number): number {
  let i = bytes[at] === QUOTE ? at : blanks(bytes, at, end);
  if (bytes[i] !== QUOTE) return -1;
  const start = ++i;
  nameEscaped = false;
  for (; i < end; i++) {
    const byte = bytes[i];
    if (byte === QUOTE) break;
    if (byte === BACKSLASH) {
      nameEscaped = true;
      i++;
    }
  }
  nameEnd = i++;
  if (bytes[i] !== COLON) i = blanks(bytes, i, end);
  if (bytes[i] !== COLON) return -1;
  cursor = blanks(bytes, i + 1, end);
  return cursor < end ? start : -1;
}

/** True where the name that `nextName` just found is `wanted`, both as JSON text without quotes. */
function sameName(bytes: Uint8Array, start: number, wanted: Uint8Array): boolean {
  if (nameEnd - start === wanted.length && sameBytes(bytes, start, wanted)) return true;
  // Escapes may be spelled in more than one way.
  return nameEscaped && sameText(decodeUtf8(bytes, start, nameEnd), decodeUtf8(wanted, 0, wanted.length));
}

function sameBytes(bytes: Uint8Array, start: number, wanted: Uint8Array): boolean {
  for (let i = wanted.length - 1; i >= 0; i--) if (bytes[start + i] !== wanted[i]) return false;
  return true;
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

function doubled(from: Uint8Array, needed: number): Uint8Array<ArrayBuffer> {
  const to = new Uint8Array(Math.max(from.length * 2, needed));
  to.set(from);
  return to;
}
