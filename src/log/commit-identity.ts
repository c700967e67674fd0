import { findCommitInfo } from './commit-time.js';

/** The `commitInfo.txnId` that tells one writer's commit from another's; undefined where there is none or the bytes are no commit. */
export function commitTxnId(bytes: Uint8Array): string | undefined {
  try {
    return findCommitInfo(bytes, { version: -1, key: '' })?.txnId;
  } catch {
    // Whoever wrote bytes that do not parse, it was not this library.
    return undefined;
  }
}
