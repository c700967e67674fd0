import { Gathering } from '../commit/gathering.js';
import { Pace } from '../commit/pace.js';
import { Queue } from '../commit/queue.js';
import { TableError } from '../errors.js';
import { Latest } from '../snapshot/latest.js';
import type { Pool } from '../stage/pool.js';
import { openStore, resolveUrl } from '../store/open.js';
import { assertSafeStore } from '../store/probe.js';
import type { S3Options } from '../store/s3-options.js';
import type { Clock, Context, Ids } from './context.js';
import type { RuntimeEvent } from './events.js';
import { systemClock, systemIds } from './system.js';
import type { TableContext } from './table-context.js';

/** Where log lines go; `console` fits. */
export interface Logger {
  debug(message: string): void;
  warn(message: string): void;
}

export interface RuntimeOptions {
  /** Worker threads that encode and decode Parquet; as many as the machine has cores, at most 4, by default. */
  readonly workers?: number;
  /** Bytes that staged rows may take in memory before they are spilled to local disk; 192 MB by default. */
  readonly memory?: number;
  readonly s3?: S3Options;
  /** False leaves out the fsync calls of local tables: faster, and a power cut may lose what was acknowledged. */
  readonly fsync?: boolean;
  /** Hears of everything that happens inside; must not throw. */
  readonly onEvent?: (event: RuntimeEvent) => void;
  readonly logger?: Logger;
  readonly clock?: Clock;
  readonly ids?: Ids;
}

/**
 * Owns what tables share: worker threads, S3 clients, the newest snapshot and the line of commits of each table. Never keeps the process alive while idle.
 * After `close()` every use throws `CLOSED`.
 */
export class Runtime implements AsyncDisposable {
  readonly context: Context;
  readonly #options: RuntimeOptions;
  readonly #tables = new Map<string, TableContext>();
  #pool: Promise<Pool> | undefined;
  #closed = false;
  #closing: Promise<void> | undefined;

  constructor(options: RuntimeOptions = {}) {
    this.#options = options;
    this.context = {
      clock: options.clock ?? systemClock,
      ids: options.ids ?? systemIds,
      emit: (event) => {
        options.onEvent?.(event);
        if (options.logger) log(options.logger, event);
      },
    };
  }

  /** The shared context of the table at `url`, which may be a path. Touches nothing in the store. Throws `INVALID_INPUT` for a URL of no known kind. */
  table(url: string): TableContext {
    this.#assertOpen();
    const canonical = resolveUrl(url);
    const known = this.#tables.get(canonical);
    if (known) return known;
    const store = openStore(canonical, this.context, { s3: this.#options.s3, fsync: this.#options.fsync });
    const queue = new Queue();
    let safe: Promise<void> | undefined;
    const table: TableContext = {
      url: store.url,
      store,
      ctx: this.context,
      latest: new Latest(store, this.context),
      queue,
      appends: new Gathering(this.context.clock, queue),
      pace: new Pace(this.context),
      openings: new Set(),
      pool: () => this.pool(),
      assertSafe: () => {
        safe ??= assertSafeStore(store).catch((error: unknown) => {
          safe = undefined;
          throw error;
        });
        return safe;
      },
    };
    this.#tables.set(canonical, table);
    return table;
  }

  /** The worker threads; loaded on first use, since they are what takes time to load. */
  async pool(): Promise<Pool> {
    this.#assertOpen();
    this.#pool ??= import('../stage/pool.js').then(
      ({ Pool }) => new Pool(this.context, { workers: this.#options.workers, memory: this.#options.memory }),
    );
    return this.#pool;
  }

  /**
   * Ends followers, commits what open writers hold, waits for the writes under way whose rows are at hand and for the commits in line, then stops the worker
   * threads. Writes that wait for a source of rows fail with `CLOSED`. Throws the first error of a writer, after everything is closed. Safe to call again.
   */
  close(): Promise<void> {
    this.#closing ??= this.#shutDown();
    return this.#closing;
  }

  async #shutDown(): Promise<void> {
    const tables = [...this.#tables.values()];
    const openings = tables.flatMap((table) => [...table.openings]);
    const endings = await Promise.allSettled(openings.map((opening) => opening[Symbol.asyncDispose]()));
    this.#closed = true;
    await Promise.all(tables.map((table) => table.queue.run(async () => undefined)));
    await (await this.#pool)?.close();
    this.#tables.clear();
    const failed = endings.find((ending) => ending.status === 'rejected');
    if (failed) throw failed.reason;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  #assertOpen(): void {
    if (this.#closed)
      throw new TableError('CLOSED', 'The runtime was closed; create another with createRuntime().');
  }
}

/** A runtime of the caller's own, to be closed by the caller. */
export function createRuntime(options: RuntimeOptions = {}): Runtime {
  return new Runtime(options);
}

let shared: Runtime | undefined;

/** The runtime of callers who hand in none; made on first use and never closed. */
export function defaultRuntime(): Runtime {
  shared ??= new Runtime();
  return shared;
}

function log(logger: Logger, event: RuntimeEvent): void {
  switch (event.type) {
    case 'warning':
      logger.warn(event.file ? `${event.message} (${event.file})` : event.message);
      break;
    case 'checkpointFailed':
      logger.warn(`The checkpoint of version ${event.version} could not be written: ${String(event.error)}`);
      break;
    default:
      logger.debug(JSON.stringify(event));
  }
}
