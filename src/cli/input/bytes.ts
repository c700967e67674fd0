import { createReadStream, createWriteStream } from 'node:fs';
import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { TableError } from '../../errors.js';
import { abortError } from '../../runtime/system.js';
import type { OnBytes } from './source.js';

/** What messages call standard input. */
export const STDIN_NAME = 'standard input';

/** The bytes of a file, or of standard input, in pieces. */
export interface ByteInput {
  readonly name: string;
  readonly size: number | undefined;
  readonly repeatable: boolean;
  open(): Readable;
}

/** Throws `INVALID_INPUT` where there is no such file. */
export async function openBytes(name: string, stdin: Readable): Promise<ByteInput> {
  if (name === '-') return { name: STDIN_NAME, size: undefined, repeatable: false, open: () => stdin };
  return {
    name,
    size: await fileSize(name),
    repeatable: true,
    open: () => createReadStream(name, { highWaterMark: 1 << 20 }),
  };
}

/** The size of a file. Throws `INVALID_INPUT` for what is none. */
export async function fileSize(name: string): Promise<number> {
  const found = await stat(name).catch((error: Error) => {
    throw new TableError(
      'INVALID_INPUT',
      `The input file ${name} cannot be read: ${reasonOf(error)}.`,
      { file: name },
      error,
    );
  });
  if (found.isDirectory())
    throw new TableError(
      'INVALID_INPUT',
      `The input ${name} is a folder; name its files, such as ${name}/*.parquet.`,
      { file: name },
    );
  return found.size;
}

/** The pieces of an input; stops with `ABORTED` when the signal fires. */
export async function* piecesOf(
  input: ByteInput,
  onBytes: OnBytes,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array> {
  if (signal.aborted) throw abortError(signal);
  const stream = input.open();
  const stop = (): void => {
    stream.destroy();
  };
  signal.addEventListener('abort', stop, { once: true });
  // One that fired before is not heard.
  if (signal.aborted) stop();
  try {
    for await (const piece of stream) {
      const bytes = typeof piece === 'string' ? Buffer.from(piece) : (piece as Uint8Array);
      onBytes(bytes.length);
      yield bytes;
    }
  } catch (error) {
    if (!signal.aborted) {
      if (error instanceof Error && 'syscall' in error)
        throw new TableError(
          'INVALID_INPUT',
          `The input file ${input.name} cannot be read: ${reasonOf(error)}.`,
          { file: input.name },
          error,
        );
      throw error;
    }
  } finally {
    signal.removeEventListener('abort', stop);
  }
  if (signal.aborted) throw abortError(signal);
}

/** Standard input as a file of its own, for formats that are read from their end. */
export async function spool(
  stdin: Readable,
  signal: AbortSignal,
): Promise<{ path: string; remove(): Promise<void> }> {
  const folder = await mkdtemp(join(tmpdir(), 'tablectl-'));
  const path = join(folder, 'input');
  const remove = () => rm(folder, { recursive: true, force: true });
  try {
    await pipeline(stdin, createWriteStream(path), { signal });
    return { path, remove };
  } catch (error) {
    await remove();
    throw signal.aborted ? abortError(signal) : error;
  }
}

function reasonOf(error: Error): string {
  switch ('code' in error ? error.code : undefined) {
    case 'ENOENT':
      return 'there is no such file';
    case 'EACCES':
      return 'permission denied';
    default:
      return error.message;
  }
}
