import type { RecordBatch } from 'apache-arrow';
import type { TableContext } from '../runtime/table-context.js';
import { type Row, type RowOptions, rowsFromBatch } from '../schema/rows-out.js';
import type { State } from '../snapshot/state.js';
import { countRows } from './count.js';
import { planScan, type ScanPlan } from './plan.js';
import type { Predicate } from './predicate.js';
import { scanBatches } from './read.js';

/** What a scan reads and what it gives. */
export interface ScanOptions extends RowOptions {
  /** Top-level columns, in the order wanted; all by default. */
  readonly columns?: readonly string[];
  /** SQL text or a predicate; rows for which it is true are given. */
  readonly where?: string | Predicate;
  /** Rows at the most; reading stops when they are found. */
  readonly limit?: number;
  readonly signal?: AbortSignal;
  /** Allows data files outside the table's folder, which the log may name by absolute path; refused by default. */
  readonly allowExternalFiles?: boolean;
  /** The IANA zone or offset in which timestamp partition values without a zone were written; UTC by default. */
  readonly legacyTimestampZone?: string;
  /**
   * For `batches`: a batch is good only until the next one is asked for. Threads share its memory, which is then used again: what is to be kept must be
   * copied. A scan of a large local table takes about half the time. Rows are always their own.
   */
  readonly reuseMemory?: boolean;
}

/** A read of one version, planned when it is first asked for and run anew by every iteration. */
export class Scan implements AsyncIterable<Row> {
  readonly #table: TableContext;
  readonly #state: () => Promise<State>;
  readonly #options: ScanOptions;

  constructor(table: TableContext, state: () => Promise<State>, options: ScanOptions) {
    this.#table = table;
    this.#state = state;
    this.#options = options;
  }

  /** What would be read, and why: files kept and skipped, columns, what is left to filter. Reads the log alone. */
  async plan(): Promise<ScanPlan> {
    return planScan(await this.#state(), this.#options);
  }

  /** The rows as Arrow batches with the table's Arrow types. Order is not defined. Throws `FILE_NOT_FOUND`, `CORRUPT_DATA_FILE`, `ABORTED`. */
  async *batches(): AsyncGenerator<RecordBatch> {
    const plan = await this.plan();
    yield* scanBatches(this.#table.store, this.#table.ctx, plan, {
      signal: this.#options.signal,
      pool: this.#table.pool,
      isLent: this.#options.reuseMemory,
    });
  }

  /** The rows as objects; see `RowOptions` for what a cell becomes. */
  async *rows(): AsyncGenerator<Row> {
    const plan = await this.plan();
    const batches = scanBatches(this.#table.store, this.#table.ctx, plan, {
      signal: this.#options.signal,
      pool: this.#table.pool,
      isLent: true,
    });
    for await (const batch of batches) yield* rowsFromBatch(batch, plan.schema, this.#options);
  }

  [Symbol.asyncIterator](): AsyncGenerator<Row> {
    return this.rows();
  }

  /** All rows in memory. */
  async toArray(): Promise<Row[]> {
    const rows: Row[] = [];
    for await (const row of this.rows()) rows.push(row);
    return rows;
  }

  /** The number of rows, from the log alone where that is exact. */
  async count(): Promise<number> {
    const count = await countRows(this.#table.store, this.#table.ctx, await this.#state(), this.#options);
    return Math.min(count, this.#options.limit ?? count);
  }
}
