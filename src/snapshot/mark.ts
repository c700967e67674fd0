import type { Action } from '../log/actions.js';
import { commitTxnId } from '../log/commit-identity.js';
import type { CommitFile } from '../log/listing.js';
import type { State } from './state.js';

/** What is known of the commit file of a state's version: enough to tell whether the log still has that one, or one of another table at the same place. */
export interface CommitMark {
  /** As a listing showed it; without a time where the file was read and not listed. */
  readonly file?: { readonly size: number; readonly modifiedAt?: number };
  /** Of a commit that no listing has shown yet. */
  readonly txnId?: string;
}

const marks = new WeakMap<State, CommitMark>();

/** Undefined where nothing is known, as of versions that only a checkpoint is left of. */
export function markOf(state: State): CommitMark | undefined {
  return marks.get(state);
}

/** Marks a state by the file of its version's commit. */
export function markByFile(state: State, file: CommitFile | undefined): void {
  if (file !== undefined && file.version === state.version && file.from === file.version) {
    marks.set(state, { file: { size: file.size, modifiedAt: file.modifiedAt } });
  }
}

/** Marks a state by the bytes of its version's commit. */
export function markByBytes(state: State, bytes: Uint8Array): void {
  marks.set(state, { file: { size: bytes.length } });
}

/** Marks a state by the actions of its version's commit, where they have an id of their own. */
export function markByActions(state: State, actions: readonly Action[]): void {
  const txnId = actions.map(txnIdOf).find((id) => id !== undefined);
  if (txnId !== undefined) marks.set(state, { txnId });
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
