import type { CommitPlan, TransactionOptions } from '../commit/transaction.js';
import { TableError } from '../errors.js';
import type { State } from '../snapshot/state.js';
import type { StagedFile } from '../stage/staged.js';
import { planAppend } from './append.js';
import { planOverwritePartitions } from './overwrite-partitions.js';
import type { Amount, Guards, Token, WritePlan } from './plan.js';

/** What to do with staged rows. */
export type Verb = 'append' | 'overwritePartitions';

/** What every verb takes besides its rows. */
export interface WriteOptions extends TransactionOptions, Guards {
  /** Makes the write happen once: it is `skipped` when the table has recorded this version of the application, or a later one. */
  readonly txn?: Token;
}

/** What a verb gives back. `version` is the one committed, or the one on which no commit was needed. */
export interface WriteResult {
  readonly status: 'committed' | 'unchanged' | 'skipped' | 'superseded';
  readonly version: number;
  readonly added: Amount;
  readonly removed: Amount;
  /** How often a version was tried for; 0 where none was. */
  readonly attempts: number;
}

export interface PlannedWrite {
  readonly plan: WritePlan;
  readonly commit: CommitPlan;
}

export const NOTHING: Amount = { files: 0, rows: 0, bytes: 0 };

/** Decides what a verb would commit on `state`. `now` is milliseconds since the Unix epoch. Throws what the verb refuses. */
export function planVerb(
  verb: Verb,
  state: State,
  files: readonly StagedFile[],
  now: number,
): Promise<PlannedWrite> {
  switch (verb) {
    case 'append':
      return planAppend(state, files);
    case 'overwritePartitions':
      return planOverwritePartitions(state, files, now);
  }
}

/** Refuses, before a row is read, a verb that the table or its options make impossible. Throws `INVALID_INPUT`. */
export function assertVerb(url: string, verb: Verb, partitionColumns: readonly string[]): void {
  if (verb === 'overwritePartitions' && partitionColumns.length === 0) {
    throw new TableError(
      'INVALID_INPUT',
      `${url} is not partitioned, so there are no partitions to overwrite. Append, or create the table with partitionBy.`,
      { url, verb },
    );
  }
}

/** True when the table has recorded the token's version of its application, or a later one. */
export function isReplay(state: State, token: Token | undefined): boolean {
  const recorded = token && state.txns.get(token.appId)?.version;
  return recorded !== undefined && BigInt(recorded) >= BigInt(token!.version);
}
