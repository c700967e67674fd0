import { checkWinners } from '../commit/conflict.js';
import type { WinnersCheck } from '../commit/transaction.js';
import type { State } from '../snapshot/state.js';
import type { StagedFile } from '../stage/staged.js';
import type { Isolation } from './isolation.js';
import type { PlannedWrite, VerbName } from './verb.js';

/** The second half of a verb: what was staged, and how it becomes a commit on one state or another. */
export interface Work {
  readonly verb: VerbName;
  /** True where what is to be done depends on what the table holds. */
  readonly reads: boolean;
  /** The data files staged now. Those that a newer state has made stale are deleted and replaced when the work is planned on it. */
  readonly files: readonly StagedFile[];
  /** Reads and stages what depends on the state, ahead of the first plan. */
  prepare?(state: State): Promise<void>;
  /** Decides the commit on `state`; reads and stages again what is stale at the isolation wanted, the table's own by default. Throws what the verb refuses. */
  plan(state: State, isolation?: Isolation): Promise<PlannedWrite>;
  /**
   * Throws `COMMIT_CONFLICT` where what was staged does not fit a state with other metadata or another protocol than the one it was staged on. Without it, none
   * fits.
   */
  checkWinners?(url: string, before: State, now: State): void;
  /** Deletes everything staged, as well as can be. */
  discard(): Promise<void>;
  /** Gives the local disk back; staged files stay. */
  close(): Promise<void>;
}

/** The check of a work, or else the one that no other metadata and no other protocol pass. */
export function winnersCheckOf(work: Work): WinnersCheck {
  return work.checkWinners?.bind(work) ?? checkWinners;
}
