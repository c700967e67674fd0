import type { AddAction, DomainMetadataAction, MetadataAction, ProtocolAction, RemoveAction, TxnAction } from '../log/actions.js';
import type { StructType } from '../schema/types.js';

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

/**
 * The live files of a version: immutable, columnar, cheap to derive from its predecessor. Files have ids, dense small integers valid within this set alone;
 * ids of dead files are holes. Nothing per file is allocated until it is asked for.
 */
export interface FileSet {
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
  /** The whole action, with unknown fields. */
  add(id: number): AddAction;
  hasDeletionVector(id: number): boolean;
  /** By physical name; undefined when the column is none of the partition columns. */
  partition(physicalName: string): PartitionColumn | undefined;
  /** By physical leaf path, e.g. `['a', 'b']`. */
  statistics(physicalPath: readonly string[]): StatisticsColumn;
  /** `stats.numRecords`, not reduced by the deletion vector. */
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
