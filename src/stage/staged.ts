/** A Parquet file that is in the store and that no snapshot mentions yet. Plain data: may be printed, stored, sent. */
export interface StagedFile {
  /** As it will stand in `add.path`: relative to the table, percent-encoded once. */
  readonly path: string;
  /** By physical name, serialised as the protocol says; null for NULL. */
  readonly partitionValues: Readonly<Record<string, string | null>>;
  /** Bytes. */
  readonly size: number;
  /** Milliseconds since the Unix epoch. */
  readonly modificationTime: number;
  readonly rows: number;
  /** The `stats` of the add action, JSON text. */
  readonly stats: string;
}
