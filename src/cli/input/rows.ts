import type { RecordBatch } from 'apache-arrow';
import { isTableError, TableError } from '../../errors.js';
import { batchFromRows, type Row } from '../../schema/rows-in.js';
import type { StructType } from '../../schema/types.js';

/** A row of a text file and the line it ends on, counted from 1. */
export interface TextRow {
  readonly row: Row;
  readonly line: number;
}

const ROWS_PER_BATCH = 16_384;

/** Rows of a text file as Arrow batches. A row that does not fit is told with its file and line. */
export async function* textBatches(
  file: string,
  rows: AsyncIterable<readonly TextRow[]>,
  schema: StructType,
): AsyncGenerator<RecordBatch> {
  let gathered: Row[] = [];
  let lines: number[] = [];
  for await (const some of rows) {
    for (const { row, line } of some) {
      gathered.push(row);
      lines.push(line);
      if (gathered.length === ROWS_PER_BATCH) {
        yield toBatch(file, gathered, lines, schema);
        gathered = [];
        lines = [];
      }
    }
  }
  if (gathered.length > 0) yield toBatch(file, gathered, lines, schema);
}

function toBatch(
  file: string,
  rows: readonly Row[],
  lines: readonly number[],
  schema: StructType,
): RecordBatch {
  try {
    return batchFromRows(rows, schema);
  } catch (error) {
    if (!isTableError(error, 'INVALID_ROW', 'UNKNOWN_COLUMN')) throw error;
    const { row, column, expected, got } = error.context;
    const line = lines[Number(row)] ?? lines[0]!;
    const what =
      error.code === 'UNKNOWN_COLUMN'
        ? `'${column}' is not a column of the table, which has ${String(expected).replace('one of ', '')}`
        : `column '${column}': expected ${expected}, got ${got}`;
    throw new TableError(error.code, `${file}, line ${line}: ${what}.${hintOf(error, String(expected))}`, {
      file,
      line,
      column,
      expected,
      got,
    });
  }
}

function hintOf(error: TableError, expected: string): string {
  if (expected === 'timestamp' && error.message.includes('without a zone'))
    return ' The text has no zone: give --ntz-as utc to take it as UTC.';
  return '';
}
