import { footerOf } from '../parquet/footer-cache.js';
import { dataFileError } from '../parquet/read.js';
import { StoreSource } from '../parquet/source.js';
import type { Context } from '../runtime/context.js';
import type { State } from '../snapshot/state.js';
import type { Store } from '../store/store.js';
import { mapAhead } from './ahead.js';
import { bindPredicate } from './bind.js';
import { Locator } from './location.js';
import { type PlanOptions, planFiles, planScan } from './plan.js';
import { classifyFiles } from './prune.js';
import { type ReadOptions, scanBatches } from './read.js';

/** Footers read at once. */
const AHEAD = 16;

/**
 * The exact number of rows, or of those for which `where` is true: from the log alone for files that have a row count and match as a whole, from the
 * footer for files without a count, by reading the columns that `where` needs for the rest. Errors as `planScan` and `scanBatches`.
 */
export async function countRows(
  store: Store,
  ctx: Context,
  state: State,
  options: Omit<PlanOptions, 'columns' | 'limit' | 'rowIds'> & ReadOptions = {},
): Promise<number> {
  const { where, signal } = options;
  await state.files.load({ statistics: true }, { signal });
  if (where === undefined) return countWhole(store, ctx, state, state.files.ids(), options);
  const { all, some } = await classifyFiles(state, bindPredicate(where, state.schema), options);
  let count = await countWhole(store, ctx, state, all, options);
  if (some.length === 0) return count;
  const plan = await planScan(state, { ...options, columns: [] });
  const files = await planFiles(state, some, options);
  const batches = scanBatches(store, ctx, { ...plan, files }, { ...options, isLent: true });
  for await (const batch of batches) count += batch.numRows;
  return count;
}

async function countWhole(
  store: Store,
  ctx: Context,
  state: State,
  ids: Int32Array,
  options: PlanOptions & ReadOptions,
): Promise<number> {
  const { files } = state;
  if (ids.some((id) => files.hasDeletionVector(id))) await files.load({ actions: true }, options);
  let count = 0;
  const uncounted: number[] = [];
  for (const id of ids) {
    const rows = files.numRecords(id);
    if (rows === undefined) uncounted.push(id);
    else count += rows;
    if (files.hasDeletionVector(id)) count -= files.add(id).deletionVector?.cardinality ?? 0;
  }
  const locator = new Locator(store, ctx, options);
  const rowsOf = async (id: number): Promise<number> => {
    const place = locator.locate(files.path(id));
    const size = files.size(id);
    const source = new StoreSource(place.store, place.key, size, { signal: options.signal, wholeBelow: 0 });
    try {
      return (await footerOf(ctx, source.name, source)).rows;
    } catch (error) {
      throw dataFileError(error, files.path(id));
    }
  };
  for await (const rows of mapAhead(uncounted, rowsOf, { count: AHEAD })) count += rows;
  return count;
}
