import type {
  AddAction,
  DomainMetadataAction,
  MetadataAction,
  ProtocolAction,
  RemoveAction,
  TxnAction,
} from '../log/actions.js';
import type { StructType } from '../schema/types.js';
import type { RequestOptions } from '../store/store.js';

/** The values of one partition column over all files, dictionary-coded: `codes[id]` is an index into `values`. */
export interface PartitionColumn {
  readonly codes: Int32Array;
  /** Distinct raw serialised values; null is NULL. */
  readonly values: readonly (string | null)[];
}

/**
 * The statistics of one leaf column over all files. Each accessor gives the raw JSON token (`"2024-01-01"`, `12`, `true`) or undefined where the file
 * has none, so that no precision is lost before the type is known.
 */
export interface StatisticsColumn {
  min(id: number): string | undefined;
  max(id: number): string | undefined;
  nullCount(id: number): number | undefined;
}

/** What `FileSet.load` is to fetch: `statistics` for `statistics` and `numRecords`; `actions` for `add` (it covers statistics too). */
export interface FileSetNeeds {
  readonly statistics?: boolean;
  readonly actions?: boolean;
}

/**
 * The live files of a version: immutable, columnar, cheap to derive from its predecessor. Files have ids, dense small integers valid within this set alone;
 * ids of dead files are holes. Nothing per file is allocated until it is asked for.
 *
 * Opening a table reads only what identity, counting and partitions need. `add` wants `load({ actions: true })` before it, `statistics` and `numRecords`
 * want `load({ statistics: true })`; called earlier they throw `INTERNAL`. All other members need no load.
 */
export interface FileSet {
  /**
   * Fetches the columns that opening left out, by range reads of the checkpoint. Idempotent and shared: callers at once wait for the same reads, and
   * successors of this set share what was loaded. On failure (`FILE_NOT_FOUND`, `CORRUPT_LOG`, a store's error) nothing has changed and it can be called again.
   */
  load(needs: FileSetNeeds, options?: RequestOptions): Promise<void>;
  /** The number of live files. */
  readonly count: number;
  /** One more than the largest id. */
  readonly capacity: number;
  /** The ids of the live files, ascending. Not to be changed. */
  ids(): Int32Array;
  /** `add.path` as the log has it. */
  path(id: number): string;
  size(id: number): number;
  modificationTime(id: number): number;
  /** The whole action, with unknown fields. Needs `load({ actions: true })`. */
  add(id: number): AddAction;
  hasDeletionVector(id: number): boolean;
  /** By physical name; undefined when the column is none of the partition columns. */
  partition(physicalName: string): PartitionColumn | undefined;
  /** By physical leaf path, e.g. `['a', 'b']`. Needs `load({ statistics: true })`. */
  statistics(physicalPath: readonly string[]): StatisticsColumn;
  /** `stats.numRecords`, not reduced by the deletion vector. Needs `load({ statistics: true })`. */
  numRecords(id: number): number | undefined;
  /** The sum of sizes in bytes. */
  totalSize(): number;
  /** The id of the live file with this path and deletion vector id, or -1. */
  find(path: string, deletionVectorId: string | undefined): number;
}

/** Everything the log says of one version. Immutable. */
export interface State {
  readonly version: number;
  /** Milliseconds: the in-commit timestamp where enabled, else the modification time of the commit or checkpoint. */
  readonly timestamp: number;
  readonly protocol: ProtocolAction;
  readonly metadata: MetadataAction;
  /** Parsed from `metadata.schemaString`. */
  readonly schema: StructType;
  readonly txns: ReadonlyMap<string, TxnAction>;
  /** Live domains only. */
  readonly domains: ReadonlyMap<string, DomainMetadataAction>;
  readonly files: FileSet;
  /** Unexpired and expired tombstones, for checkpoints and vacuum; read when first asked for. */
  tombstones(): Promise<readonly RemoveAction[]>;
}
