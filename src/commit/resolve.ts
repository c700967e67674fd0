import { isTableError } from '../errors.js';
import { commitTxnId } from '../log/commit-identity.js';
import { commitPath } from '../log/paths.js';
import type { TableContext } from '../runtime/table-context.js';
import { loadState } from '../snapshot/load.js';
import { anyLive } from './evidence.js';

/** The context of a `COMMIT_STATE_UNKNOWN` error. Plain data: may be stored and asked about by another process. */
export interface UnknownCommit {
  readonly version: number;
  readonly txnId: string;
  /** The files it adds; see `addedFiles`. */
  readonly paths: readonly string[];
}

/** `absent` is no proof that the commit will not land yet, unless the version is taken by another. */
export type Resolution = 'committed' | 'conflict' | 'absent' | 'unknown';

/**
 * What the store shows now of a commit whose fate was not known. `committed`: its version is in the log, or its files are live. `conflict`: another
 * commit has its version. `absent`: nothing has that version yet, and the put may still land. `unknown`: log cleanup removed the evidence.
 */
export async function resolveCommit(table: TableContext, commit: UnknownCommit): Promise<Resolution> {
  try {
    const bytes = await table.store.get(commitPath(commit.version));
    return commitTxnId(bytes) === commit.txnId ? 'committed' : 'conflict';
  } catch (error) {
    if (!isTableError(error, 'NOT_FOUND')) throw error;
  }
  const state = await loadState(table.store, table.ctx, {});
  if (state.version < commit.version) return 'absent';
  return anyLive(state, commit.paths) ? 'committed' : 'unknown';
}
