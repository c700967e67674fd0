import type { Context } from '../runtime/context.js';
import type { RuntimeEvent } from '../runtime/events.js';
import { systemClock, systemIds } from '../runtime/system.js';
import type { TaskResult } from '../stage/protocol.js';
import { openStore } from '../store/open.js';
import type { Store } from '../store/store.js';
import { mapAhead } from './ahead.js';
import { collectBuffers, decodeUnit } from './decode-task.js';
import { boundOf, filterOf, type RowsPart, rowsOf } from './file-rows.js';
import { Locator } from './location.js';
import { type FetchedUnit, fetchUnit, type OpenFile, openFile, unitsOf } from './open-file.js';
import type { ScanFile, ScanPlan } from './plan.js';
import { wantedRowGroups } from './row-groups.js';

/** Local files to be read by a worker thread, which opens them itself: their bytes never pass the thread that asked. */
export interface FilesJob {
  /** `url` is the table's; the plan comes without its files. */
  readonly input: { readonly url: string; readonly plan: ScanPlan; readonly files: readonly ScanFile[] };
  /** The wanted rows of each file, in order. `events` are for the asking thread to pass on. */
  readonly output: {
    readonly parts: readonly (readonly RowsPart[])[];
    readonly events: readonly RuntimeEvent[];
  };
}

/** Files opened and fetched while another is decoded. */
const AHEAD = 2;

let events: RuntimeEvent[] = [];
const ctx: Context = { clock: systemClock, ids: systemIds, emit: (event) => events.push(event) };
const stores = new Map<string, Store>();

/** Reads the wanted rows of some files. Throws as `scanBatches`. */
export async function readFiles({ url, plan, files }: FilesJob['input']): Promise<TaskResult<'readFiles'>> {
  events = [];
  const store = stores.get(url) ?? openStore(url, ctx);
  stores.set(url, store);
  const locator = new Locator(store, ctx, { allowExternalFiles: plan.allowExternalFiles });
  const where = boundOf(plan);
  const filter = filterOf(where);
  const fetch = async (file: ScanFile): Promise<{ open: OpenFile; fetched: FetchedUnit[] }> => {
    const open = await openFile(ctx, locator, plan, file, undefined);
    const units = unitsOf(open, wantedRowGroups(plan, open, where));
    return { open, fetched: await Promise.all(units.map(fetchUnit)) };
  };
  const parts: RowsPart[][] = [];
  for await (const { open, fetched } of mapAhead(files, fetch, { count: AHEAD })) {
    const own: RowsPart[] = [];
    for (const unit of fetched) {
      const decoded = await decodeUnit(unit);
      for (const [i, group] of unit.unit.groups.entries()) {
        own.push(...rowsOf(plan, open, group, decoded[i]!, filter, Number.POSITIVE_INFINITY));
      }
    }
    parts.push(own);
  }
  const transfer = new Set<ArrayBuffer>();
  for (const part of parts.flat()) for (const column of part.columns) collectBuffers(column, transfer);
  return { output: { parts, events }, transfer: [...transfer] };
}
