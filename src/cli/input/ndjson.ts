import { TableError } from '../../errors.js';
import { parseJson } from '../../log/json.js';
import type { Json, StructType } from '../../schema/types.js';
import { type ByteInput, piecesOf } from './bytes.js';
import { type Guess, guessJson, mergeGuess, NONE, schemaOf } from './infer.js';
import { Peeked } from './peeked.js';
import { type TextRow, textBatches } from './rows.js';
import type { Input, OnBytes, TextOptions } from './source.js';
import { convertMembers, fromJson } from './typed.js';

interface ParsedLine {
  readonly value: { readonly [key: string]: Json };
  readonly line: number;
}

/** Longer lines are no rows of a table. */
const LONGEST_LINE = 64 << 20;
const LF = 10;

/** Newline-delimited JSON: one object a line; empty lines are passed over. */
export function openNdjson(bytes: ByteInput, options: TextOptions): Input {
  const source = new Peeked(bytes.repeatable, (onBytes, signal) => parsed(bytes, onBytes, signal));
  return {
    name: bytes.name,
    size: bytes.size,
    repeatable: bytes.repeatable,
    describesItself: false,
    async schema(signal) {
      const columns = new Map<string, Guess>();
      for await (const lines of source.look(signal))
        for (const { value } of lines)
          for (const key of Object.keys(value))
            columns.set(key, mergeGuess(columns.get(key) ?? NONE, guessJson(value[key]!)));
      return schemaOf(columns, bytes.name);
    },
    batches: (wanted, onBytes, signal) =>
      textBatches(bytes.name, typedRows(source.read(onBytes, signal), wanted, options), wanted),
    close: async () => undefined,
  };
}

async function* typedRows(
  source: AsyncIterable<readonly ParsedLine[]>,
  schema: StructType,
  options: TextOptions,
): AsyncGenerator<TextRow[]> {
  const converts = new Map(
    schema.fields.map(({ name, dataType }) => [name.toLowerCase(), fromJson(dataType, options.ntzAs)]),
  );
  for await (const lines of source) {
    yield lines.map(({ value, line }) => ({ row: convertMembers(value, converts), line }));
  }
}

async function* parsed(
  bytes: ByteInput,
  onBytes: OnBytes,
  signal: AbortSignal,
): AsyncGenerator<ParsedLine[]> {
  let line = 0;
  for await (const texts of linesOf(bytes, onBytes, signal)) {
    const rows: ParsedLine[] = [];
    for (const text of texts) {
      line++;
      const trimmed = text.trim();
      if (trimmed !== '') rows.push({ value: parseLine(trimmed, bytes.name, line), line });
    }
    yield rows;
  }
}

function parseLine(text: string, file: string, line: number): ParsedLine['value'] {
  let value: Json;
  try {
    value = parseJson(text);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new TableError(
      'INVALID_ROW',
      `${file}, line ${line}: this is not JSON: ${reason}.`,
      { file, line },
      error,
    );
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new TableError(
      'INVALID_ROW',
      `${file}, line ${line}: expected a JSON object, got ${text.slice(0, 40)}.`,
      {
        file,
        line,
        expected: 'a JSON object',
        got: text.slice(0, 40),
      },
    );
  }
  return value as ParsedLine['value'];
}

/** The lines of a text, those of a piece at once. */
async function* linesOf(bytes: ByteInput, onBytes: OnBytes, signal: AbortSignal): AsyncGenerator<string[]> {
  let rest: Uint8Array[] = [];
  let held = 0;
  for await (const piece of piecesOf(bytes, onBytes, signal)) {
    const last = piece.lastIndexOf(LF);
    if (last < 0) {
      rest.push(piece);
      held += piece.length;
      if (held > LONGEST_LINE)
        throw new TableError(
          'INVALID_INPUT',
          `${bytes.name} has a line of more than ${LONGEST_LINE} bytes.`,
          { file: bytes.name },
        );
      continue;
    }
    const text = decode(Buffer.concat([...rest, piece.subarray(0, last)]), bytes.name);
    yield text.split('\n');
    rest = [piece.subarray(last + 1)];
    held = rest[0]!.length;
  }
  if (held > 0) yield [decode(Buffer.concat(rest), bytes.name)];
}

function decode(bytes: Uint8Array, file: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (error) {
    throw new TableError('INVALID_INPUT', `${file} is not UTF-8 text.`, { file }, error);
  }
}
