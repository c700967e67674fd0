import type { RecordBatch } from 'apache-arrow';
import type { TableContext } from '../runtime/table-context.js';
import { type Row, type RowOptions, rowsFromBatch } from '../schema/rows-out.js';
import { type ChangeFeed, type ChangeOptions, readChanges } from './changes.js';

/** The row-level changes of a range of versions; nothing is read before it is iterated, and every iteration reads anew. */
export class Changes implements AsyncIterable<Row> {
  readonly #table: TableContext;
  readonly #options: ChangeOptions & RowOptions;
  readonly #planned: ChangeFeed | undefined;

  /** With `planned` the log is not read again, so that its cleanup takes nothing away. */
  constructor(table: TableContext, options: ChangeOptions & RowOptions, planned?: ChangeFeed) {
    this.#table = table;
    this.#options = options;
    this.#planned = planned;
  }

  /** What would be read. Reads the log alone. Throws `FEED_UNAVAILABLE`, `VERSION_NOT_FOUND`, `INVALID_INPUT`. */
  async plan(): Promise<ChangeFeed> {
    if (this.#planned) return this.#planned;
    return readChanges(this.#table.store, this.#table.ctx, { ...this.#options, pool: this.#table.pool });
  }

  /** The changes as Arrow batches: the table's columns, then `_change_type`, `_commit_version`, `_commit_timestamp`. */
  async *batches(): AsyncGenerator<RecordBatch> {
    yield* (await this.plan()).batches();
  }

  /** The changes as objects. */
  async *rows(): AsyncGenerator<Row> {
    const feed = await this.plan();
    for await (const batch of feed.batches()) yield* rowsFromBatch(batch, feed.schema, this.#options);
  }

  [Symbol.asyncIterator](): AsyncGenerator<Row> {
    return this.rows();
  }

  /** All changes in memory. */
  async toArray(): Promise<Row[]> {
    const rows: Row[] = [];
    for await (const row of this.rows()) rows.push(row);
    return rows;
  }
}
