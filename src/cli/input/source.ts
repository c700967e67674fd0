import type { RecordBatch } from 'apache-arrow';
import type { StructType } from '../../schema/types.js';

/** What a zone-less timestamp is to become: an instant, taken as UTC, or itself. Undefined where nobody said. */
export type NtzAs = 'utc' | 'keep' | undefined;

/** Hears how far reading is, in bytes of the input. */
export type OnBytes = (bytes: number) => void;

/** How text is read. */
export interface TextOptions {
  readonly ntzAs: NtzAs;
  /** CSV: what stands between cells. */
  readonly delimiter: string;
  /** CSV: the unquoted text that stands for NULL; empty cells always do. */
  readonly nullText: string | undefined;
}

/** One input, opened. It is read once, unless `again` says that it can be read from the start. */
export interface Input {
  /** The file as messages name it. */
  readonly name: string;
  /** Bytes, where known. */
  readonly size: number | undefined;
  readonly repeatable: boolean;
  /** True where the types of its columns are its own; false for text. */
  readonly describesItself: boolean;
  /** The columns it holds: as the file says, or guessed from its values (all of them, or the first of standard input). */
  schema(signal: AbortSignal): Promise<StructType>;
  /**
   * Its rows. Text is read as the types of `wanted`, by column name; what describes itself comes as it is. Throws `INVALID_ROW` with file, line, column,
   * expected and got; `UNKNOWN_COLUMN`; `INVALID_INPUT` for what is not of the format.
   */
  batches(wanted: StructType, onBytes: OnBytes, signal: AbortSignal): AsyncIterable<RecordBatch>;
  close(): Promise<void>;
}
