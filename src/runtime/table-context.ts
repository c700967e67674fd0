import type { Gathering } from '../commit/gathering.js';
import type { Member } from '../commit/group.js';
import type { Pace } from '../commit/pace.js';
import type { Queue } from '../commit/queue.js';
import type { Latest } from '../snapshot/latest.js';
import type { Pool } from '../stage/pool.js';
import type { Store } from '../store/store.js';
import type { Context } from './context.js';

/** What the rooms need to work on one table: its store, its newest state, its line of commits. One per table and runtime. */
export interface TableContext {
  readonly url: string;
  readonly store: Store;
  readonly ctx: Context;
  readonly latest: Latest;
  readonly queue: Queue;
  /** Those in the line that only add to the table, and may be committed together. */
  readonly appends: Gathering<Member>;
  readonly pace: Pace;
  /** What is to come to its end before the runtime does: writers, followers, writes under way. */
  readonly openings: Set<AsyncDisposable>;
  /** The runtime's worker threads; started on first use. */
  pool(): Promise<Pool>;
  /** Proves once that the store keeps put-if-absent. Throws `UNSAFE_STORE`, `PERMISSION_DENIED`. */
  assertSafe(): Promise<void>;
}
