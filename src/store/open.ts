import type { Context } from '../runtime/context.js';
import { LocalStore } from './local.js';
import { MemoryObjects, MemoryStore } from './memory.js';
import { S3Store } from './s3.js';
import type { S3Options } from './s3-options.js';
import type { Store } from './store.js';
import { formatLocation, parseLocation } from './url.js';

export { resolveUrl } from './url.js';

/** What the kinds of store can be told; each takes its own part. */
export interface StoreOptions {
  readonly s3?: S3Options;
  /** False leaves out the fsync calls of local stores. Default true. */
  readonly fsync?: boolean;
}

const memories = new Map<string, MemoryObjects>();

/**
 * The store at a URL or path, in any spelling that `resolveUrl` takes. Nothing is read, created or loaded yet; what is not there shows at the
 * first operation. `memory://name` is one place for the whole process. Throws `INVALID_INPUT` for what is no place.
 */
export function openStore(url: string, ctx: Context, options: StoreOptions = {}): Store {
  const location = parseLocation(url);
  if (location.kind === 's3') return new S3Store(ctx, location, options.s3);
  if (location.kind === 'file') return new LocalStore(ctx, location.path, { fsync: options.fsync });
  const name = formatLocation(location);
  const objects = memories.get(name) ?? new MemoryObjects();
  memories.set(name, objects);
  return new MemoryStore(ctx, name, objects);
}
