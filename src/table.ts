import { type Resolution, resolveCommit, type UnknownCommit } from './commit/resolve.js';
import { isTableError, TableError } from './errors.js';
import { writeCheckpoint } from './log/checkpoint.js';
import { type HistoryEntry, type HistoryOptions, readHistory } from './log/history.js';
import { parseTimestampArgument, timestampToVersion } from './log/time-travel.js';
import { defaultRuntime, type Runtime } from './runtime/runtime.js';
import type { TableContext } from './runtime/table-context.js';
import { Changes } from './scan/change-scan.js';
import type { ChangeOptions } from './scan/changes.js';
import type { Predicate } from './scan/predicate.js';
import { Scan, type ScanOptions } from './scan/scan.js';
import { parseDdl } from './schema/ddl.js';
import type { RowOptions } from './schema/rows-out.js';
import { serializeSchema } from './schema/schema-json.js';
import type { StructType } from './schema/types.js';
import { type FollowedVersion, type FollowOptions, follow } from './snapshot/follow.js';
import { loadState } from './snapshot/load.js';
import { Snapshot } from './snapshot/snapshot.js';
import { alter, planAlter } from './write/alter.js';
import type { Alteration, AlterOptions, AlterPlan, AlterResult } from './write/alteration.js';
import { type CreateOptions, create, type TableDefinition } from './write/create.js';
import { withoutMapping } from './write/mapped-schema.js';
import type { RowSource } from './write/source.js';
import { stage, write } from './write/stage.js';
import type { StagedWrite } from './write/staged-write.js';
import type {
  DeleteSpec,
  MergeSpec,
  OverwriteTarget,
  ReplaceUsingSpec,
  UpdateSpec,
  Verb,
  Where,
  WriteOptions,
  WriteResult,
} from './write/verb.js';
import { Writer, type WriterOptions } from './write/writer.js';

export interface TableOptions {
  /** Whose threads, clients and caches to use; a shared one by default. */
  readonly runtime?: Runtime;
}

/** Which version to look at: one of the two, or neither for the newest. */
export interface SnapshotOptions {
  readonly version?: number;
  /** An instant: the newest version committed at or before it. Milliseconds since the Unix epoch, a Date, or ISO text (UTC unless it has an offset). */
  readonly timestamp?: number | Date | string;
  /** Milliseconds by which the newest version may lag behind; 0 by default. */
  readonly maxStaleness?: number;
}

/** A Delta table, followed: reads see the newest version, writes commit the next one. Safe to share; holds nothing that must be closed. */
export class Table {
  readonly #table: TableContext;

  /** Use `openTable`, `createTable` or `openOrCreate`. */
  constructor(table: TableContext) {
    this.#table = table;
  }

  get url(): string {
    return this.#table.url;
  }

  /** The table at one version, pinned. Throws `NOT_A_TABLE`, `VERSION_NOT_FOUND`, `CORRUPT_LOG`, `UNSUPPORTED_FEATURE`. */
  async snapshot(options: SnapshotOptions = {}): Promise<Snapshot> {
    const { store, ctx, latest } = this.#table;
    if (options.version !== undefined && options.timestamp !== undefined) {
      throw new TableError('INVALID_INPUT', 'Give a version or a timestamp, not both.', { ...options });
    }
    const { timestamp } = options;
    if (timestamp === undefined && options.version === undefined) {
      return new Snapshot(this.#table, await latest.get(options.maxStaleness));
    }
    const version = timestamp === undefined ? options.version : await this.#versionAt(timestamp);
    const known = latest.peek();
    const state = known && known.version === version ? known : await loadState(store, ctx, { version });
    return new Snapshot(this.#table, state);
  }

  /** A read of the newest version at the time of iteration. */
  scan(options: ScanOptions & Pick<SnapshotOptions, 'maxStaleness'> = {}): Scan {
    return new Scan(this.#table, () => this.#table.latest.get(options.maxStaleness), options);
  }

  /** The row-level changes of versions `from` to `to`, both included (protocol: Change Data Files). */
  changes(options: Omit<ChangeOptions, 'pool'> & RowOptions): Changes {
    return new Changes(this.#table, options);
  }

  /** The exact number of rows of the newest version, or of those for which `where` is true. */
  async count(
    options: { readonly where?: string | Predicate; readonly signal?: AbortSignal } = {},
  ): Promise<number> {
    return (await this.snapshot()).count(options);
  }

  /** Adds rows, in one atomic commit. No rows: no commit, `unchanged`. See `StagedWrite.commit` for errors and what they leave. */
  append(rows: RowSource, options?: WriteOptions): Promise<WriteResult> {
    return write(this.#table, rows, 'append', options);
  }

  /** Appends rows that come one at a time, many in a commit, acknowledged after it. To be closed by the caller, or with the runtime. See `Writer`. */
  writer(options?: WriterOptions): Promise<Writer> {
    return Writer.open(this.#table, options);
  }

  /** New versions as they come, each once and in order, until the signal fires or the runtime is closed. See `snapshot/follow.ts`. */
  follow(options?: FollowOptions): AsyncGenerator<FollowedVersion, void, undefined> {
    return follow(this.#table, options);
  }

  /**
   * Replaces every partition that the rows lie in, whole, in one atomic commit; other partitions keep their very files. NULL is a partition like any other.
   * No rows: no commit, `unchanged`. See `StagedWrite.commit` for errors and what they leave.
   */
  overwritePartitions(rows: RowSource, options?: WriteOptions): Promise<WriteResult> {
    return write(this.#table, rows, 'overwritePartitions', options);
  }

  /**
   * Replaces the rows for which `where` is TRUE by these, in one atomic commit. Files that partition values or statistics prove to be inside go whole and
   * unread; those that hold other rows too are written again with the others. Every row must be inside: `OUTSIDE_TARGET` else, NULL included. No rows: the
   * target is emptied. With `all: true` everything is replaced, with `schema` by a table of another schema. See `StagedWrite.commit` for errors.
   */
  overwrite(rows: RowSource, options: OverwriteTarget & WriteOptions): Promise<WriteResult> {
    return write(this.#table, rows, overwriteVerb(options, this.url), options);
  }

  /**
   * Replaces the rows that equal an incoming row in the key columns, in one atomic commit; other rows stay. `INVALID_ROW` for NULL in a key column unless
   * `nullKeys`. No rows: no commit, `unchanged`. See `StagedWrite.commit` for errors.
   */
  replaceUsing(rows: RowSource, options: ReplaceUsingSpec & WriteOptions): Promise<WriteResult> {
    const { columns, nullKeys } = options;
    return write(this.#table, rows, { verb: 'replaceUsing', columns, nullKeys }, options);
  }

  /**
   * Merges rows by key, in one atomic commit: by default rows whose key is there replace the row that has it, others are added. Key, partition and statistics
   * bounds leave out files; only key columns are read to find matches; files without a change stay the very same. `DUPLICATE_KEY` where two source rows have
   * one key, unless `dedupe`. The source may be of any length: what memory does not hold goes to the local disk. See `StagedWrite.commit` for errors.
   */
  merge(rows: RowSource, options: MergeSpec & WriteOptions): Promise<WriteResult> {
    const { on, nulls, whenMatched, whenNotMatched, whenNotMatchedBySource, dedupe } = options;
    const spec = { on, nulls, whenMatched, whenNotMatched, whenNotMatchedBySource, dedupe };
    return write(this.#table, rows, { verb: 'merge', ...spec }, options);
  }

  /** Deletes the rows for which `where` is TRUE, in one atomic commit; rows for which it is NULL stay. See `StagedWrite.commit` for errors. */
  delete(options: DeleteSpec & WriteOptions): Promise<WriteResult> {
    return write(this.#table, undefined, { verb: 'delete', where: options.where }, options);
  }

  /** Sets columns of the rows for which `where` is TRUE, in one atomic commit. `INVALID_ROW` for a value that a column cannot hold without loss. */
  update(options: UpdateSpec & WriteOptions): Promise<WriteResult> {
    const { set, where } = options;
    return write(this.#table, undefined, { verb: 'update', set, where }, options);
  }

  /**
   * Changes columns, properties, constraints, name or description, in one atomic commit that touches no row. Errors, and what happens under contention: see
   * `write/alter.ts`.
   */
  alter(changes: Alteration | readonly Alteration[], options?: AlterOptions): Promise<AlterResult> {
    return alter(this.#table, changes, options);
  }

  /** What `alter` would do to the newest version. Commits nothing; throws what `alter` would refuse. */
  planAlter(
    changes: Alteration | readonly Alteration[],
    options?: Pick<AlterOptions, 'signal'>,
  ): Promise<AlterPlan> {
    return planAlter(this.#table, changes, options);
  }

  /**
   * The first half of a verb: writes the files that no snapshot mentions; `commit()` of what it gives is the second, `plan()` says what it would do.
   * `delete` and `update` take no rows.
   */
  stage(rows: RowSource | undefined, verb: Verb, options?: WriteOptions): Promise<StagedWrite> {
    return stage(this.#table, rows, verb, options);
  }

  /** The versions that can still be loaded, newest first. One listing, then one request a version, some ahead of the caller. */
  async *history(options: Omit<HistoryOptions, 'metadata'> = {}): AsyncGenerator<HistoryEntry> {
    const { metadata } = await this.#table.latest.get();
    yield* readHistory(this.#table.store, { ...options, metadata });
  }

  /** Writes a checkpoint of the newest version and gives that version. Readers of any engine may start from it. */
  async checkpoint(): Promise<number> {
    const state = await this.#table.latest.get();
    const { bytes } = await writeCheckpoint(this.#table.store, this.#table.ctx, state);
    this.#table.ctx.emit({ type: 'checkpointWritten', version: state.version, bytes });
    return state.version;
  }

  /** What became of a commit that ended in `COMMIT_STATE_UNKNOWN`: hand in the error's context. Changes nothing. */
  resolve(commit: UnknownCommit): Promise<Resolution> {
    return resolveCommit(this.#table, commit);
  }

  async #versionAt(timestamp: number | Date | string): Promise<number> {
    const { store, ctx, latest } = this.#table;
    const instant = typeof timestamp === 'string' ? parseTimestampArgument(timestamp) : Number(timestamp);
    return timestampToVersion(store, ctx, instant, (await latest.get()).metadata);
  }
}

/** Opens the table at a URL or path. Creates nothing. Throws `NOT_A_TABLE` where there is none, and what `snapshot` throws. */
export async function openTable(url: string, options: TableOptions = {}): Promise<Table> {
  const context = (options.runtime ?? defaultRuntime()).table(url);
  await context.latest.get();
  return new Table(context);
}

/**
 * Creates a table, optionally with its first rows and their token in the same commit. Where the table is there and has recorded the token, it is opened and
 * nothing else is done. Errors and what they leave: see `write/create.ts`.
 */
export async function createTable(
  url: string,
  options: TableDefinition & CreateOptions & TableOptions,
): Promise<Table> {
  const context = (options.runtime ?? defaultRuntime()).table(url);
  await create(context, options, options);
  return new Table(context);
}

/**
 * Opens the table, or creates it where there is none. Whoever loses the race for version 0 opens the winner's table. Throws `INVALID_SCHEMA` where the
 * table that is there has another schema or other partition columns.
 */
export async function openOrCreate(url: string, options: TableDefinition & TableOptions): Promise<Table> {
  const open = async (): Promise<Table> => {
    const table = await openTable(url, options);
    await assertSame(table, options);
    return table;
  };
  try {
    return await open();
  } catch (error) {
    if (!isTableError(error, 'NOT_A_TABLE')) throw error;
  }
  try {
    return await createTable(url, options);
  } catch (error) {
    if (!isTableError(error, 'TABLE_EXISTS')) throw error;
    return open();
  }
}

/** Overwrites never have an unnamed target. */
function overwriteVerb(target: OverwriteTarget, url: string): Verb {
  const { where, all, schema } = target as { where?: Where; all?: boolean; schema?: string | StructType };
  if (where !== undefined && all === undefined && schema === undefined) return { verb: 'overwrite', where };
  if (where === undefined && all === true) return { verb: 'overwrite', all, schema };
  throw new TableError(
    'INVALID_INPUT',
    `Say what of ${url} the rows replace: 'where' (a predicate), or 'all: true' (optionally with 'schema'). To replace the partitions that the rows lie in there is overwritePartitions.`,
    { url },
  );
}

async function assertSame(table: Table, definition: TableDefinition): Promise<void> {
  const snapshot = await table.snapshot({ maxStaleness: Number.POSITIVE_INFINITY });
  const wanted = typeof definition.schema === 'string' ? parseDdl(definition.schema) : definition.schema;
  const expected = [serializeSchema(withoutMapping(wanted)), ...(definition.partitionBy ?? [])];
  const found = [serializeSchema(withoutMapping(snapshot.schema)), ...snapshot.partitionColumns];
  if (JSON.stringify(expected) === JSON.stringify(found)) return;
  throw new TableError(
    'INVALID_SCHEMA',
    `The table at ${table.url} has another schema or other partition columns.`,
    {
      url: table.url,
      expected,
      found,
    },
  );
}
