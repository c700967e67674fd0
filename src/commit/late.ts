import { commitPath } from '../log/paths.js';
import type { Context } from '../runtime/context.js';
import { loadState } from '../snapshot/load.js';
import type { Store } from '../store/store.js';
import { anyLive, anyRemoved } from './evidence.js';

/**
 * What a version is worth that was put longer after its base was confirmed than log cleanup is held off. `visible`: readers see it. `orphan`: it was
 * created where cleanup had removed a version of the same number, and no reader will ever see it; the write may be made again. `unknown`: neither is proved.
 */
export type Late = 'visible' | 'orphan' | 'unknown';

/**
 * Looks from scratch at what became of the commit of `version` that added `paths` (see `addedFiles`). Requests: a fresh load, and a HEAD where the files are not found.
 */
export async function judgeLate(
  store: Store,
  ctx: Context,
  version: number,
  paths: readonly string[],
): Promise<Late> {
  const fresh = await loadState(store, ctx, {});
  if (fresh.version === version) return 'visible';
  if (fresh.version < version) return 'unknown';
  if (anyLive(fresh, paths) || anyRemoved(await fresh.tombstones(), paths)) return 'visible';
  const before = await store.head(commitPath(version - 1));
  const after = await store.head(commitPath(version + 1));
  if (before && after) return 'visible';
  return !before && paths.length > 0 ? 'orphan' : 'unknown';
}
