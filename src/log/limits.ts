import { TableError } from '../errors.js';
import type { Store } from '../store/store.js';

/**
 * What a log may ask of memory. A commit of 300,000 files with statistics of 100 columns is some hundred megabytes; one line of it is a few kilobytes;
 * object keys end at 1,024 bytes on S3 and 4,096 on Linux, which percent-encoding can treble twice.
 */
export const LOG_LIMITS = {
  /** Bytes of one JSON file of the log. */
  fileBytes: 2 ** 31 - 1,
  /** Bytes of one line. */
  lineBytes: 2 ** 26,
  /** UTF-16 units of a path in an action. */
  pathLength: 65_536,
  /** Bytes of `_last_checkpoint`, which may hold the schema and sidecars of a checkpoint. */
  hintBytes: 2 ** 24,
} as const;

/** Files up to this are fetched in one request. */
const WHOLE_BYTES = LOG_LIMITS.lineBytes;
const CHUNK_BYTES = 2 ** 25;

/** A JSON file of the log as a listing tells it. */
export interface LogFile {
  readonly key: string;
  readonly size: number;
}

/**
 * The bytes of a JSON file of the log. One request up to 64 MiB; larger files come in ranges, and reading ends with `LIMIT_EXCEEDED` as soon as a line is longer
 * than `LOG_LIMITS.lineBytes`, so that a hostile file never fills memory. A missing file is `NOT_FOUND`, as
 * the store says it: what that means is for who listed it.
 */
export async function readLogFile(store: Store, file: LogFile, signal?: AbortSignal): Promise<Uint8Array> {
  if (file.size > LOG_LIMITS.fileBytes) {
    throw new TableError(
      'LIMIT_EXCEEDED',
      `${file.key} of ${store.url} has ${file.size} bytes; a file of the log may have ${LOG_LIMITS.fileBytes}.`,
      { url: store.url, file: file.key, size: file.size, limit: LOG_LIMITS.fileBytes },
    );
  }
  if (file.size <= WHOLE_BYTES) return store.get(file.key, { signal });
  const bytes = new Uint8Array(file.size);
  let filled = 0;
  let lineStart = 0;
  while (filled < file.size) {
    const chunk = await store.getRange(file.key, filled, Math.min(filled + CHUNK_BYTES, file.size), {
      signal,
    });
    if (chunk.length === 0)
      throw new TableError('CORRUPT_LOG', `${file.key} of ${store.url} is shorter than its listing says.`, {
        file: file.key,
      });
    bytes.set(chunk, filled);
    filled += chunk.length;
    const newline = bytes.lastIndexOf(NEWLINE, filled - 1);
    if (newline >= lineStart) lineStart = newline + 1;
    // A long line within the chunk is found when it is decoded; here only what is still growing matters.
    if (filled - lineStart > LOG_LIMITS.lineBytes) throw lineTooLong(file.key, store.url);
  }
  return bytes;
}

const NEWLINE = 0x0a;

export function lineTooLong(file: string, url?: string): TableError {
  const where = url === undefined ? file : `${file} of ${url}`;
  return new TableError('LIMIT_EXCEEDED', `${where} has a line of more than ${LOG_LIMITS.lineBytes} bytes.`, {
    url,
    file,
    limit: LOG_LIMITS.lineBytes,
  });
}

/** Refuses a path that no object can have, with `LIMIT_EXCEEDED`. */
export function assertPathLength(path: string, file: string): void {
  if (path.length <= LOG_LIMITS.pathLength) return;
  throw new TableError(
    'LIMIT_EXCEEDED',
    `${file} names a path of ${path.length} characters; a path may have ${LOG_LIMITS.pathLength}.`,
    {
      file,
      length: path.length,
      limit: LOG_LIMITS.pathLength,
    },
  );
}
