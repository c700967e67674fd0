import { type FileHandle, open, unlink } from 'node:fs/promises';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { TableError } from '../errors.js';
import type { Context } from '../runtime/context.js';
import type { StoreOperation } from '../runtime/events.js';
import { assertKey, assertNotAborted, assertRange, folderOf, notFound } from './keys.js';
import { diskError, errnoOf, isMissing } from './local-errors.js';
import { statObject, statObjects, walkKeys } from './local-list.js';
import { type Durability, link, publish, writeBytes, writeTemporary } from './local-write.js';
import { observe, type Tally } from './observe.js';
import type { ObjectMeta, PutIfAbsentResult, RequestOptions, Store } from './store.js';

export interface LocalOptions {
  /** False leaves durability to the operating system: a power cut may then lose or empty what was acknowledged. Default true. */
  readonly fsync?: boolean;
}

const PAGE = 1000;

/**
 * A folder as a store. Keys are paths below it, taken literally; a key with an empty, `.` or `..` segment is refused with `INVALID_INPUT`, so
 * that nothing outside the folder is ever named. Folders come to be by writing only, and are left behind empty by `delete`.
 * An object being written is a file `.tmp-<uuid>` beside its key; a killed process leaves that file behind, and `list` shows it.
 */
export class LocalStore implements Store {
  readonly ordered = true;
  readonly url: string;
  readonly #root: string;
  readonly #ctx: Context;
  readonly #durability: Durability;

  /** `root` is an absolute path or a `file:` URL. */
  constructor(ctx: Context, root: string, options: LocalOptions = {}) {
    this.#ctx = ctx;
    this.#root = (root.startsWith('file:') ? fileURLToPath(root) : root).replace(/(?<=.)\/+$/, '');
    this.url = pathToFileURL(this.#root).href;
    this.#durability = { fsync: options.fsync ?? true };
  }

  get(key: string, options?: RequestOptions): Promise<Uint8Array> {
    return this.#read('get', key, options, async (file, tally) => {
      const { size } = await file.stat();
      return readFully(file, 0, size, tally);
    });
  }

  getRange(key: string, start: number, end: number, options?: RequestOptions): Promise<Uint8Array> {
    assertRange(key, start, end);
    return this.#read('getRange', key, options, (file, tally) => readFully(file, start, end, tally));
  }

  getTail(
    key: string,
    length: number,
    options?: RequestOptions,
  ): Promise<{ bytes: Uint8Array; size: number }> {
    assertRange(key, 0, length);
    return this.#read('getRange', key, options, async (file, tally) => {
      const { size } = await file.stat();
      return { bytes: await readFully(file, Math.max(0, size - length), size, tally), size };
    });
  }

  head(key: string, options?: RequestOptions): Promise<ObjectMeta | undefined> {
    return this.#run('head', key, options, async (path, tally) => {
      const meta = await statObject(path, key);
      if (!meta) tally.outcome = 'missing';
      return meta;
    });
  }

  put(key: string, bytes: Uint8Array, options?: RequestOptions): Promise<void> {
    return this.#run('put', key, options, async (path, tally) => {
      tally.sent = bytes.length;
      await publish(
        await writeBytes(path, this.#ctx.ids.uuid(), bytes, this.#durability, options?.signal),
        path,
      );
    });
  }

  putStream(key: string, chunks: AsyncIterable<Uint8Array>, options?: RequestOptions): Promise<number> {
    return this.#run('put', key, options, async (path, tally) => {
      const temporary = await writeTemporary(
        path,
        this.#ctx.ids.uuid(),
        chunks,
        this.#durability,
        options?.signal,
      );
      tally.sent = temporary.size;
      await publish(temporary, path);
      return temporary.size;
    });
  }

  /**
   * `link(2)` of a complete, synced temporary file: the kernel refuses a name that is taken, and nobody sees half a file. A file system
   * without hard links gives `STORE_UNSUPPORTED`; a rename would replace another writer's commit.
   */
  putIfAbsent(key: string, bytes: Uint8Array, options?: RequestOptions): Promise<PutIfAbsentResult> {
    return this.#run('putIfAbsent', key, options, async (path, tally) => {
      tally.sent = bytes.length;
      const temporary = await writeBytes(
        path,
        this.#ctx.ids.uuid(),
        bytes,
        this.#durability,
        options?.signal,
      );
      const result = await link(temporary, path, key);
      if (result.outcome !== 'created') tally.outcome = result.outcome;
      return result;
    });
  }

  async *list(
    prefix: string,
    options?: RequestOptions & { readonly after?: string },
  ): AsyncGenerator<readonly ObjectMeta[]> {
    const listing = { root: this.#root, prefix, after: options?.after ?? '' };
    const folder = folderOf(prefix);
    if (folder !== '') assertLocalKey(folder.slice(0, -1));
    const runs = walkKeys(listing, folder);
    let keys: string[] = [];
    for (let done = false; !done; ) {
      assertNotAborted(options?.signal);
      const page = await observe(this.#ctx, this.url, 'list', prefix, async () => {
        try {
          while (keys.length < PAGE && !done) {
            const next = await runs.next();
            if (next.done) done = true;
            else keys = keys.length === 0 ? [...next.value] : keys.concat(next.value);
          }
          const now = keys.slice(0, PAGE);
          keys = keys.slice(PAGE);
          done &&= keys.length === 0;
          return await statObjects(this.#root, now, this.#ctx.clock);
        } catch (error) {
          throw diskError(error, 'list', this.url, prefix);
        }
      });
      if (page.length > 0) yield page;
    }
  }

  delete(key: string, options?: RequestOptions): Promise<void> {
    return this.#run('delete', key, options, async (path) => {
      try {
        await unlink(path);
      } catch (error) {
        const errno = errnoOf(error);
        if (isMissing(error)) return;
        // Linux says EISDIR and macOS EPERM for a folder, and a folder is not an object.
        if (errno === 'EISDIR' || (errno === 'EPERM' && !(await statObject(path, key)))) return;
        throw error;
      }
    });
  }

  #read<T>(
    operation: StoreOperation,
    key: string,
    options: RequestOptions | undefined,
    run: (file: FileHandle, tally: Tally) => Promise<T>,
  ): Promise<T> {
    return this.#run(operation, key, options, async (path, tally) => {
      const file = await open(path, 'r');
      try {
        return await run(file, tally);
      } finally {
        await file.close();
      }
    });
  }

  /** One operation on one key: refuses hostile keys, counts it, and turns what the disk says into a `TableError`. */
  async #run<T>(
    operation: StoreOperation,
    key: string,
    options: RequestOptions | undefined,
    run: (path: string, tally: Tally) => Promise<T>,
  ): Promise<T> {
    assertNotAborted(options?.signal);
    assertLocalKey(key);
    return observe(this.#ctx, this.url, operation, key, async (tally) => {
      try {
        return await run(`${this.#root}/${key}`, tally);
      } catch (error) {
        if (errnoOf(error) === undefined) throw error;
        if (operation.startsWith('get') && (isMissing(error) || errnoOf(error) === 'EISDIR'))
          throw notFound(this.url, key, error);
        throw diskError(error, operation, this.url, key);
      }
    });
  }
}

function assertLocalKey(key: string): void {
  assertKey(key);
  if (/(^|\/)\.{0,2}(\/|$)/.test(key) || key.includes('\0'))
    throw new TableError('INVALID_INPUT', `'${key}' cannot be the key of an object in a folder.`, { key });
}

/** Bytes [start, end) of the file, fewer where it ends before; the end is checked against the size before memory is taken for it. */
async function readFully(file: FileHandle, start: number, end: number, tally: Tally): Promise<Uint8Array> {
  const length =
    end - start > 1 << 20 ? Math.max(0, Math.min(end, (await file.stat()).size) - start) : end - start;
  const bytes = new Uint8Array(length);
  let filled = 0;
  while (filled < length) {
    const { bytesRead } = await file.read(bytes, filled, length - filled, start + filled);
    if (bytesRead === 0) break;
    filled += bytesRead;
  }
  tally.received = filled;
  return filled === length ? bytes : bytes.slice(0, filled);
}
