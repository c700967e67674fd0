import { closeSync, fsync, linkSync, openSync, renameSync, unlinkSync, writeSync } from 'node:fs';
import { type FileHandle, mkdir, open } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import { promisify } from 'node:util';
import { TableError } from '../errors.js';
import { assertNotAborted } from './keys.js';
import { errnoOf } from './local-errors.js';
import type { PutIfAbsentResult } from './store.js';

export interface Durability {
  readonly fsync: boolean;
}

/** A complete file that has no name yet that a reader looks at. */
export interface Temporary {
  readonly path: string;
  readonly folder: string;
  readonly size: number;
  readonly durability: Durability;
}

/**
 * Objects up to this many bytes are written, and all files named, by calls that block: they take microseconds, less than a hop to the thread pool and back.
 * Waiting for the disk never blocks.
 */
const SMALL = 64 * 1024;
const sync = promisify(fsync);

/** File names that start so are unfinished writes. */
export const TEMPORARY_PREFIX = '.tmp-';

/** Errors by which a file system says that it has no hard links. */
const NO_LINKS = new Set([
  'EPERM',
  'EACCES',
  'ENOSYS',
  'EOPNOTSUPP',
  'ENOTSUP',
  'EMLINK',
  'EXDEV',
  'EINVAL',
  'UNKNOWN',
]);
/** Errors by which a file system says that a folder cannot be synced, which leaves nothing to do. */
const NO_FOLDER_SYNC = new Set([
  'EINVAL',
  'EPERM',
  'EACCES',
  'EISDIR',
  'ENOTSUP',
  'EOPNOTSUPP',
  'ENOSYS',
  'EBADF',
]);

/**
 * Writes the chunks to a temporary file in the folder of `path` and syncs it. Folders are made only after the system said that they lack.
 * A failure, of the source too, removes the file again.
 */
export async function writeTemporary(
  path: string,
  uuid: string,
  chunks: Iterable<Uint8Array> | AsyncIterable<Uint8Array>,
  durability: Durability,
  signal?: AbortSignal,
): Promise<Temporary> {
  const folder = dirname(path);
  const temporary = `${folder}/${TEMPORARY_PREFIX}${uuid}`;
  const file: FileHandle = await inFolder(folder, durability, () => open(temporary, 'wx'));
  let size = 0;
  try {
    try {
      for await (const chunk of chunks) {
        assertNotAborted(signal);
        await writeFully(file, chunk);
        size += chunk.length;
      }
      if (durability.fsync) await file.sync();
    } finally {
      await file.close();
    }
    assertNotAborted(signal);
  } catch (error) {
    removeQuietly(temporary);
    throw error;
  }
  return { path: temporary, folder, size, durability };
}

/** As `writeTemporary`, of bytes that are at hand. */
export async function writeBytes(
  path: string,
  uuid: string,
  bytes: Uint8Array,
  durability: Durability,
  signal?: AbortSignal,
): Promise<Temporary> {
  if (bytes.length > SMALL) return writeTemporary(path, uuid, [bytes], durability, signal);
  const folder = dirname(path);
  const temporary = `${folder}/${TEMPORARY_PREFIX}${uuid}`;
  const file = await inFolder(folder, durability, () => openSync(temporary, 'wx'));
  try {
    try {
      for (let written = 0; written < bytes.length; )
        written += writeSync(file, bytes, written, bytes.length - written);
      if (durability.fsync) await sync(file);
    } finally {
      closeSync(file);
    }
    assertNotAborted(signal);
  } catch (error) {
    removeQuietly(temporary);
    throw error;
  }
  return { path: temporary, folder, size: bytes.length, durability };
}

/**
 * Gives the file its name, replacing what had it; durable when it returns. Engines on Hadoop keep a checksum beside each file and refuse the file when it is
 * of another, so the one of what is replaced goes first.
 */
export async function publish(temporary: Temporary, path: string): Promise<void> {
  removeQuietly(`${temporary.folder}/.${basename(path)}.crc`);
  try {
    renameSync(temporary.path, path);
  } catch (error) {
    removeQuietly(temporary.path);
    throw error;
  }
  await syncFolder(temporary.folder, temporary.durability);
}

/**
 * Gives the file a name that nothing has, or says `exists`. A fault after which the name may be there (an I/O error, also of the folder's
 * sync) is `ambiguous`. The temporary name is gone in every case.
 */
export async function link(temporary: Temporary, path: string, key: string): Promise<PutIfAbsentResult> {
  try {
    linkSync(temporary.path, path);
  } catch (error) {
    removeQuietly(temporary.path);
    return afterRefusedLink(error, path, key);
  }
  removeQuietly(temporary.path);
  try {
    await syncFolder(temporary.folder, temporary.durability);
  } catch (cause) {
    return { outcome: 'ambiguous', cause };
  }
  return { outcome: 'created' };
}

function afterRefusedLink(error: unknown, path: string, key: string): PutIfAbsentResult {
  const errno = errnoOf(error);
  if (errno === 'EEXIST') return { outcome: 'exists' };
  if (errno !== undefined && NO_LINKS.has(errno))
    throw new TableError(
      'STORE_UNSUPPORTED',
      `The file system of '${path}' refuses hard links (${errno}), without which two writers could replace each other's commits. Keep the table on a file system that has them, or on object storage.`,
      { key, path, errno },
      error,
    );
  if (errno === 'ENOSPC' || errno === 'EDQUOT' || errno === 'ENOENT' || errno === 'ENAMETOOLONG') throw error;
  return { outcome: 'ambiguous', cause: error };
}

/** Opens a file; makes its folder and tries again where that was missing. */
async function inFolder<T>(
  folder: string,
  durability: Durability,
  openFile: () => T | Promise<T>,
): Promise<T> {
  try {
    return await openFile();
  } catch (error) {
    if (errnoOf(error) !== 'ENOENT') throw error;
    const first = await mkdir(folder, { recursive: true });
    await syncNewFolders(first ?? folder, folder, durability);
    return openFile();
  }
}

/** Syncs the parents of the folders just made: the name of a folder is data of the one above it. */
async function syncNewFolders(first: string, last: string, durability: Durability): Promise<void> {
  for (let folder = last; folder.length >= first.length; folder = dirname(folder))
    await syncFolder(dirname(folder), durability);
}

async function writeFully(file: FileHandle, chunk: Uint8Array): Promise<void> {
  for (let written = 0; written < chunk.length; )
    written += (await file.write(chunk, written, chunk.length - written)).bytesWritten;
}

async function syncFolder(folder: string, durability: Durability): Promise<void> {
  if (!durability.fsync) return;
  try {
    const handle = openSync(folder, 'r');
    try {
      await sync(handle);
    } finally {
      closeSync(handle);
    }
  } catch (error) {
    const errno = errnoOf(error);
    if (errno === undefined || !NO_FOLDER_SYNC.has(errno)) throw error;
  }
}

/** Cleaning up never hides what went wrong before it; a file left behind is one that readers pass over. */
function removeQuietly(path: string): void {
  try {
    unlinkSync(path);
  } catch {
    // Already gone, or not ours to remove.
  }
}
