import type { Context } from '../runtime/context.js';
import type { RuntimeEvent } from '../runtime/events.js';
import { systemClock, systemIds } from '../runtime/system.js';
import type { TaskResult } from '../stage/protocol.js';
import { openStore } from '../store/open.js';
import type { Store } from '../store/store.js';
import { collectBuffers, decodeUnit } from './decode-task.js';
import { boundOf, filterOf, type RowsPart, rowsOf } from './file-rows.js';
import { Locator } from './location.js';
import { fetchUnit, openFile, unitsOf } from './open-file.js';
import type { ScanFile, ScanPlan } from './plan.js';
import { wantedRowGroups } from './row-groups.js';

/** One local file to be read by a worker thread, which opens it itself: its bytes never pass the thread that asked. */
export interface FileJob {
  /** `url` is the table's; the plan comes without its files. */
  readonly input: { readonly url: string; readonly plan: ScanPlan; readonly file: ScanFile };
  /** `events` are for the asking thread to pass on. */
  readonly output: { readonly parts: readonly RowsPart[]; readonly events: readonly RuntimeEvent[] };
}

let events: RuntimeEvent[] = [];
const ctx: Context = { clock: systemClock, ids: systemIds, emit: (event) => events.push(event) };
const stores = new Map<string, Store>();

/** Reads the wanted rows of one file. Throws as `scanBatches`. */
export async function readFile({ url, plan, file }: FileJob['input']): Promise<TaskResult<'readFile'>> {
  events = [];
  const store = stores.get(url) ?? openStore(url, ctx);
  stores.set(url, store);
  const locator = new Locator(store, ctx, { allowExternalFiles: plan.allowExternalFiles });
  const where = boundOf(plan);
  const filter = filterOf(where);
  const open = await openFile(ctx, locator, plan, file, undefined);
  const parts: RowsPart[] = [];
  for (const unit of unitsOf(open, wantedRowGroups(plan, open, where))) {
    const decoded = await decodeUnit(await fetchUnit(unit));
    for (const [i, group] of unit.groups.entries()) {
      parts.push(...rowsOf(plan, open, group, decoded[i]!, filter, Number.POSITIVE_INFINITY));
    }
  }
  const transfer = new Set<ArrayBuffer>();
  for (const { columns } of parts) for (const column of columns) collectBuffers(column, transfer);
  return { output: { parts, events }, transfer: [...transfer] };
}
