import { type FileHandle, open } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import { type RecordBatch, RecordBatchReader } from 'apache-arrow';
import { isTableError, TableError } from '../../errors.js';
import { abortError } from '../../runtime/system.js';
import { fromArrowSchema } from '../../schema/arrow.js';
import { registerArrowCodecs } from './arrow-codecs.js';
import { fileSize, openBytes, piecesOf, STDIN_NAME } from './bytes.js';
import type { Input } from './source.js';

/** An Arrow IPC file or stream. */
export async function openArrow(path: string, stdin: Readable, signal: AbortSignal): Promise<Input> {
  const name = path === '-' ? STDIN_NAME : path;
  const size = path === '-' ? undefined : await fileSize(path);
  let handle: FileHandle | undefined;
  const start = async (): Promise<RecordBatchReader> => {
    try {
      registerArrowCodecs();
      if (path !== '-') handle = await open(path);
      const reader: RecordBatchReader = handle
        ? await RecordBatchReader.from(handle)
        : await RecordBatchReader.from(piecesOf(await openBytes(path, stdin), () => undefined, signal));
      await reader.open();
      return reader;
    } catch (error) {
      throw inputError(error, name);
    }
  };
  let opened: Promise<RecordBatchReader> | undefined;
  const once = () => (opened ??= start());
  return {
    name,
    size,
    repeatable: path !== '-',
    describesItself: true,
    schema: async () => fromArrowSchema((await once()).schema),
    async *batches(_wanted, onBytes) {
      const reader = await once();
      opened = undefined;
      try {
        for await (const batch of reader as AsyncIterable<RecordBatch>) {
          if (signal.aborted) throw abortError(signal);
          onBytes(bytesOf(batch));
          yield batch;
        }
      } catch (error) {
        throw inputError(error, name);
      }
    },
    close: async () => handle?.close().catch(() => undefined),
  };
}

function bytesOf(batch: RecordBatch): number {
  return batch.data.children.reduce((sum, child) => sum + child.byteLength, 0);
}

function inputError(error: unknown, file: string): unknown {
  if (isTableError(error)) return error;
  const reason = error instanceof Error ? error.message : String(error);
  return new TableError(
    'INVALID_INPUT',
    `The input ${file} cannot be read as Arrow IPC: ${reason}`,
    { file },
    error,
  );
}
