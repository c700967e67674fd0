import { isTableError } from '../errors.js';
import type { Store } from '../store/store.js';
import { parseCommit } from './action-lines.js';
import type { Action } from './actions.js';
import { readLogFile } from './limits.js';
import type { CommitFile } from './listing.js';
import { commitPath } from './paths.js';

/** The actions of a commit; undefined where it is not, or no longer, there. Throws `CORRUPT_LOG` and store errors. */
export function readCommitFile(store: Store, version: number): Promise<Action[] | undefined> {
  const key = commitPath(version);
  return parsed(store.get(key), { version, key });
}

/** The actions of a commit that a listing names; undefined where it is gone since. Throws `CORRUPT_LOG`, `LIMIT_EXCEEDED` and store errors. */
export function readListedCommit(store: Store, commit: CommitFile): Promise<Action[] | undefined> {
  return parsed(readLogFile(store, commit), commit);
}

async function parsed(
  bytes: Promise<Uint8Array>,
  { version, key }: Pick<CommitFile, 'version' | 'key'>,
): Promise<Action[] | undefined> {
  try {
    return parseCommit(await bytes, { version, file: key });
  } catch (error) {
    if (isTableError(error, 'NOT_FOUND')) return undefined;
    throw error;
  }
}
