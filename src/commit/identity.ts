import { parseCommit } from '../log/action-lines.js';

/** The `commitInfo.txnId` that tells one writer's commit from another's; undefined where there is none or the bytes are no commit. */
export function commitTxnId(bytes: Uint8Array): string | undefined {
  try {
    for (const action of parseCommit(bytes, { version: -1, file: '' })) {
      if ('commitInfo' in action) return action.commitInfo.txnId;
    }
  } catch {
    // Whoever wrote bytes that do not parse, it was not this library.
  }
  return undefined;
}
