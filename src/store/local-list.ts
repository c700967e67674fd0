import { statSync } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import type { Clock } from '../runtime/context.js';
import { compareKeys } from './keys.js';
import { isMissing } from './local-errors.js';
import type { ObjectMeta } from './store.js';

export interface LocalListing {
  /** The absolute path of the store's folder. */
  readonly root: string;
  readonly prefix: string;
  readonly after: string;
}

const LOOKS_BETWEEN_CHECKS = 64;
const QUICK_STAT_MS = 0.1;
const STATS_AT_ONCE = 64;

/**
 * Runs of keys below one folder ('' or with a slash at the end), in order over all runs, that start with `prefix` and are greater than `after`.
 * A folder sorts as its name with a slash, which is how its keys compare with the files beside it. Folders wholly outside are not opened,
 * and none before its turn.
 */
export async function* walkKeys(listing: LocalListing, folder: string): AsyncGenerator<readonly string[]> {
  const { root, prefix, after } = listing;
  const keys: string[] = [];
  for (const { name, isFolder } of await entriesOf(`${root}/${folder}`)) {
    const key = isFolder ? `${folder}${name}/` : folder + name;
    if (!key.startsWith(prefix) && !(isFolder && prefix.startsWith(key))) continue;
    if (compareKeys(key, after) > 0 || (isFolder && after.startsWith(key))) keys.push(key);
  }
  let run: string[] = [];
  for (const key of keys.sort(compareKeys)) {
    if (!key.endsWith('/')) {
      run.push(key);
      continue;
    }
    if (run.length > 0) yield run;
    run = [];
    yield* walkKeys(listing, key);
  }
  if (run.length > 0) yield run;
}

/**
 * Sizes and times of files, without those that are gone by now. Looks at one after the other while that is quick, which it is on a local disk:
 * handing each look to a thread costs several times the look. On a slow disk the rest is looked at side by side.
 */
export async function statObjects(
  root: string,
  keys: readonly string[],
  clock: Clock,
): Promise<ObjectMeta[]> {
  const metas: ObjectMeta[] = [];
  const started = clock.monotonic();
  let i = 0;
  for (; i < keys.length; i++) {
    if (i > 0 && i % LOOKS_BETWEEN_CHECKS === 0 && clock.monotonic() - started > i * QUICK_STAT_MS) break;
    const meta = statNow(`${root}/${keys[i]}`, keys[i] as string);
    if (meta) metas.push(meta);
  }
  for (; i < keys.length; i += STATS_AT_ONCE) {
    const batch = keys.slice(i, i + STATS_AT_ONCE);
    const found = await Promise.all(batch.map((key) => statObject(`${root}/${key}`, key)));
    for (const meta of found) if (meta) metas.push(meta);
  }
  return metas;
}

/** Undefined for what is not there any more and for what is not a file. */
export async function statObject(path: string, key: string): Promise<ObjectMeta | undefined> {
  try {
    return metaOf(key, await stat(path));
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}

function statNow(path: string, key: string): ObjectMeta | undefined {
  try {
    return metaOf(key, statSync(path, { throwIfNoEntry: false }));
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}

function metaOf(
  key: string,
  found: { isFile(): boolean; readonly size: number; readonly mtimeMs: number } | undefined,
): ObjectMeta | undefined {
  return found?.isFile() ? { key, size: found.size, modifiedAt: Math.trunc(found.mtimeMs) } : undefined;
}

/** What a folder holds; links count as what they lead to. Nothing where there is no such folder. */
async function entriesOf(path: string): Promise<{ name: string; isFolder: boolean }[]> {
  try {
    const entries: { name: string; isFolder: boolean }[] = [];
    for (const entry of await readdir(path, { withFileTypes: true })) {
      const isFolder = entry.isSymbolicLink()
        ? await leadsToFolder(`${path}${entry.name}`)
        : entry.isDirectory();
      entries.push({ name: entry.name, isFolder });
    }
    return entries;
  } catch (error) {
    if (isMissing(error)) return [];
    throw error;
  }
}

async function leadsToFolder(path: string): Promise<boolean> {
  return stat(path).then(
    (target) => target.isDirectory(),
    () => false,
  );
}
