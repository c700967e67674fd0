import { isTableError } from '../errors.js';
import type { RequestOptions, Store } from '../store/store.js';
import { parseCommit } from './action-lines.js';
import type { Action } from './actions.js';
import { commitPath } from './paths.js';

/** The actions of a commit; undefined where it is not, or no longer, there. Throws `CORRUPT_LOG` and store errors. */
export async function readCommitFile(
  store: Store,
  version: number,
  options?: RequestOptions,
): Promise<Action[] | undefined> {
  const file = commitPath(version);
  try {
    return parseCommit(await store.get(file, options), { version, file });
  } catch (error) {
    if (isTableError(error, 'NOT_FOUND')) return undefined;
    throw error;
  }
}
