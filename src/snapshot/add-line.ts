import { HASH_SEED } from '../parquet/flat/byte-text.js';

/**
 * What opening a table needs from the line of an `add` or `remove`, as spans of the line's bytes. A start of -1 says that the member is missing or null.
 * Spans of strings leave the quotes out.
 */
export interface FileLine {
  pathStart: number;
  pathEnd: number;
  /** The path has backslashes and must be decoded before use. */
  pathEscaped: boolean;
  /** The hash of the path's bytes as they stand. */
  pathHash: number;
  size: number;
  modificationTime: number;
  /** The object, with its braces. */
  partitionStart: number;
  partitionEnd: number;
  vectorStart: number;
  vectorEnd: number;
  statsStart: number;
  statsEnd: number;
  /** Where the line's last brace ends. */
  end: number;
  /** The line has members beside those above and `dataChange`. */
  extra: boolean;
}

export function emptyFileLine(): FileLine {
  return {
    pathStart: -1,
    pathEnd: -1,
    pathEscaped: false,
    pathHash: 0,
    size: 0,
    modificationTime: 0,
    partitionStart: -1,
    partitionEnd: -1,
    vectorStart: -1,
    vectorEnd: -1,
    statsStart: -1,
    statsEnd: -1,
    end: -1,
    extra: false,
  };
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN = 0x7b;
const CLOSE = 0x7d;
const NEWLINE = 0x0a;
/** The first letter of `null`, which no other value starts with. */
const NULL = 0x6e;
const MAX_DIGITS = 15;

/** Where the skipped value ended; module state so that skipping allocates nothing. */
let at = 0;

/**
 * Scans the file action whose object opens right before `start`; `bytes` may go on after its line, until `end`. False for anything out of the ordinary (blanks, numbers with a sign
 * or an exponent, a torn line, other members beside the action): the caller then parses the line whole, which decides what is wrong with it, if anything.
 */
export function scanFileLine(bytes: Uint8Array, start: number, end: number, line: FileLine): boolean {
  line.pathStart = line.partitionStart = line.vectorStart = line.statsStart = -1;
  line.pathEscaped = false;
  line.extra = false;
  line.size = line.modificationTime = 0;
  at = start;
  for (;;) {
    if (bytes[at] !== QUOTE) return false;
    const nameStart = at + 1;
    let nameEnd = nameStart;
    while (nameEnd < end && bytes[nameEnd] !== QUOTE) if (bytes[nameEnd++] === BACKSLASH) return false;
    if (bytes[nameEnd + 1] !== COLON) return false;
    at = nameEnd + 2;
    const valueStart = at;
    const first = bytes[at] as number;
    switch (nameEnd - nameStart) {
      case 4:
        if (bytes[nameStart] === 0x70 && is(bytes, nameStart, PATH)) {
          if (!scanPath(bytes, end, line)) return false;
        } else if (bytes[nameStart] === 0x73 && is(bytes, nameStart, SIZE)) {
          const value = scanCount(bytes, end);
          if (value < 0) return false;
          line.size = value;
        } else if (!skipOther(bytes, end, line)) return false;
        break;
      case 5:
        if (first === QUOTE && bytes[at + 1] === OPEN ? !skipObjectText(bytes, end) : !skip(bytes, end))
          return false;
        if (is(bytes, nameStart, STATS)) {
          if (first === QUOTE) {
            line.statsStart = valueStart + 1;
            line.statsEnd = at - 1;
          } else if (first !== NULL) return false;
        } else if (first !== NULL) line.extra = true;
        break;
      case 14:
        if (!skip(bytes, end)) return false;
        if (is(bytes, nameStart, VECTOR)) {
          if (first === OPEN) {
            line.vectorStart = valueStart;
            line.vectorEnd = at;
            line.extra = true;
          } else if (first !== NULL) return false;
        } else if (first !== NULL) line.extra = true;
        break;
      case 15:
        if (!skip(bytes, end)) return false;
        if (is(bytes, nameStart, PARTITION)) {
          if (first === OPEN) {
            line.partitionStart = valueStart;
            line.partitionEnd = at;
          } else if (first !== NULL) return false;
        } else if (first !== NULL) line.extra = true;
        break;
      case 16:
        if (is(bytes, nameStart, TIME)) {
          const value = scanCount(bytes, end);
          if (value < 0) return false;
          line.modificationTime = value;
        } else if (!skipOther(bytes, end, line)) return false;
        break;
      case 10:
        if (is(bytes, nameStart, CHANGE)) {
          if (!skip(bytes, end)) return false;
        } else if (!skipOther(bytes, end, line)) return false;
        break;
      default:
        if (!skipOther(bytes, end, line)) return false;
    }
    const next = bytes[at++];
    if (next === COMMA) continue;
    line.end = at + 1;
    return next === CLOSE && bytes[at] === CLOSE && isLineEnd(bytes, at + 1, end) && line.pathStart >= 0;
  }
}

function isLineEnd(bytes: Uint8Array, at: number, end: number): boolean {
  return (
    at === end ||
    bytes[at] === NEWLINE ||
    (bytes[at] === 0x0d && (at + 1 === end || bytes[at + 1] === NEWLINE))
  );
}

function ascii(text: string): Uint8Array {
  return Uint8Array.from(text, (char) => char.charCodeAt(0));
}
const PATH = ascii('path');
const SIZE = ascii('size');
const STATS = ascii('stats');
const VECTOR = ascii('deletionVector');
const PARTITION = ascii('partitionValues');
const TIME = ascii('modificationTime');
const CHANGE = ascii('dataChange');

function skipOther(bytes: Uint8Array, end: number, line: FileLine): boolean {
  if (bytes[at] !== NULL) line.extra = true;
  return skip(bytes, end);
}

function is(bytes: Uint8Array, start: number, name: Uint8Array): boolean {
  for (let i = 0; i < name.length; i++) if (bytes[start + i] !== name[i]) return false;
  return true;
}

function scanPath(bytes: Uint8Array, end: number, line: FileLine): boolean {
  if (bytes[at] !== QUOTE) return false;
  let hash = HASH_SEED;
  let i = ++at;
  line.pathStart = i;
  for (;;) {
    if (i >= end) return false;
    const byte = bytes[i] as number;
    if (byte === QUOTE) break;
    if (byte === BACKSLASH) {
      line.pathEscaped = true;
      i++;
    }
    hash = Math.imul(hash ^ byte, 16777619);
    i++;
  }
  line.pathEnd = i;
  line.pathHash = hash;
  at = i + 1;
  return true;
}

/** A non-negative integer that a double holds, or -1. */
function scanCount(bytes: Uint8Array, end: number): number {
  let value = 0;
  const start = at;
  while (at < end) {
    const digit = (bytes[at] as number) - 0x30;
    if (digit < 0 || digit > 9) break;
    value = value * 10 + digit;
    at++;
  }
  return at === start || at - start > MAX_DIGITS ? -1 : value;
}

/** Passes over one JSON value without blanks around it. False when it does not end within the line. */
function skip(bytes: Uint8Array, end: number): boolean {
  const first = bytes[at] as number;
  if (first === QUOTE) return skipString(bytes, end);
  if (first === OPEN || first === 0x5b) {
    let depth = 0;
    while (at < end) {
      const byte = bytes[at] as number;
      if (byte === QUOTE) {
        if (!skipString(bytes, end)) return false;
        continue;
      }
      at++;
      if (byte === OPEN || byte === 0x5b) depth++;
      else if ((byte === CLOSE || byte === 0x5d) && --depth === 0) return true;
    }
    return false;
  }
  const start = at;
  while (at < end) {
    const byte = bytes[at] as number;
    if (byte === COMMA || byte === CLOSE) break;
    if (byte <= 0x20 || byte === QUOTE) return false;
    at++;
  }
  return at > start;
}

function skipString(bytes: Uint8Array, end: number): boolean {
  let i = at + 1;
  while (i < end) {
    const byte = bytes[i] as number;
    if (byte === QUOTE) {
      at = i + 1;
      return true;
    }
    if (byte === NEWLINE) return false;
    i += byte === BACKSLASH ? 2 : 1;
  }
  return false;
}

const OBJECT_END = Buffer.from('}"', 'latin1');
let searched: Buffer = OBJECT_END;

/**
 * Passes over a string that holds a JSON object. Quotes within a string follow a backslash, so the first one that follows a brace ends it; the search
 * for both is native, and statistics are most of the bytes of a log.
 */
function skipObjectText(bytes: Uint8Array, end: number): boolean {
  if (
    searched.buffer !== bytes.buffer ||
    searched.byteOffset !== bytes.byteOffset ||
    searched.length !== bytes.length
  ) {
    searched = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }
  const found = searched.indexOf(OBJECT_END, at + 2);
  if (found < 0 || found + 2 > end) return skipString(bytes, end);
  at = found + 2;
  return true;
}

/** Forgets the bytes searched last, which would otherwise live until the next search. */
export function endScan(): void {
  searched = OBJECT_END;
}

/**
 * Calls `onEntry` for each entry of a `partitionValues` object that `scanFileLine` found: spans of key and value without quotes; a value start of -1 is null.
 * False for entries with escapes or values that are no strings, to be read by parsing instead.
 */
export function scanPartitionValues(
  bytes: Uint8Array,
  start: number,
  end: number,
  onEntry: (keyStart: number, keyEnd: number, valueStart: number, valueEnd: number) => void,
): boolean {
  let i = start + 1;
  if (bytes[i] === CLOSE) return i + 1 === end;
  for (;;) {
    if (bytes[i] !== QUOTE) return false;
    const keyStart = ++i;
    while (i < end && bytes[i] !== QUOTE) if (bytes[i++] === BACKSLASH) return false;
    const keyEnd = i;
    if (bytes[i + 1] !== COLON) return false;
    i += 2;
    if (bytes[i] === QUOTE) {
      const valueStart = ++i;
      while (i < end && bytes[i] !== QUOTE) if (bytes[i++] === BACKSLASH) return false;
      onEntry(keyStart, keyEnd, valueStart, i);
      i++;
    } else if (bytes[i] === 0x6e && bytes[i + 1] === 0x75 && bytes[i + 2] === 0x6c && bytes[i + 3] === 0x6c) {
      onEntry(keyStart, keyEnd, -1, -1);
      i += 4;
    } else return false;
    const next = bytes[i++];
    if (next === COMMA) continue;
    return next === CLOSE && i === end;
  }
}
