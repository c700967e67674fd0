import type { RecordBatch } from 'apache-arrow';
import { TableError } from '../errors.js';
import type { ColumnData } from '../parquet/column/assemble.js';
import type { Context } from '../runtime/context.js';
import type { Pool } from '../stage/pool.js';
import { assertNotAborted } from '../store/keys.js';
import type { Store } from '../store/store.js';
import { mapAhead } from './ahead.js';
import type { BoundPredicate } from './bind.js';
import { type DecodeJob, decodeTasks, ownedBuffers } from './decode-task.js';
import { boundOf, filterOf, rowsOf } from './file-rows.js';
import { type LocationOptions, Locator } from './location.js';
import { type FetchedUnit, fetchUnit, type OpenFile, openFile, type ReadUnit, unitsOf } from './open-file.js';
import type { ScanFile, ScanPlan } from './plan.js';
import { wantedRowGroups } from './row-groups.js';

export interface ReadOptions extends Pick<LocationOptions, 'openExternal'> {
  readonly signal?: AbortSignal;
  /** Worker threads for scans that are large enough to gain by them. */
  readonly pool?: () => Promise<Pool>;
}

/** Scans of fewer bytes are decoded where they are. */
const POOL_FROM = 16 << 20;

/** Bounds on what a scan holds ahead of its consumer: requests and bytes. */
const OPEN_AHEAD = { count: 16, weight: 48 << 20 };
const FETCH_AHEAD = { count: 16, weight: 64 << 20 };

interface Decoded {
  readonly unit: ReadUnit;
  readonly columns: readonly (readonly ColumnData[])[];
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
  const locator = new Locator(store, ctx, { ...options, allowExternalFiles: plan.allowExternalFiles });
  const where = boundOf(plan);
  const filter = filterOf(where);
  const pool = await poolFor(plan, options);
  const slowStart = plan.limit !== undefined;
  const opened = mapAhead(plan.files, (file) => openFile(ctx, locator, plan, file, signal), {
    ...OPEN_AHEAD,
    slowStart,
    weightOf: ({ size }) => Math.min(size, OPEN_AHEAD.weight / 16),
  });
  const fetched = mapAhead(units(plan, where, opened), fetchUnit, {
    ...FETCH_AHEAD,
    slowStart,
    weightOf: ({ bytes }) => bytes,
  });
  try {
    for await (const { unit, columns } of decodedUnits(fetched, pool, signal)) {
      assertNotAborted(options.signal);
      for (const [i, group] of unit.groups.entries()) {
        let rows = 0;
        for (const batch of rowsOf(plan, unit.open, group, columns[i]!, filter, left)) {
          rows += batch.numRows;
          yield { file: unit.open.file, batch };
        }
        ctx.emit({ type: 'fileRead', path: unit.open.file.path, rows });
        left -= rows;
        if (left <= 0) return;
      }
    }
  } finally {
    stopped.abort();
  }
}

async function* units(
  plan: ScanPlan,
  where: BoundPredicate | undefined,
  opened: AsyncIterable<OpenFile>,
): AsyncGenerator<ReadUnit, void, undefined> {
  for await (const open of opened) yield* unitsOf(open, wantedRowGroups(plan, open, where));
}

/** Decodes here, one unit when it is asked for, or in the worker threads, ahead. */
async function* decodedUnits(
  fetched: AsyncIterable<FetchedUnit>,
  pool: Pool | undefined,
  signal: AbortSignal,
): AsyncGenerator<Decoded, void, undefined> {
  if (pool === undefined) {
    for await (const { unit, tasks } of fetched)
      yield { unit, columns: decodeTasks(unit.open.file.path, tasks) };
    return;
  }
  const decode = async ({ unit, tasks, whole }: FetchedUnit): Promise<Decoded> => {
    const file = unit.open.file.path;
    const transfer = ownedBuffers(tasks);
    let input: DecodeJob['input'] | undefined = { file, tasks, whole };
    const once = (): DecodeJob['input'] => {
      const first = input;
      input = undefined;
      if (first) return first;
      throw new TableError(
        'OUT_OF_MEMORY',
        `A worker thread ended while it decoded ${file}. Read fewer columns at once.`,
        { file },
      );
    };
    return { unit, columns: await pool.run('decode', once, { transfer, signal }) };
  };
  yield* mapAhead(fetched, decode, { count: pool.size + 1 });
}

/** Worker threads pay for their start and for moving data where there is much to decode. */
async function poolFor(plan: ScanPlan, options: ReadOptions): Promise<Pool | undefined> {
  if (options.pool === undefined || plan.limit !== undefined || plan.files.length < 2) return undefined;
  const bytes = plan.files.reduce((sum, { size }) => sum + size, 0);
  return bytes >= POOL_FROM ? options.pool() : undefined;
}
