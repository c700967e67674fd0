import { isTableError, TableError } from '../errors.js';
import { assertWritable } from '../log/features.js';
import { tableProperties } from '../log/properties.js';
import type { TableContext } from '../runtime/table-context.js';
import type { Row } from '../schema/rows-in.js';
import type { State } from '../snapshot/state.js';
import { RowBatch } from './row-batch.js';
import { RowCheck } from './row-check.js';
import { write } from './stage.js';
import type { EvolveOptions } from './verb.js';

/**
 * `evolve`: a row may bring columns that the table lacks, or wider types; they come with the commit of the row. NULL tells no type, and a type that a row told
 * holds for those after it; `evolveTo` says types ahead.
 */
export interface WriterOptions extends EvolveOptions {
  /** Rows of one commit at most; 10,000 by default. */
  readonly maxRows?: number;
  /** Bytes of the rows of one commit, by estimate; 16 MiB by default. */
  readonly maxBytes?: number;
  /** Milliseconds that a row waits for others at most; 1,000 by default. */
  readonly maxDelay?: number;
  /** Makes every row count once. Each row has a version, which rises; a commit records that of its last row for `appId`. */
  readonly txn?: { readonly appId: string };
  readonly userMetadata?: string;
  /** Milliseconds to go on trying to commit the same rows; 10 minutes by default. */
  readonly retryFor?: number;
}

/** A row that the writer has taken. */
export interface AcceptedRow {
  /** Its version, with `txn`. */
  readonly version: number | undefined;
  /** The table's version that holds the row; rejects with the error of the commit. */
  readonly committed: Promise<number>;
}

interface WaitingRow {
  readonly row: Row;
  readonly version: number | undefined;
  resolve(accepted: AcceptedRow): void;
  reject(error: unknown): void;
}

const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 5_000;
const RETRY_FOR_MS = 600_000;

/**
 * Appends rows that come one at a time, many in a commit. At most two commits' worth of rows are in memory: one on its way, one that fills up. A row is
 * acknowledged (`committed`, `flush`, `close`) only after its commit. A commit that fails in passing is tried again with the same rows where that cannot add
 * them twice; any other failure ends the writer: what was not acknowledged is rejected with it, and so is every later call.
 */
export class Writer implements AsyncDisposable {
  readonly #table: TableContext;
  readonly #options: WriterOptions;
  readonly #limits: { readonly rows: number; readonly bytes: number; readonly delay: number };
  readonly #check: RowCheck;
  #state: State;
  /** The table's version that holds everything acknowledged. */
  #tableVersion: number;
  #last: number | undefined;
  #given: number | undefined;
  #filling: RowBatch | undefined;
  #waiting: WaitingRow[] = [];
  #written = 0;
  #done = 0;
  #flushTo = 0;
  #isDraining = false;
  #failure: { readonly error: unknown } | undefined;
  #wake: (() => void)[] = [];
  #closing: Promise<void> | undefined;

  private constructor(table: TableContext, state: State, options: WriterOptions) {
    const { maxRows = 10_000, maxBytes = 2 ** 24, maxDelay = 1_000 } = options;
    for (const [name, value] of Object.entries({ maxRows, maxBytes, maxDelay })) {
      if (typeof value === 'number' && value >= (name === 'maxDelay' ? 0 : 1)) continue;
      throw new TableError('INVALID_INPUT', `${name} must be a positive number.`, { [name]: value });
    }
    this.#table = table;
    this.#state = state;
    this.#options = options;
    this.#limits = { rows: maxRows, bytes: maxBytes, delay: maxDelay };
    this.#check = new RowCheck(table, options);
    this.#tableVersion = state.version;
    this.#last = this.#given = recordedVersion(table.url, state, options.txn?.appId);
  }

  /** Looks at the newest version for what the application has recorded. Throws `INVALID_INPUT`, `UNSUPPORTED_FEATURE`, and what a read throws. */
  static async open(table: TableContext, options: WriterOptions = {}): Promise<Writer> {
    const state = await table.latest.get();
    assertWritable(state.protocol, state.metadata, table.url);
    if (
      options.txn &&
      tableProperties(state.metadata.configuration).setTransactionRetentionMs !== undefined
    ) {
      const message = `${table.url} forgets tokens after delta.setTransactionRetentionDuration: a writer that stays away longer starts from the beginning.`;
      table.ctx.emit({ type: 'warning', message });
    }
    const writer = new Writer(table, state, options);
    table.openings.add(writer);
    return writer;
  }

  /** The version of the last row that the table holds of this application; undefined for none. After a crash, go on with the row behind it. */
  get lastVersion(): number | undefined {
    return this.#last;
  }

  /**
   * Takes one row; resolves when there is room for it, so that awaiting it is the back-pressure. Rows are committed in the order of the calls. With `txn`,
   * `version` is the place of the row in its source, one more than that of the row before by default; a row whose version the table has recorded is dropped,
   * and is acknowledged at once. Throws `INVALID_ROW`, `UNKNOWN_COLUMN`, `INVALID_INPUT` (a version that does not rise) for this row alone; `CLOSED`; and the
   * error that ended the writer.
   */
  async write(row: Row, options: { readonly version?: number } = {}): Promise<AcceptedRow> {
    if (this.#closing) throw new TableError('CLOSED', `The writer to ${this.#table.url} was closed.`);
    if (this.#failure) throw this.#failure.error;
    const version = this.#versionOf(options.version);
    if (version !== undefined && this.#last !== undefined && version <= this.#last) {
      return { version, committed: Promise.resolve(this.#tableVersion) };
    }
    if (version !== undefined && this.#given !== undefined && version <= this.#given) {
      throw invalidVersion(`The version ${version} does not rise above ${this.#given}.`, version);
    }
    this.#check.assert(this.#table.latest.peek() ?? this.#state, row, this.#written);
    const own = { ...row };
    this.#given = version;
    this.#written++;
    if (this.#waiting.length === 0 && !this.#isFull()) return this.#take(own, version);
    return new Promise((resolve, reject) => this.#waiting.push({ row: own, version, resolve, reject }));
  }

  /** Commits what was written before the call, and resolves when it is committed. Throws the error that ended the writer. */
  async flush(): Promise<void> {
    const upTo = this.#written;
    this.#flushTo = upTo;
    this.#drain();
    while (this.#done < upTo && !this.#failure) {
      await new Promise<void>((resolve) => this.#wake.push(resolve));
    }
    if (this.#done < upTo) throw this.#failure?.error;
  }

  /** Takes no more rows, commits those taken, and resolves when they are committed. Throws the error that ended the writer. Safe to call again. */
  close(): Promise<void> {
    this.#closing ??= this.flush().finally(() => this.#table.openings.delete(this));
    return this.#closing;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  #versionOf(given: number | undefined): number | undefined {
    if (!this.#options.txn) {
      if (given === undefined) return undefined;
      throw invalidVersion('A row has a version only where the writer has txn.', given);
    }
    const version = given ?? (this.#given ?? 0) + 1;
    if (Number.isSafeInteger(version) && version >= 0) return version;
    throw invalidVersion(`The version ${version} is not an integer from 0 to 2^53 - 1.`, version);
  }

  #isFull(): boolean {
    const batch = this.#filling;
    return (
      batch !== undefined && (batch.rows.length >= this.#limits.rows || batch.bytes >= this.#limits.bytes)
    );
  }

  #take(row: Row, version: number | undefined): AcceptedRow {
    const batch = this.#filling ?? this.#startBatch();
    batch.add(row, version);
    batch.evolveTo = this.#check.evolveTo;
    this.#drain();
    return { version, committed: batch.committed };
  }

  #startBatch(): RowBatch {
    const batch = new RowBatch();
    this.#filling = batch;
    const expire = (): void => {
      batch.due = true;
      this.#drain();
    };
    this.#table.ctx.clock.sleep(this.#limits.delay, batch.sealed.signal).then(expire, () => undefined);
    return batch;
  }

  #drain(): void {
    if (!this.#isDraining) void this.#commitDue();
  }

  async #commitDue(): Promise<void> {
    this.#isDraining = true;
    for (;;) {
      const batch = this.#filling;
      const isDue = batch && (this.#isFull() || batch.due || this.#flushTo > this.#done);
      if (!isDue || this.#failure) break;
      this.#filling = undefined;
      batch.sealed.abort();
      const committing = this.#settle(batch);
      this.#admit();
      await committing;
    }
    this.#isDraining = false;
  }

  /** Lets those in who wait for room, in the order of their calls. */
  #admit(): void {
    let next = 0;
    for (; next < this.#waiting.length && !this.#isFull(); next++) {
      const { row, version, resolve } = this.#waiting[next]!;
      resolve(this.#take(row, version));
    }
    this.#waiting = this.#waiting.slice(next);
  }

  async #settle(batch: RowBatch): Promise<void> {
    try {
      const version = await this.#commit(batch);
      this.#done += batch.rows.length;
      this.#last = batch.last;
      this.#tableVersion = version;
      batch.resolve(version);
    } catch (error) {
      this.#failure = { error };
      batch.reject(error);
      this.#filling?.sealed.abort();
      this.#filling?.reject(error);
      for (const { reject } of this.#waiting) reject(error);
      this.#filling = undefined;
      this.#waiting = [];
    }
    const wake = this.#wake;
    this.#wake = [];
    for (const each of wake) each();
  }

  async #commit(batch: RowBatch): Promise<number> {
    const { clock, ids } = this.#table.ctx;
    const { txn, userMetadata, retryFor, evolve } = this.#options;
    const { rows, evolveTo } = batch;
    const token = txn && { appId: txn.appId, version: batch.last!, after: this.#last ?? -1 };
    const deadline = clock.monotonic() + (retryFor ?? RETRY_FOR_MS);
    for (let pause = FIRST_PAUSE_MS; ; pause = Math.min(2 * pause, LONGEST_PAUSE_MS)) {
      try {
        const evolution = evolveTo ? { evolve, evolveTo } : {};
        const options = { txn: token, userMetadata, retryFor, ...evolution };
        const result = await write(this.#table, rows, 'append', options);
        this.#state = this.#table.latest.peek() ?? this.#state;
        return result.version;
      } catch (error) {
        if (!isPassing(error, token !== undefined) || clock.monotonic() + pause > deadline) throw error;
        const message = `A commit to ${this.#table.url} failed and is tried again: ${String(error)}`;
        this.#table.ctx.emit({ type: 'warning', message });
        await clock.sleep(pause * (0.5 + ids.random() / 2));
      }
    }
  }
}

/** True where the same rows may be committed again and that cannot add them twice: nothing was committed, or a token tells. */
function isPassing(error: unknown, hasToken: boolean): boolean {
  if (isTableError(error, 'COMMIT_STATE_UNKNOWN')) return hasToken;
  if (isTableError(error, 'COMMIT_CONFLICT')) return error.context.what !== 'token';
  return isTableError(error, 'OUT_OF_MEMORY', 'STORE_FAILED', 'STORE_TIMEOUT');
}

function recordedVersion(url: string, state: State, appId: string | undefined): number | undefined {
  const recorded = appId === undefined ? undefined : state.txns.get(appId)?.version;
  if (recorded === undefined) return undefined;
  if (Number.isSafeInteger(Number(recorded))) return Number(recorded);
  throw new TableError(
    'INVALID_INPUT',
    `${url} has recorded the version ${recorded} of ${appId}, beyond 2^53 - 1. Use another appId.`,
    { url, appId, recorded: String(recorded) },
  );
}

function invalidVersion(message: string, version: number): TableError {
  return new TableError('INVALID_INPUT', message, { version });
}
