import type { Action } from '../log/actions.js';
import { commitTxnId } from '../log/commit-identity.js';
import type { CommitFile } from '../log/listing.js';

/** What is known of the commit file of a state's version: enough to tell whether the log still has that one, or one of another table at the same place. */
export interface CommitMark {
  /** As a listing showed it; without a time where the file was read and not listed. */
  readonly file?: { readonly size: number; readonly modifiedAt?: number };
  /** Of a commit that no listing has shown yet. */
  readonly txnId?: string;
}

/** Of the commit file of `version`; undefined where there is none of that version alone. */
export function markOfFile(version: number, file: CommitFile | undefined): CommitMark | undefined {
  if (file === undefined || file.version !== version || file.from !== version) return undefined;
  return { file: { size: file.size, modifiedAt: file.modifiedAt } };
}

/** Of a commit whose file was read and not listed. */
export function markOfBytes(bytes: Uint8Array): CommitMark {
  return { file: { size: bytes.length } };
}

/** Of a commit made here; undefined where it has no id of its own. */
export function markOfActions(actions: readonly Action[]): CommitMark | undefined {
  const txnId = actions.map(txnIdOf).find((id) => id !== undefined);
  return txnId === undefined ? undefined : { txnId };
}

/** What a listing says of a mark: the same file, another one, or nothing: then the file itself tells. */
export function compareMark(
  mark: CommitMark | undefined,
  listed: CommitFile | undefined,
): 'same' | 'other' | 'unknown' {
  if (mark === undefined || listed === undefined) return 'same';
  if (mark.file === undefined) return 'unknown';
  const { size, modifiedAt = listed.modifiedAt } = mark.file;
  return size === listed.size && modifiedAt === listed.modifiedAt ? 'same' : 'other';
}

/** True when the bytes of a commit have the id of a mark. */
export function isMarked(mark: CommitMark, bytes: Uint8Array): boolean {
  return commitTxnId(bytes) === mark.txnId;
}

function txnIdOf(action: Action): string | undefined {
  const id = 'commitInfo' in action ? action.commitInfo.txnId : undefined;
  return typeof id === 'string' ? id : undefined;
}
