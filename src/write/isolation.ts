import { TableError } from '../errors.js';
import type { Action } from '../log/actions.js';
import { readCommitFile } from '../log/commit-file.js';
import { tableProperties } from '../log/properties.js';
import type { TableContext } from '../runtime/table-context.js';
import { mapAhead } from '../scan/ahead.js';
import type { State } from '../snapshot/state.js';
import { identityOf } from './read-files.js';

/**
 * What a verb that reads is to be equal to. `serializable`: to running alone between its version and the one before. `write-serializable`: to running alone
 * somewhere among the commits since it read; rows that others only appended meanwhile may be left as they are, as if they had come after it.
 */
export type Isolation = 'serializable' | 'write-serializable';

export interface IsolationOptions {
  /** By default what the table's `delta.isolationLevel` says, and `serializable` where it says nothing. A write that changes the schema is serializable. */
  readonly isolation?: Isolation;
}

/** Throws `INVALID_INPUT` for a level that is none. */
export function isolationOn({ metadata }: Pick<State, 'metadata'>, asked: Isolation | undefined): Isolation {
  switch (asked) {
    case 'serializable':
    case 'write-serializable':
      return asked;
    case undefined:
      return tableProperties(metadata.configuration).isolationLevel === 'WriteSerializable'
        ? 'write-serializable'
        : 'serializable';
    default:
      throw new TableError(
        'INVALID_INPUT',
        `isolation is 'serializable' or 'write-serializable'; got '${String(asked)}'.`,
        { isolation: String(asked) },
      );
  }
}

/** Commits read at once. */
const AHEAD = 16;

/**
 * Those of `files`, by identity, that commits after version `from` up to `to` added without having read anything, as their writers say (`isBlindAppend`), so
 * that what was executed on `from` can be thought of as having run right before the first of them. Undefined where that cannot be thought, because a commit
 * after it changed data by what it read, which would then have been other data, or where a commit is gone, so that nobody can tell.
 */
export async function appendedSince(
  { store }: TableContext,
  files: ReadonlySet<string>,
  { from, to }: { readonly from: number; readonly to: number },
): Promise<ReadonlySet<string> | undefined> {
  const appended = new Set<string>();
  const versions = Array.from({ length: to - from }, (_, i) => from + 1 + i);
  const read = (version: number) => readCommitFile(store, version);
  for await (const actions of mapAhead(versions, read, { count: AHEAD })) {
    if (!actions) return undefined;
    if (!actions.some((action) => 'commitInfo' in action && action.commitInfo.isBlindAppend === true)) {
      if (appended.size > 0 && actions.some(changesData)) return undefined;
      continue;
    }
    for (const action of actions) {
      if (!('add' in action) || !action.add.dataChange) continue;
      const identity = identityOf(action.add.path, action.add.deletionVector);
      if (files.has(identity)) appended.add(identity);
    }
  }
  return appended;
}

function changesData(action: Action): boolean {
  return ('add' in action && action.add.dataChange) || ('remove' in action && action.remove.dataChange);
}
