/** What a line of a log file starts as: a file action in the form that every engine writes, or anything else. */
export const OTHER_LINE = 0;
export const ADD_LINE = 1;
export const REMOVE_LINE = 2;

/** The lines of a log file in columns: line i is [starts[i], ends[i]), without its line end, surrounding blanks or byte order mark, and of kind `kinds[i]`. */
export interface ActionLines {
  readonly count: number;
  readonly kinds: Uint8Array;
  readonly starts: Uint32Array;
  readonly ends: Uint32Array;
}

const NEWLINE = 0x0a;
const OPEN_BRACE = 0x7b;
const ADD = Uint8Array.from('{"add":{', (c) => c.charCodeAt(0));
const REMOVE = Uint8Array.from('{"remove":{', (c) => c.charCodeAt(0));

/**
 * Finds the lines of a log file without decoding them. A line of kind `ADD_LINE` or `REMOVE_LINE` starts with exactly `{"add":{` or `{"remove":{`; whether it is whole
 * and holds nothing else is for who reads it. Blank lines, `\r` before `\n`, a byte order mark and a missing last newline are passed over.
 */
export function scanActionSpans(bytes: Uint8Array): ActionLines {
  let capacity = 64 + Math.floor(bytes.length / 256);
  let kinds = new Uint8Array(capacity);
  let starts = new Uint32Array(capacity);
  let ends = new Uint32Array(capacity);
  let count = 0;
  let at = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? 3 : 0;
  while (at < bytes.length) {
    const newline = bytes.indexOf(NEWLINE, at);
    const next = newline < 0 ? bytes.length : newline;
    let start = at;
    let end = next;
    at = next + 1;
    while (start < end && isBlank(bytes[start]!)) start++;
    while (end > start && isBlank(bytes[end - 1]!)) end--;
    if (start === end) continue;
    if (count === capacity) {
      capacity *= 2;
      kinds = grown(kinds, new Uint8Array(capacity));
      starts = grown(starts, new Uint32Array(capacity));
      ends = grown(ends, new Uint32Array(capacity));
    }
    kinds[count] = lineKind(bytes, start, end);
    starts[count] = start;
    ends[count] = end;
    count++;
  }
  return { count, kinds, starts, ends };
}

function isBlank(byte: number): boolean {
  return byte === 0x20 || byte === 0x09 || byte === 0x0d;
}

function lineKind(bytes: Uint8Array, start: number, end: number): number {
  if (bytes[start] !== OPEN_BRACE) return OTHER_LINE;
  if (startsWith(bytes, start, end, ADD)) return ADD_LINE;
  return startsWith(bytes, start, end, REMOVE) ? REMOVE_LINE : OTHER_LINE;
}

function startsWith(bytes: Uint8Array, start: number, end: number, word: Uint8Array): boolean {
  if (end - start < word.length) return false;
  for (let i = 0; i < word.length; i++) if (bytes[start + i] !== word[i]) return false;
  return true;
}

function grown<T extends Uint8Array | Uint32Array>(from: T, to: T): T {
  to.set(from);
  return to;
}
