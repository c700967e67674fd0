import type { AddAction, RemoveAction } from '../log/actions.js';
import type { StatsSpan } from './json-statistics.js';
import type { PathSpans } from './path-index.js';
import type { PathKey } from './path-scan.js';
import type { FileSetNeeds } from './state.js';
import type { StatisticsSource } from './statistics.js';

/** What only some adds have. */
export type AddExtra = Omit<
  AddAction,
  'path' | 'partitionValues' | 'size' | 'modificationTime' | 'dataChange' | 'stats'
>;

/**
 * The adds of one row group of a checkpoint, in columns. Immutable but for what `load` adds. Rows are the adds in file order; all of them were live at the
 * checkpoint's version.
 */
export interface FileBlock extends StatisticsSource {
  readonly count: number;
  /** The sum of sizes. */
  readonly bytes: number;
  /** Partition value codes by column number; missing means NULL. */
  readonly columns: readonly (Int32Array | undefined)[];
  path(row: number): string;
  size(row: number): number;
  modificationTime(row: number): number;
  hasVector(row: number): boolean;
  vectorId(row: number): string | undefined;
  /** Calls `onRow` for every row with this path. Builds the index of paths on first use. */
  rowsOf(bytes: Uint8Array, start: number, length: number, hash: number, onRow: (row: number) => void): void;
  /** Calls `onRow` with the key's position and the row for every row whose path is among `keys`. */
  matching(keys: readonly PathKey[], onRow: (key: number, row: number) => void): void;
  /** The paths by row, without strings. */
  pathSpans(): PathSpans;
  /** The JSON statistics of a row as bytes. Needs `load({ statistics: true })`. */
  statsSpan(row: number): StatsSpan | undefined;
  /** The members of the add beside path, partition values, size, times, `dataChange` and statistics. Needs `load({ actions: true })`. */
  extra(row: number): AddExtra | undefined;
  /** Needs `load({ actions: true })`. */
  add(row: number): AddAction;
  load(needs: FileSetNeeds): Promise<void>;
  loaded(need: keyof FileSetNeeds): boolean;
}

/** The `remove` rows of a checkpoint, read when asked for. */
export type TombstoneSource = () => Promise<readonly RemoveAction[]>;
