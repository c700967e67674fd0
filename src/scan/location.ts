import { pathToFileURL } from 'node:url';
import { TableError } from '../errors.js';
import type { Context } from '../runtime/context.js';
import { classifyPath, decodePath } from '../schema/path.js';
import { openStore } from '../store/open.js';
import type { Store } from '../store/store.js';

/** Where the objects that a log names are read. */
export interface LocationOptions {
  /** Allows paths that lead out of the table's folder. */
  readonly allowExternalFiles?: boolean;
  /** Opens the store of a folder outside the table; with the default credentials where left out. */
  readonly openExternal?: (folderUrl: string) => Store;
}

export interface Location {
  readonly store: Store;
  readonly key: string;
}

/**
 * Resolves the paths of one table's log, which are URI references: relative ones to keys of its store, decoded once; absolute ones that point into the
 * table likewise. All others are refused unless external files are allowed: a log must not make a reader open any file it pleases.
 */
export class Locator {
  readonly #store: Store;
  readonly #ctx: Context;
  readonly #options: LocationOptions;
  readonly #external = new Map<string, Store>();

  constructor(store: Store, ctx: Context, options: LocationOptions = {}) {
    this.#store = store;
    this.#ctx = ctx;
    this.#options = options;
  }

  /** Throws `INVALID_INPUT` for a path outside the table that is not allowed, `CORRUPT_LOG` for one that is no URI reference. */
  locate(path: string): Location {
    const place = classifyPath(path);
    if (place.kind === 'relative') return { store: this.#store, key: place.key };
    const url = place.kind === 'absolute' ? decodedUrl(place.url) : joinUrl(rootUrl(this.#store), place.path);
    const inside = this.keyWithin(url);
    if (inside !== undefined) return { store: this.#store, key: inside };
    if (this.#options.allowExternalFiles !== true) {
      throw new TableError(
        'INVALID_INPUT',
        `The log of ${this.#store.url} names a file outside the table's folder: ${path}. If you trust the table, allow it with allowExternalFiles.`,
        { url: this.#store.url, path, option: 'allowExternalFiles' },
      );
    }
    const slash = url.lastIndexOf('/');
    const folder = url.slice(0, slash);
    let store = this.#external.get(folder);
    if (store === undefined) {
      const url = folder.startsWith('file://') ? pathToFileURL(folder.slice('file://'.length)).href : folder;
      store = this.#options.openExternal?.(url) ?? openStore(url, this.#ctx);
      this.#external.set(folder, store);
    }
    return { store, key: url.slice(slash + 1) };
  }

  /** The key below the table's root of a decoded URL, if it is there. */
  private keyWithin(url: string): string | undefined {
    const root = `${rootUrl(this.#store)}/`;
    return url.startsWith(root) ? url.slice(root.length) : undefined;
  }
}

/** Decoded once, with `file:///` for every way to spell a local path and `s3://` for Hadoop's names of S3; `..` segments resolved. */
function decodedUrl(url: string): string {
  const match = /^([A-Za-z][A-Za-z0-9+.-]*):\/*(.*)$/s.exec(url);
  if (match === null)
    throw new TableError('CORRUPT_LOG', `The log names a file by no valid URI: ${url}.`, { path: url });
  return spelled(match[1]!.toLowerCase(), decodePath(match[2]!));
}

/** The URL of a store in the same spelling: S3 URLs are not encoded, those of files are. */
function rootUrl(store: Store): string {
  const match = /^([a-z0-9]+):\/\/(.*)$/s.exec(store.url);
  if (match === null || match[1] === 'file') return decodedUrl(store.url);
  return spelled(match[1]!, match[2]!);
}

function spelled(scheme: string, rest: string): string {
  const path = resolveDots(rest);
  if (scheme === 'file') return `file:///${path.replace(/^\/*(localhost\/)?/, '')}`;
  return `${scheme === 's3a' || scheme === 's3n' ? 's3' : scheme}://${path}`;
}

function joinUrl(root: string, path: string): string {
  const start = root.indexOf('://') + 3;
  return root.slice(0, start) + resolveDots(`${root.slice(start)}/${path}`);
}

function resolveDots(path: string): string {
  const kept: string[] = [];
  for (const segment of path.split('/')) {
    if (segment === '..') kept.pop();
    else if (segment !== '.') kept.push(segment);
  }
  return kept.join('/');
}
