import { TableError } from '../../errors.js';
import type { StructType } from '../../schema/types.js';
import type { ByteInput } from './bytes.js';
import { type CsvRecord, csvRecords } from './csv-records.js';
import { type Guess, guessText, mergeGuess, NONE, schemaOf } from './infer.js';
import { Peeked } from './peeked.js';
import { type TextRow, textBatches } from './rows.js';
import type { Input, TextOptions } from './source.js';
import { type Convert, fromText } from './typed.js';

/** CSV with a header line: empty cells are NULL, `""` is the empty text; empty lines are passed over, unless there is one column. */
export function openCsv(bytes: ByteInput, options: TextOptions): Input {
  const source = new Peeked(bytes.repeatable, (onBytes, signal) =>
    csvRecords(bytes, options, onBytes, signal),
  );
  return {
    name: bytes.name,
    size: bytes.size,
    repeatable: bytes.repeatable,
    describesItself: false,
    async schema(signal) {
      const header = new Header(bytes.name);
      const guesses: Guess[] = [];
      for await (const records of source.look(signal)) {
        for (const { cells } of header.rowsOf(records)) {
          cells.forEach((cell, i) => {
            const known = guesses[i] ?? NONE;
            if (cell !== null && known.kind !== 'string') guesses[i] = mergeGuess(known, guessText(cell));
          });
        }
      }
      return schemaOf(new Map(header.names.map((name, i) => [name, guesses[i] ?? NONE])), bytes.name);
    },
    batches: (wanted, onBytes, signal) =>
      textBatches(bytes.name, typedRows(bytes.name, source.read(onBytes, signal), wanted, options), wanted),
    close: async () => undefined,
  };
}

async function* typedRows(
  file: string,
  source: AsyncIterable<readonly CsvRecord[]>,
  schema: StructType,
  options: TextOptions,
): AsyncGenerator<TextRow[]> {
  const header = new Header(file);
  let converts: readonly Convert<string>[] | undefined;
  for await (const records of source) {
    const rows = header.rowsOf(records);
    if (header.names.length === 0) continue;
    converts ??= convertsOf(header, schema, options);
    yield rows.map(({ cells, line }) => ({ row: rowOf(header.names, cells, converts!), line }));
  }
}

function rowOf(
  names: readonly string[],
  cells: CsvRecord['cells'],
  converts: readonly Convert<string>[],
): Record<string, unknown> {
  const row: Record<string, unknown> = Object.create(null);
  for (let i = 0; i < names.length; i++) {
    const cell = cells[i]!;
    row[names[i]!] = cell === null ? null : converts[i]!(cell);
  }
  return row;
}

function convertsOf(
  { names, file, line }: Header,
  schema: StructType,
  options: TextOptions,
): Convert<string>[] {
  const types = new Map(schema.fields.map(({ name, dataType }) => [name.toLowerCase(), dataType]));
  return names.map((name) => {
    const type = types.get(name.toLowerCase());
    if (type !== undefined) return fromText(type, options.ntzAs);
    const columns = schema.fields.map((field) => field.name);
    throw new TableError(
      'UNKNOWN_COLUMN',
      `${file}, line ${line}: '${name}' is not a column of the table, which has ${columns.join(', ')}.`,
      { file, line, column: name, columns },
    );
  });
}

/** The first record that is no empty line, and the records that it heads. */
class Header {
  readonly file: string;
  names: readonly string[] = [];
  line = 1;

  constructor(file: string) {
    this.file = file;
  }

  /** The records behind the header. Throws `INVALID_ROW` where one has not as many cells; `INVALID_INPUT` for a header that is none. */
  rowsOf(records: readonly CsvRecord[]): CsvRecord[] {
    return records.filter((record) => {
      const { cells, line } = record;
      const isEmpty = cells.length === 1 && cells[0] === null;
      if (this.names.length === 0) {
        if (!isEmpty) this.#read(record);
        return false;
      }
      if (isEmpty && this.names.length > 1) return false;
      if (cells.length === this.names.length) return true;
      const [expected, got] = [this.names.length, cells.length];
      throw new TableError(
        'INVALID_ROW',
        `${this.file}, line ${line}: expected ${expected} cells, got ${got}.`,
        {
          file: this.file,
          line,
          expected,
          got,
        },
      );
    });
  }

  #read({ cells, line }: CsvRecord): void {
    const { file } = this;
    const seen = new Set<string>();
    this.line = line;
    this.names = cells.map((cell, i) => {
      const name = cell ?? '';
      if (name === '')
        throw new TableError('INVALID_INPUT', `${file}, line ${line}: column ${i + 1} has no name.`, {
          file,
          line,
        });
      if (seen.has(name.toLowerCase()))
        throw new TableError('INVALID_INPUT', `${file}, line ${line}: there are two columns '${name}'.`, {
          file,
          line,
        });
      seen.add(name.toLowerCase());
      return name;
    });
  }
}
