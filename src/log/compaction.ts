import { TableError } from '../errors.js';
import { parseCommit } from './action-lines.js';
import type { CommitFile } from './listing.js';

/**
 * Checks a log compaction file before it stands for the commits it covers. The protocol wants its actions reconciled (Log Compaction Files), which some writers
 * did not do; then the file alone cannot tell whether a file that is both added and removed is live. `CORRUPT_LOG`, which names the compaction file.
 */
export function assertReconciled(bytes: Uint8Array, file: CommitFile): void {
  const added = new Set<string>();
  const removed = new Set<string>();
  for (const action of parseCommit(bytes, { version: file.version, file: file.key })) {
    const [body, names] =
      'add' in action ? [action.add, added] : 'remove' in action ? [action.remove, removed] : [];
    if (!body || !names) continue;
    const vector = body.deletionVector;
    names.add(
      JSON.stringify([body.path, vector && [vector.storageType, vector.pathOrInlineDv, vector.offset]]),
    );
  }
  for (const name of added) {
    if (!removed.has(name)) continue;
    throw new TableError(
      'CORRUPT_LOG',
      `${file.key} both adds and removes ${name}, so it cannot stand for the commits ${file.from} to ${file.version}, of which some are missing. Restore those.`,
      { file: file.key, from: file.from, version: file.version },
    );
  }
}
