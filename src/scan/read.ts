import type { RecordBatch } from 'apache-arrow';
import { TableError } from '../errors.js';
import type { Context } from '../runtime/context.js';
import type { Pool } from '../stage/pool.js';
import { assertNotAborted } from '../store/keys.js';
import type { Store } from '../store/store.js';
import { mapAhead } from './ahead.js';
import { type DecodedGroups, type DecodeInput, decodeHere, ownedBuffers } from './decode-task.js';
import { batchOf, type RowsPart, rowsOf } from './file-rows.js';
import { giveSlabs, type Lot, takeOver, takeSlabs } from './handover.js';
import { readingOf } from './late.js';
import { type LocationOptions, Locator } from './location.js';
import { joinGroups } from './open-file.js';
import type { ScanFile, ScanPlan } from './plan.js';
import { type FetchedUnit, fetchUnit, openUnits, type ReadUnit } from './units.js';

export interface ReadOptions extends Pick<LocationOptions, 'openExternal'> {
  readonly signal?: AbortSignal;
  /** Worker threads for scans that are large enough to gain by them. */
  readonly pool?: () => Promise<Pool>;
  /** A batch is good only until the next one is asked for, and may stand in memory that threads share: it need not be copied. */
  readonly isLent?: boolean;
}

/** Scans of fewer bytes are decoded where they are. */
const POOL_FROM = 16 << 20;

/** A worker thread reads files of up to this size in one go. */
const LARGEST_FILE = 64 << 20;

/** Bounds on a job of several files: bytes, and how many. */
const JOB_BYTES = 12 << 20;
const JOB_FILES = 16;

/** Bounds on what a scan holds ahead of its consumer: requests and bytes. */
const OPEN_AHEAD = { count: 16, weight: 48 << 20 };
const FETCH_AHEAD = { count: 16, weight: 64 << 20 };

interface Decoded {
  readonly unit: ReadUnit;
  readonly decoded: readonly DecodedGroups[];
}

/**
 * Reads what a plan says, as Arrow batches with the schema of `plan.schema`, in the order of its files. Files are opened and fetched ahead, bounded in
 * requests and bytes; with a limit, slowly at first, and nothing more is read once it is reached or the consumer stops.
 * Throws `FILE_NOT_FOUND`, `CORRUPT_DATA_FILE`, `LIMIT_EXCEEDED`, `ABORTED`, a store's errors: a scan never ends with fewer rows than there are.
 */
export async function* scanBatches(
  store: Store,
  ctx: Context,
  plan: ScanPlan,
  options: ReadOptions = {},
): AsyncGenerator<RecordBatch, void, undefined> {
  for await (const { batch } of scanFiles(store, ctx, plan, options)) yield batch;
}

/** The batches of `scanBatches`, each with the file that its rows are of. */
export async function* scanFiles(
  store: Store,
  ctx: Context,
  plan: ScanPlan,
  options: ReadOptions = {},
): AsyncGenerator<{ readonly file: ScanFile; readonly batch: RecordBatch }, void, undefined> {
  let left = plan.limit ?? Number.POSITIVE_INFINITY;
  if (left === 0) return;
  const stopped = new AbortController();
  const signal = options.signal ? AbortSignal.any([options.signal, stopped.signal]) : stopped.signal;
  const pool = await poolFor(plan, options);
  const sources =
    pool && isLocal(store, plan, options)
      ? readByWorkers(store, ctx, plan, pool, { ...options, signal })
      : readHere(store, ctx, plan, pool, { ...options, signal });
  try {
    for await (const { file, parts } of sources) {
      assertNotAborted(options.signal);
      let rows = 0;
      for (const part of parts(left)) {
        rows += part.rows;
        yield { file, batch: batchOf(plan, part) };
      }
      ctx.emit({ type: 'fileRead', path: file.path, rows });
      left -= rows;
      if (left <= 0) return;
    }
  } finally {
    stopped.abort();
  }
}

/** Rows of one file, or of one of its row groups; no more of them than asked for. */
interface PartSource {
  readonly file: ScanFile;
  readonly parts: (limit: number) => Iterable<RowsPart>;
}

async function* readHere(
  store: Store,
  ctx: Context,
  plan: ScanPlan,
  pool: Pool | undefined,
  options: ReadOptions & { readonly signal: AbortSignal },
): AsyncGenerator<PartSource, void, undefined> {
  const { signal } = options;
  const locator = new Locator(store, ctx, { ...options, allowExternalFiles: plan.allowExternalFiles });
  const reading = readingOf(plan);
  const { filter } = reading;
  const slowStart = plan.limit !== undefined;
  const opened = mapAhead(plan.files, (file) => openUnits(ctx, locator, reading, file, signal), {
    ...OPEN_AHEAD,
    slowStart,
    weightOf: ({ size }) => Math.min(size, OPEN_AHEAD.weight / 16),
  });
  const fetched = mapAhead(each(opened), (unit) => fetchUnit(reading, unit), {
    ...FETCH_AHEAD,
    slowStart,
    weightOf: ({ bytes, isPiece }) => (isPiece ? FETCH_AHEAD.weight : bytes),
  });
  for await (const { unit, decoded } of decodedUnits(fetched, pool, signal)) {
    const { open } = unit;
    for (const { from, to, columns } of decoded) {
      const group = joinGroups(unit.groups, from, to);
      yield { file: open.file, parts: (limit) => rowsOf(plan, open, group, columns, filter, limit) };
    }
  }
}

/** Local files are opened by the worker threads themselves; only the wanted rows come over. */
async function* readByWorkers(
  store: Store,
  ctx: Context,
  plan: ScanPlan,
  pool: Pool,
  { signal, isLent }: ReadOptions,
): AsyncGenerator<PartSource, void, undefined> {
  const bare = { ...plan, files: [] };
  const read = async (files: readonly ScanFile[]) => {
    const slabs = takeSlabs(pool, files.length);
    const output = await pool.run('readFiles', { url: store.url, plan: bare, files, slabs }, { signal });
    for (const event of output.events) ctx.emit(event);
    return { files, ...output };
  };
  for await (const { files, lots, slabs } of mapAhead(jobsOf(plan.files, pool.size), read, {
    count: queuedFor(pool),
  })) {
    for (const [i, file] of files.entries()) {
      yield { file, parts: () => (isLent ? lots[i]!.flatMap(({ parts }) => parts) : allParts(lots[i]!)) };
    }
    giveSlabs(pool, slabs);
  }
}

/** Workers that end at the same time all find another job waiting, whatever the consumer does meanwhile. */
function queuedFor({ size }: Pool): number {
  return size * 2;
}

/** Each lot moves to memory of its own when it is its turn: what the consumer has let go of by then makes room for it. */
function* allParts(lots: readonly Lot[]): Generator<RowsPart, void, undefined> {
  for (const lot of lots) yield* takeOver(lot);
}

/** Some files a job, so that a worker fetches one while it decodes another; enough jobs that all workers end together. */
function* jobsOf(files: readonly ScanFile[], workers: number): Generator<ScanFile[]> {
  const most = Math.min(JOB_FILES, Math.ceil(files.length / (workers * 4)));
  let job: ScanFile[] = [];
  let bytes = 0;
  for (const file of files) {
    if (job.length > 0 && (job.length >= most || bytes + file.size > JOB_BYTES)) {
      yield job;
      job = [];
      bytes = 0;
    }
    job.push(file);
    bytes += file.size;
  }
  if (job.length > 0) yield job;
}

/** Whether worker threads can open the files, none of which is too large to be read in one go. */
function isLocal(store: Store, plan: ScanPlan, options: ReadOptions): boolean {
  if (!store.url.startsWith('file:') || options.openExternal) return false;
  return plan.limit === undefined && plan.files.every(({ size }) => size <= LARGEST_FILE);
}

async function* each<T>(lists: AsyncIterable<readonly T[]>): AsyncGenerator<T, void, undefined> {
  for await (const list of lists) yield* list;
}

/** Decodes here, one unit when it is asked for, or in the worker threads, ahead. */
async function* decodedUnits(
  fetched: AsyncIterable<FetchedUnit>,
  pool: Pool | undefined,
  signal: AbortSignal,
): AsyncGenerator<Decoded, void, undefined> {
  if (pool === undefined) {
    for await (const { unit, tasks, whole } of fetched) {
      yield { unit, decoded: await decodeHere({ file: unit.open.file.path, tasks, whole }) };
    }
    return;
  }
  const decode = async ({ unit, tasks, whole }: FetchedUnit): Promise<Decoded> => {
    const file = unit.open.file.path;
    const transfer = ownedBuffers(tasks);
    let input: DecodeInput | undefined = { file, tasks, whole };
    const once = (): DecodeInput => {
      const first = input;
      input = undefined;
      if (first) return first;
      throw new TableError(
        'OUT_OF_MEMORY',
        `A worker thread ended while it decoded ${file}. Read fewer columns at once.`,
        { file },
      );
    };
    return { unit, decoded: await pool.run('decode', once, { transfer, signal }) };
  };
  yield* mapAhead(fetched, decode, { count: queuedFor(pool) });
}

/** Worker threads pay for their start and for moving data where there is much to decode. */
async function poolFor(plan: ScanPlan, options: ReadOptions): Promise<Pool | undefined> {
  if (options.pool === undefined || plan.limit !== undefined || plan.files.length < 2) return undefined;
  const bytes = plan.files.reduce((sum, { size }) => sum + size, 0);
  return bytes >= POOL_FROM ? options.pool() : undefined;
}
