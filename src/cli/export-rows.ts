import { createWriteStream } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import {
  type RecordBatch,
  RecordBatchFileWriter,
  RecordBatchStreamWriter,
  type RecordBatchWriter,
} from 'apache-arrow';
import { TableError } from '../errors.js';
import { encodeParquet } from '../parquet/encode.js';
import { toArrowSchema } from '../schema/arrow.js';
import { rowsFromBatch } from '../schema/rows-out.js';
import type { StructType } from '../schema/types.js';
import { type ExportFormat, exportFormat } from './export-format.js';
import { bytesText, counted, durationText } from './render/bytes.js';
import { ROW_FORM, textWriter } from './render/cells.js';
import { inSlices, jsonRows } from './rows.js';
import { type ReadFlags, scanRows } from './scan-rows.js';
import type { Session } from './session.js';
import { writeTo } from './terminal.js';

type ExportFlags = ReadFlags & {
  readonly format?: ExportFormat;
  readonly output?: string;
  readonly json?: boolean;
};

/** Where the pieces of an export go. */
type Sink = (piece: string | Uint8Array) => Promise<void>;

/** Writes what a read gives as one file, complete or not at all, or to standard output as it comes. Throws what the read throws. */
export async function exportRows(session: Session, url: string, flags: ExportFlags): Promise<void> {
  const startedAt = performance.now();
  const format = exportFormat(flags.output, flags.format);
  const stream = await scanRows(session, url, flags);
  let rows = 0;
  const batches = async function* () {
    for await (const batch of stream.batches) {
      rows += batch.numRows;
      yield batch;
    }
  };
  const { output } = flags;
  if (output === undefined) {
    await encode(format, batches(), stream.schema, session.print, false);
    return;
  }
  const bytes = await intoFile(output, (sink) => encode(format, batches(), stream.schema, sink, true));
  const ms = Math.round(performance.now() - startedAt);
  if (flags.json)
    await session.printJson({ url: stream.url, version: stream.version, format, output, rows, bytes, ms });
  else
    session.talk(`wrote ${counted(rows, 'row')} to ${output} (${bytesText(bytes)}) in ${durationText(ms)}`);
}

async function encode(
  format: ExportFormat,
  batches: AsyncIterable<RecordBatch>,
  schema: StructType,
  sink: Sink,
  isFile: boolean,
): Promise<void> {
  switch (format) {
    case 'ndjson':
      for await (const batch of inSlices(batches)) await sink(`${jsonRows(batch, schema).join('\n')}\n`);
      return;
    case 'csv':
      await sink(`${schema.fields.map(({ name }) => csvCell(name)).join(',')}\n`);
      for await (const batch of inSlices(batches)) await sink(csvLines(batch, schema));
      return;
    case 'arrow':
      await encodeArrow(
        isFile ? new RecordBatchFileWriter() : new RecordBatchStreamWriter(),
        batches,
        schema,
        sink,
      );
      return;
    case 'parquet':
      await sink((await encodeParquet(batches, toArrowSchema(schema))).bytes);
  }
}

async function encodeArrow(
  writer: RecordBatchWriter,
  batches: AsyncIterable<RecordBatch>,
  schema: StructType,
  sink: Sink,
): Promise<void> {
  writer.reset(undefined, toArrowSchema(schema));
  // The writer never waits, so its pieces are taken after each batch.
  const pieces = writer[Symbol.asyncIterator]();
  const drained = (async () => {
    for (let next = await pieces.next(); !next.done; next = await pieces.next())
      await sink(next.value as Uint8Array);
  })();
  for await (const batch of batches) writer.write(batch);
  writer.finish();
  await drained;
}

function csvLines(batch: RecordBatch, schema: StructType): string {
  const cells = schema.fields.map(({ name, dataType }) => ({ name, write: textWriter(dataType) }));
  let text = '';
  for (const row of rowsFromBatch(batch, schema, ROW_FORM))
    text += `${cells.map(({ name, write }) => csvCell(write(row[name]))).join(',')}\n`;
  return text;
}

/** As `import` reads it back: NULL is empty, the empty text is in quotes. */
function csvCell(text: string | undefined): string {
  if (text === undefined) return '';
  return text === '' || /[",\r\n]/.test(text) || text !== text.trim()
    ? `"${text.replaceAll('"', '""')}"`
    : text;
}

/** Writes beside the file and renames at the end, so that a reader sees it whole. Gives its bytes. */
async function intoFile(output: string, run: (sink: Sink) => Promise<void>): Promise<number> {
  const partial = `${output}.partial-${process.pid}`;
  const stream = createWriteStream(partial);
  let bytes = 0;
  try {
    await run(async (piece) => {
      bytes += Buffer.byteLength(piece);
      await writeTo(stream, piece);
    });
    await new Promise<void>((resolve, reject) => {
      stream.once('error', reject);
      stream.end(resolve);
    });
    await rename(partial, output);
    return bytes;
  } catch (error) {
    stream.destroy();
    await rm(partial, { force: true });
    if (error instanceof Error && 'syscall' in error)
      throw new TableError(
        'INVALID_INPUT',
        `The file ${output} cannot be written: ${error.message}.`,
        { output },
        error,
      );
    throw error;
  }
}
