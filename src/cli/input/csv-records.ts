import { TableError } from '../../errors.js';
import { type ByteInput, piecesOf } from './bytes.js';
import type { OnBytes } from './source.js';

/** One record of a CSV file. */
export interface CsvRecord {
  /** NULL for an empty cell without quotes, and for the text that stands for NULL. */
  readonly cells: readonly (string | null)[];
  /** The line it begins on, counted from 1. */
  readonly line: number;
}

export interface CsvForm {
  /** One character. */
  readonly delimiter: string;
  readonly nullText: string | undefined;
}

/** A record that is longer is a quote that was never closed. */
const LONGEST_RECORD = 64 << 20;
const LF = 10;
const CR = 13;
const QUOTE = 34;

/**
 * The records of a CSV file (RFC 4180, with LF or CRLF), those of a piece of the file at once; an empty line is a record of one NULL. Throws `INVALID_INPUT`
 * with file and line for what is not CSV or not UTF-8.
 */
export async function* csvRecords(
  bytes: ByteInput,
  form: CsvForm,
  onBytes: OnBytes,
  signal: AbortSignal,
): AsyncGenerator<CsvRecord[]> {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  const parser = new CsvParser(bytes.name, form);
  const decode = (piece?: Uint8Array): string => {
    try {
      return decoder.decode(piece, { stream: piece !== undefined });
    } catch (error) {
      throw new TableError('INVALID_INPUT', `${bytes.name} is not UTF-8 text.`, { file: bytes.name }, error);
    }
  };
  for await (const piece of piecesOf(bytes, onBytes, signal)) yield parser.push(decode(piece), false);
  yield parser.push(decode(), true);
}

/** What is known of a field: where it ends, or that its end has not come yet. */
type Field = { readonly value: string | null; readonly end: number } | undefined;

/** Cuts text into records; what is unfinished is kept until more comes. */
export class CsvParser {
  readonly #file: string;
  readonly #form: CsvForm;
  readonly #delimiter: number;
  #rest = '';
  #line = 1;

  constructor(file: string, form: CsvForm) {
    this.#file = file;
    this.#form = form;
    this.#delimiter = form.delimiter.charCodeAt(0);
  }

  /** The records that end in the text so far. */
  push(piece: string, isEnd: boolean): CsvRecord[] {
    const text = this.#rest + piece;
    const records: CsvRecord[] = [];
    let start = 0;
    while (start < text.length) {
      const next = this.#record(text, start, isEnd, records);
      if (next === undefined) break;
      start = next;
    }
    this.#rest = text.slice(start);
    if (this.#rest.length > LONGEST_RECORD)
      throw this.#fault(`a record of more than ${LONGEST_RECORD} characters; is a quote not closed?`);
    return records;
  }

  /** Takes one record; gives where the next one begins, or undefined where its end has not come. */
  #record(text: string, start: number, isEnd: boolean, into: CsvRecord[]): number | undefined {
    const cells: (string | null)[] = [];
    for (let at = start; ; ) {
      const field =
        text.charCodeAt(at) === QUOTE ? this.#quoted(text, at, isEnd) : this.#plain(text, at, isEnd);
      if (field === undefined) return undefined;
      cells.push(field.value);
      if (text.charCodeAt(field.end) === this.#delimiter) {
        at = field.end + 1;
        // A delimiter at the very end has one more empty cell behind it.
        if (at < text.length || isEnd) continue;
        return undefined;
      }
      const next = text.charCodeAt(field.end) === CR ? field.end + 2 : field.end + 1;
      into.push({ cells, line: this.#line });
      this.#line += linesIn(text, start, Math.min(next, text.length));
      return next;
    }
  }

  #plain(text: string, start: number, isEnd: boolean): Field {
    let end = start;
    for (; end < text.length; end++) {
      const code = text.charCodeAt(end);
      if (code === this.#delimiter || code === LF) break;
      if (code === CR && (text.charCodeAt(end + 1) === LF || (end + 1 === text.length && isEnd))) break;
      if (code === QUOTE) throw this.#fault('a quote inside a cell that does not begin with one');
    }
    if (end === text.length && !isEnd) return undefined;
    const value = text.slice(start, end);
    return { value: value === '' || value === this.#form.nullText ? null : value, end };
  }

  #quoted(text: string, start: number, isEnd: boolean): Field {
    let isEscaped = false;
    let end = text.indexOf('"', start + 1);
    while (end >= 0 && text.charCodeAt(end + 1) === QUOTE) {
      isEscaped = true;
      end = text.indexOf('"', end + 2);
    }
    if (end < 0) {
      if (isEnd) throw this.#fault('a quote that is never closed');
      return undefined;
    }
    if (end + 1 >= text.length && !isEnd) return undefined;
    const after = text.charCodeAt(end + 1);
    const isLineEnd =
      after === LF || (after === CR && (text.charCodeAt(end + 2) === LF || end + 2 >= text.length));
    if (end + 1 < text.length && after !== this.#delimiter && !isLineEnd)
      throw this.#fault('text behind a closing quote');
    if (after === CR && end + 2 >= text.length && !isEnd) return undefined;
    const value = text.slice(start + 1, end);
    return { value: isEscaped ? value.replaceAll('""', '"') : value, end: end + 1 };
  }

  #fault(what: string): TableError {
    const context = { file: this.#file, line: this.#line };
    return new TableError('INVALID_INPUT', `${this.#file}, line ${this.#line}: ${what}.`, context);
  }
}

function linesIn(text: string, start: number, end: number): number {
  let lines = 0;
  for (let at = text.indexOf('\n', start); at >= 0 && at < end; at = text.indexOf('\n', at + 1)) lines++;
  return lines;
}
