import { type FileHandle, mkdtemp, open, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { TableError } from '../errors.js';

/**
 * A temporary file on the local disk for what does not fit into memory. Its folder is removed as soon as the file is open where the system allows that, so
 * that nothing is left behind however the process ends; else when it is closed.
 */
export class SpillFile {
  readonly #handle: FileHandle;
  readonly #folder: string;
  #end = 0;

  private constructor(handle: FileHandle, folder: string) {
    this.#handle = handle;
    this.#folder = folder;
  }

  static async create(): Promise<SpillFile> {
    try {
      const folder = await mkdtemp(join(tmpdir(), 'intervale-'));
      const handle = await open(join(folder, 'spill'), 'wx+', 0o600);
      await rm(folder, { recursive: true, force: true }).catch(() => {});
      return new SpillFile(handle, folder);
    } catch (error) {
      throw diskError('created', error);
    }
  }

  /** Writes at the end and says where. */
  async write(bytes: Uint8Array): Promise<number> {
    const at = this.#end;
    this.#end += bytes.length;
    try {
      for (let done = 0; done < bytes.length; ) {
        done += (await this.#handle.write(bytes, done, bytes.length - done, at + done)).bytesWritten;
      }
    } catch (error) {
      throw diskError('written', error);
    }
    return at;
  }

  async read(at: number, length: number): Promise<Uint8Array> {
    const bytes = new Uint8Array(length);
    await this.readInto(at, bytes);
    return bytes;
  }

  async readInto(at: number, bytes: Uint8Array): Promise<void> {
    for (let done = 0; done < bytes.length; ) {
      const { bytesRead } = await this.#handle
        .read(bytes, done, bytes.length - done, at + done)
        .catch((error: unknown) => {
          throw diskError('read', error);
        });
      if (bytesRead === 0) throw diskError('read', undefined);
      done += bytesRead;
    }
  }

  async close(): Promise<void> {
    await this.#handle.close().catch(() => {});
    await rm(this.#folder, { recursive: true, force: true }).catch(() => {});
  }
}

function diskError(what: string, cause: unknown): TableError {
  return new TableError(
    'STORE_FAILED',
    `A temporary file in ${tmpdir()} could not be ${what}. Free space there or point TMPDIR at a larger disk.`,
    { folder: tmpdir() },
    cause,
  );
}
