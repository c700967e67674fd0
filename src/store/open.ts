import type { Context } from '../runtime/context.js';
import { type LocalOptions, LocalStore } from './local.js';
import { MemoryObjects, MemoryStore } from './memory.js';
import { S3Store } from './s3.js';
import type { S3Options } from './s3-options.js';
import type { Store } from './store.js';
import { formatLocation, parseLocation } from './url.js';

export { resolveUrl } from './url.js';

export interface StoreOptions extends S3Options, LocalOptions {}

const memories = new Map<string, MemoryObjects>();

/**
 * The store at a URL or path, in any spelling that `resolveUrl` takes. Nothing is read, created or loaded yet; what is not there shows at the
 * first operation. `memory://name` is one place for the whole process. Throws `INVALID_INPUT` for what is no place.
 */
export function openStore(url: string, ctx: Context, options: StoreOptions = {}): Store {
  const location = parseLocation(url);
  if (location.kind === 's3') return new S3Store(ctx, location, options);
  if (location.kind === 'file') return new LocalStore(ctx, location.path, options);
  const name = formatLocation(location);
  const objects = memories.get(name) ?? new MemoryObjects();
  memories.set(name, objects);
  return new MemoryStore(ctx, name, objects);
}
