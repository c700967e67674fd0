import type { RecordBatch } from 'apache-arrow';
import { rowsFromBatch } from '../schema/rows-out.js';
import { typeText } from '../schema/type-text.js';
import type { StructType } from '../schema/types.js';
import { canonicalLines } from './canonical.js';
import { jsonRowWriter, ROW_FORM, textWriter } from './render/cells.js';
import { oneLine, rowLine, titleLine, widthsOf } from './render/table.js';
import type { Session } from './session.js';

/** Rows to be printed, with the columns they have. */
export interface RowStream {
  readonly url: string;
  readonly version: number;
  readonly schema: StructType;
  readonly batches: AsyncIterable<RecordBatch>;
}

/** How rows are printed: a table for people, one JSON document, one JSON object a line, or one canonical line a row. */
export type RowsAs = 'table' | 'json' | 'ndjson' | 'canonical';

/** Rows whose cells decide how wide the columns are. */
const LOOK_ROWS = 1000;
const RIGHT = new Set(['byte', 'short', 'integer', 'long', 'float', 'double', 'decimal']);

/** Prints rows as they come, in bounded memory. */
export async function printRows(session: Session, stream: RowStream, as: RowsAs): Promise<void> {
  const { schema } = stream;
  const rows = { ...stream, batches: inSlices(stream.batches) };
  switch (as) {
    case 'canonical':
      for await (const batch of rows.batches) await printLines(session, canonicalLines(batch, schema));
      return;
    case 'ndjson':
      for await (const batch of rows.batches) await printLines(session, jsonRows(batch, schema));
      return;
    case 'json':
      await printDocument(session, rows);
      return;
    case 'table':
      await printTable(session, rows);
  }
}

/** Rows that are text at once: so few that they are gone before the garbage collector would move them. */
const SLICE = 2048;

/** The batches in slices fit to be made text of. */
export async function* inSlices(batches: AsyncIterable<RecordBatch>): AsyncGenerator<RecordBatch> {
  for await (const batch of batches) {
    for (let start = 0; start < batch.numRows; start += SLICE) yield batch.slice(start, start + SLICE);
  }
}

/** One JSON text a row. */
export function jsonRows(batch: RecordBatch, schema: StructType): string[] {
  return rowsFromBatch(batch, schema, ROW_FORM).map(jsonRowWriter(schema));
}

async function printLines(session: Session, lines: readonly string[]): Promise<void> {
  if (lines.length > 0) await session.print(`${lines.join('\n')}\n`);
}

async function printDocument(session: Session, { url, version, schema, batches }: RowStream): Promise<void> {
  const columns = schema.fields.map(({ name, dataType }) => ({ name, type: typeText(dataType) }));
  await session.print(
    `{"url":${JSON.stringify(url)},"version":${version},"columns":${JSON.stringify(columns)},"rows":[`,
  );
  let comma = '\n';
  for await (const batch of batches) {
    const lines = jsonRows(batch, schema);
    if (lines.length > 0) await session.print(comma + lines.join(',\n'));
    if (lines.length > 0) comma = ',\n';
  }
  await session.print(']}\n');
}

async function printTable(session: Session, { schema, batches }: RowStream): Promise<void> {
  const columns = schema.fields.map(({ name, dataType }) => ({
    title: oneLine(name),
    align: RIGHT.has(dataType.type) ? ('right' as const) : ('left' as const),
  }));
  const cells = schema.fields.map(({ name, dataType }) => ({ name, write: textWriter(dataType) }));
  let held: string[][] | undefined = [];
  let widths: readonly number[] = [];
  const flush = async (): Promise<void> => {
    if (held === undefined) return;
    widths = widthsOf(columns, held);
    const lines = [
      titleLine(columns, widths, session.paint),
      ...held.map((row) => rowLine(columns, widths, row)),
    ];
    held = undefined;
    await printLines(session, lines);
  };
  for await (const batch of batches) {
    const rows = rowsFromBatch(batch, schema, ROW_FORM).map((row) =>
      cells.map(({ name, write }) => {
        const text = write(row[name]);
        return text === undefined ? 'NULL' : oneLine(text);
      }),
    );
    if (held === undefined) {
      await printLines(
        session,
        rows.map((row) => rowLine(columns, widths, row)),
      );
      continue;
    }
    for (const row of rows) held.push(row);
    if (held.length >= LOOK_ROWS) await flush();
  }
  await flush();
}
