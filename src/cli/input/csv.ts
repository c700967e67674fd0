import { pipeline } from 'node:stream/promises';
import { CsvError, type Info, parse } from 'csv-parse';
import { TableError } from '../../errors.js';
import type { StructType } from '../../schema/types.js';
import { type ByteInput, piecesOf } from './bytes.js';
import { type Guess, guessText, mergeGuess, NONE, schemaOf } from './infer.js';
import { Peeked } from './peeked.js';
import { type TextRow, textBatches } from './rows.js';
import type { Input, OnBytes, TextOptions } from './source.js';
import { fromText } from './typed.js';

interface Record {
  /** NULL for an empty cell without quotes. */
  readonly cells: readonly (string | null)[];
  readonly line: number;
}

const RECORDS_AT_ONCE = 1024;

/** CSV as RFC 4180 has it, with a header line: empty cells are NULL, `""` is the empty text. */
export function openCsv(bytes: ByteInput, options: TextOptions): Input {
  const source = new Peeked(bytes.repeatable, (onBytes, signal) => records(bytes, options, onBytes, signal));
  return {
    name: bytes.name,
    size: bytes.size,
    repeatable: bytes.repeatable,
    describesItself: false,
    async schema(signal) {
      let header: readonly string[] | undefined;
      const guesses: Guess[] = [];
      for await (const some of source.look(signal)) {
        for (const { cells } of some) {
          if (header === undefined) header = headerOf(cells, bytes.name);
          else
            cells.forEach((cell, i) => {
              if (cell !== null) guesses[i] = mergeGuess(guesses[i] ?? NONE, guessText(cell));
            });
        }
      }
      return schemaOf(new Map((header ?? []).map((name, i) => [name, guesses[i] ?? NONE])), bytes.name);
    },
    batches: (wanted, onBytes, signal) =>
      textBatches(bytes.name, typedRows(bytes.name, source.read(onBytes, signal), wanted, options), wanted),
    close: async () => undefined,
  };
}

async function* typedRows(
  file: string,
  source: AsyncIterable<readonly Record[]>,
  schema: StructType,
  options: TextOptions,
): AsyncGenerator<TextRow[]> {
  const types = new Map(schema.fields.map(({ name, dataType }) => [name.toLowerCase(), dataType]));
  let header: readonly string[] | undefined;
  let converts: readonly ((text: string) => unknown)[] = [];
  for await (const some of source) {
    const rows: TextRow[] = [];
    for (const { cells, line } of some) {
      if (header === undefined) {
        header = headerOf(cells, file);
        converts = header.map((name) => {
          const type = types.get(name.toLowerCase());
          if (type !== undefined) return fromText(type, options.ntzAs);
          const known = schema.fields.map((field) => field.name);
          throw new TableError(
            'UNKNOWN_COLUMN',
            `${file}, line ${line}: '${name}' is not a column of the table, which has ${known.join(', ')}.`,
            { file, line, column: name, columns: known },
          );
        });
        continue;
      }
      const row: { [name: string]: unknown } = Object.create(null);
      for (let i = 0; i < header.length; i++) {
        const cell = cells[i] ?? null;
        row[header[i]!] = cell === null ? null : converts[i]!(cell);
      }
      rows.push({ row, line });
    }
    yield rows;
  }
}

function headerOf(cells: Record['cells'], file: string): string[] {
  return cells.map((cell, i) => {
    if (cell !== null && cell !== '') return cell;
    throw new TableError('INVALID_INPUT', `${file}, line 1: column ${i + 1} has no name.`, { file, line: 1 });
  });
}

async function* records(
  bytes: ByteInput,
  options: TextOptions,
  onBytes: OnBytes,
  signal: AbortSignal,
): AsyncGenerator<Record[]> {
  const parser = parse({
    bom: true,
    delimiter: options.delimiter,
    info: true,
    skip_empty_lines: true,
    cast: (value, { quoting }) => (!quoting && (value === '' || value === options.nullText) ? null : value),
  });
  // Either end that stops, stops the other; the parser tells why.
  pipeline(piecesOf(bytes, onBytes, signal), parser).catch(() => undefined);
  let some: Record[] = [];
  try {
    for await (const { record, info } of parser as AsyncIterable<{ record: (string | null)[]; info: Info }>) {
      some.push({ cells: record, line: info.lines });
      if (some.length === RECORDS_AT_ONCE) {
        yield some;
        some = [];
      }
    }
  } catch (error) {
    throw error instanceof CsvError ? csvError(error, bytes.name) : error;
  }
  yield some;
}

function csvError(error: CsvError, file: string): TableError {
  const line = Number(error.lines ?? 0);
  if (error.code === 'CSV_RECORD_INCONSISTENT_FIELDS_LENGTH') {
    const got = Array.isArray(error.record) ? error.record.length : 'another number of';
    const expected = /expect (\d+)/.exec(error.message)?.[1] ?? 'as many as the header';
    return new TableError('INVALID_ROW', `${file}, line ${line}: expected ${expected} cells, got ${got}.`, {
      file,
      line,
      expected,
      got,
    });
  }
  return new TableError(
    'INVALID_INPUT',
    `${file} cannot be read as CSV: ${error.message}`,
    { file, line },
    error,
  );
}
