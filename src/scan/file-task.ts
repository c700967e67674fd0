import type { Context } from '../runtime/context.js';
import type { RuntimeEvent } from '../runtime/events.js';
import { systemClock, systemIds } from '../runtime/system.js';
import type { TaskResult } from '../stage/protocol.js';
import { openStore } from '../store/open.js';
import type { Store } from '../store/store.js';
import { mapAhead } from './ahead.js';
import { decodeWell } from './decode-task.js';
import { discard } from './discard.js';
import { rowsOf } from './file-rows.js';
import { blocksOf, type Lot, Outbox } from './handover.js';
import { type LateRecord, readingOf } from './late.js';
import { Locator } from './location.js';
import { joinGroups } from './open-file.js';
import type { ScanFile, ScanPlan } from './plan.js';
import { printPredicate } from './print.js';
import { type FetchedUnit, fetchUnit, openUnits } from './units.js';

/** Local files to be read by a worker thread, which opens them itself: their bytes never pass the thread that asked. */
export interface FilesJob {
  /** `url` is the table's; the plan comes without its files. `slabs` are memory to hand rows over in. */
  readonly input: {
    readonly url: string;
    readonly plan: ScanPlan;
    readonly files: readonly ScanFile[];
    readonly slabs: readonly SharedArrayBuffer[];
  };
  /** The wanted rows of each file, in order, in `slabs`, which are to be given back. `events` are for the asking thread to pass on. */
  readonly output: {
    readonly lots: readonly (readonly Lot[])[];
    readonly slabs: readonly SharedArrayBuffer[];
    readonly events: readonly RuntimeEvent[];
  };
}

/** Files opened and fetched while another is decoded. */
const AHEAD = 2;

let events: RuntimeEvent[] = [];
const ctx: Context = { clock: systemClock, ids: systemIds, emit: (event) => events.push(event) };
const stores = new Map<string, Store>();

/** Reads the wanted rows of some files. Throws as `scanBatches`. */
export async function readFiles({
  url,
  plan,
  files,
  slabs,
}: FilesJob['input']): Promise<TaskResult<'readFiles'>> {
  events = [];
  const store = stores.get(url) ?? openStore(url, ctx);
  stores.set(url, store);
  const locator = new Locator(store, ctx, { allowExternalFiles: plan.allowExternalFiles });
  const reading = readingOf(plan, learned(url, plan));
  const { filter } = reading;
  const fetch = async (file: ScanFile): Promise<FetchedUnit[]> => {
    const units = await openUnits(ctx, locator, reading, file, undefined);
    return Promise.all(units.map((unit) => fetchUnit(reading, unit)));
  };
  const outbox = new Outbox(slabs);
  const lots: Lot[][] = [];
  for await (const fetched of mapAhead(files, fetch, { count: AHEAD })) {
    const own: Lot[] = [];
    for (const { unit, tasks, whole } of fetched) {
      const { open } = unit;
      const input = { file: open.file.path, tasks, whole };
      const taken = await decodeWell(input, ({ from, to, columns }, isLent) => {
        const group = joinGroups(unit.groups, from, to);
        const lent = isLent ? blocksOf(columns) : new Set<ArrayBufferLike>();
        return outbox.add([...rowsOf(plan, open, group, columns, filter, Number.POSITIVE_INFINITY)], lent);
      });
      own.push(...taken);
      if (whole && whole.byteLength === whole.buffer.byteLength) discard(whole.buffer as ArrayBuffer);
    }
    lots.push(own);
  }
  return { output: { lots, slabs: outbox.slabs, events }, transfer: outbox.owned };
}

/** What the last scan has learned, for its next job. */
let last: { readonly scan: string; readonly late: LateRecord } | undefined;

function learned(url: string, { where, version }: ScanPlan): LateRecord {
  const scan = `${url} ${version} ${where && printPredicate(where)}`;
  if (last?.scan !== scan) last = { scan, late: { tried: 0, saved: 0 } };
  return last.late;
}
