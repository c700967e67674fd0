import type { CommitPlan, TransactionOptions } from '../commit/transaction.js';
import type { Predicate } from '../scan/predicate.js';
import type { StructType } from '../schema/types.js';
import type { RowCounts } from './effects.js';
import type { IsolationOptions } from './isolation.js';
import type { Amount, Guards, Token, WritePlan } from './plan.js';
import type { RecordedToken } from './replay.js';
import type { SetClause } from './set.js';

export type VerbName =
  | 'append'
  | 'overwritePartitions'
  | 'overwrite'
  | 'replaceUsing'
  | 'merge'
  | 'delete'
  | 'update';

/** SQL text or a predicate. */
export type Where = string | Predicate;

/** What `overwrite` replaces: the rows for which a predicate is TRUE, or everything, then optionally with another schema. */
export type OverwriteTarget =
  | { readonly where: Where }
  | { readonly all: true; readonly schema?: string | StructType };

export interface DeleteSpec {
  /** Rows for which it is TRUE go. */
  readonly where: Where;
}

export interface UpdateSpec {
  /** Column names to SQL text of an expression, an expression, or a JavaScript value other than text. All see the row as it was. */
  readonly set: SetClause;
  /** Rows for which it is TRUE change. */
  readonly where: Where;
}

export interface ReplaceUsingSpec {
  /** The key: rows of the table that equal an incoming row in all of these columns go. */
  readonly columns: readonly string[];
  /** Takes NULL in a key column as a value that equals itself; refused by default. */
  readonly nullKeys?: boolean;
}

/** A target row that a source row has the key of. Conditions and expressions say `source.x` or `target.x`. */
export type WhenMatched =
  | { readonly where?: Where; readonly update: 'all' | SetClause }
  | { readonly where?: Where; readonly delete: true };
/** A source row whose key no target row has. */
export interface WhenNotMatched {
  readonly where?: Where;
  readonly insert: 'all' | SetClause;
}
/** A target row whose key no source row has. */
export type WhenNotMatchedBySource =
  | { readonly where?: Where; readonly update: SetClause }
  | { readonly where?: Where; readonly delete: true };

export interface MergeSpec {
  /** The key columns. NULL equals NULL unless `nulls` is `distinct`. */
  readonly on: readonly string[];
  readonly nulls?: 'equal' | 'distinct';
  /** Of several clauses the first whose condition is TRUE counts; without one the row stays. `{ update: 'all' }` by default. */
  readonly whenMatched?: WhenMatched | readonly WhenMatched[];
  /** `{ insert: 'all' }` by default. */
  readonly whenNotMatched?: WhenNotMatched | readonly WhenNotMatched[];
  readonly whenNotMatchedBySource?: WhenNotMatchedBySource | readonly WhenNotMatchedBySource[];
  /** Of several source rows with one key keeps that with the greatest (`last`) or least (`first`) values of `by`; refused by default. */
  readonly dedupe?: { readonly by: string | readonly string[]; readonly order: 'first' | 'last' };
}

/** What to do with staged rows. */
export type Verb =
  | 'append'
  | 'overwritePartitions'
  | ({ readonly verb: 'overwrite' } & OverwriteTarget)
  | ({ readonly verb: 'replaceUsing' } & ReplaceUsingSpec)
  | ({ readonly verb: 'merge' } & MergeSpec)
  | ({ readonly verb: 'delete' } & DeleteSpec)
  | ({ readonly verb: 'update' } & UpdateSpec);

/** How rows may change the schema: by columns that it lacks, by wider types where `delta.enableTypeWidening` allows them, or (with `overwrite` of all alone) whole. */
export type Evolve = 'add-columns' | 'widen' | 'overwrite';
export const EVOLVE: readonly Evolve[] = ['add-columns', 'widen', 'overwrite'];

export interface EvolveOptions {
  /** What rows may do to the schema, in their own commit; by default it stays as it is, and a column that it lacks is `UNKNOWN_COLUMN`. */
  readonly evolve?: Evolve | readonly Evolve[];
  /** With `evolve`: columns that the rows have, as DDL text or a schema. Without it the types of Arrow data count, and of row objects what their values tell. */
  readonly evolveTo?: string | StructType;
}

/** What every verb takes besides its rows. */
export interface WriteOptions extends TransactionOptions, Guards, EvolveOptions, IsolationOptions {
  /** Makes the write happen once: it is `skipped` when the table has recorded this version of the application, or a later one. */
  readonly txn?: Token;
  /**
   * What a replay does with its rows: `skip` (the default) reads none; `compare` reads them and refuses others than those of the first time
   * (`REPLAY_DIFFERS`). The first write must say `compare` too: it then leaves a digest of its rows.
   */
  readonly onReplay?: 'skip' | 'compare';
}

/** What a verb gives back. `version` is the one committed, or the one on which no commit was needed. */
export interface WriteResult {
  readonly status: 'committed' | 'unchanged' | 'skipped' | 'superseded';
  readonly version: number;
  readonly added: Amount;
  readonly removed: Amount;
  readonly rows: RowCounts;
  /** Of a skipped write: what the table has recorded. */
  readonly recorded?: RecordedToken;
  /** How often a version was tried for; 0 where none was. */
  readonly attempts: number;
}

export interface PlannedWrite {
  readonly plan: WritePlan;
  /** True where the commit would change nothing. */
  readonly isEmpty: boolean;
  readonly commit: CommitPlan;
}
