import type { DeletionVector } from '../log/actions.js';
import type { ScanFile } from '../scan/plan.js';
import type { StagedFile } from '../stage/staged.js';
import type { Assignments } from './set.js';

/** What happens to a row of the table. */
export type RowClause =
  | { readonly kind: 'delete' }
  /** `set` makes the new row from the row as it was (`target`), or from the structs `source` and `target` (`both`). */
  | { readonly kind: 'update'; readonly sides: 'target' | 'both'; readonly set: Assignments };

/** The rows of one live file that a verb changes. */
export interface MarkedFile {
  readonly id: number;
  readonly file: ScanFile;
  /** Where they stand in the file, ascending. */
  readonly positions: Uint32Array;
  /** For each of them the number of its clause. */
  readonly clauses: Uint8Array;
  /** For each of them the number of the source row it was matched with, or -1. */
  readonly sources: Int32Array | undefined;
}

/** How many rows a write added, changed, removed, and copied from files that it had to write again. `deleted` is undefined where the log does not say. */
export interface RowCounts {
  readonly inserted: number;
  readonly updated: number;
  readonly deleted: number | undefined;
  readonly copied: number;
}

/** A live file that goes, or stays with a larger deletion vector. */
export interface ChangedFile {
  readonly path: string;
  /** The id of the deletion vector that it has on the state that was read. */
  readonly vectorId: string | undefined;
  readonly vector?: DeletionVector;
}

/** What a verb made of the files that it read: everything staged and not yet committed. */
export interface Effects {
  readonly changed: readonly ChangedFile[];
  /** New data files. */
  readonly files: readonly StagedFile[];
  /** New change data files. */
  readonly changes: readonly StagedFile[];
  /** Objects of new deletion vectors, by `add.path`-like paths. */
  readonly vectorPaths: readonly string[];
  readonly rows: RowCounts;
}
