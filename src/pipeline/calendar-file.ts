import { isTableError, TableError } from '../errors.js';
import type { CalendarData } from '../interval/calendar.js';
import { bindPredicate } from '../scan/bind.js';
import { printPredicate } from '../scan/print.js';
import { typeText } from '../schema/type-text.js';
import type { DataType, Datum } from '../schema/types.js';
import { compareDatum } from '../schema/value.js';
import type { State } from '../snapshot/state.js';
import type { Store } from '../store/store.js';
import { parsed } from '../write/condition.js';
import type { PipelineMode } from './definition.js';
import type { Job } from './job.js';
import { encodeName } from './ledger.js';
import { bindTarget } from './target.js';

/** How a pipeline cuts a table, as it stands beside the log in `_intervale/pipelines/<name>/<n>.json`. */
export interface CalendarFile {
  readonly pipeline: string;
  readonly calendar: CalendarData;
  readonly column: string;
  readonly columnType: string;
  readonly mode: PipelineMode;
  /** SQL text. */
  readonly scope: string | null;
}

const ROOT = '_intervale/pipelines/';
/** What was found right a moment ago, by table: text of the calendar to the monotonic time. */
const checked = new WeakMap<object, Map<string, number>>();
const CHECKED_FOR_MS = 60_000;

/**
 * Makes sure that the pipeline's calendar beside the log is the one defined, writing it where there is none unless told not to. Throws `CALENDAR_CHANGED` where it is another, and
 * `SCOPE_OVERLAP` where another pipeline of the table, one of the two replacing, is not provably about other rows.
 */
export async function checkCalendar(
  job: Job,
  state: State,
  { write = true }: { readonly write?: boolean } = {},
): Promise<void> {
  const wanted = calendarOf(job, state);
  const text = JSON.stringify(wanted);
  const { store, ctx } = job.table;
  const done = checked.get(job.table) ?? new Map<string, number>();
  checked.set(job.table, done);
  if (ctx.clock.monotonic() - (done.get(text) ?? Number.NEGATIVE_INFINITY) < CHECKED_FOR_MS) return;
  const known = await newestCalendars(store);
  const own = known.get(wanted.pipeline);
  if (own) assertSame(job, own.file, wanted);
  for (const [name, { file }] of known) if (name !== wanted.pipeline) assertApart(job, state, wanted, file);
  if (!own && !write) return;
  if (!own) {
    const first = await putCalendar(store, 1, wanted);
    if (first) assertSame(job, first, wanted);
    // Two pipelines that come at once each see the other after their own is written.
    for (const [name, { file }] of await newestCalendars(store))
      if (name !== wanted.pipeline) assertApart(job, state, wanted, file);
  }
  done.set(text, ctx.clock.monotonic());
}

/**
 * Puts the definition's calendar in the place of the one recorded. Runs recorded before stay: an interval is done where they cover it.
 * Throws `CALENDAR_CHANGED` when another process changed it at the same time.
 */
export async function migrateCalendar(job: Job, state: State): Promise<{ readonly changed: boolean }> {
  const wanted = calendarOf(job, state);
  checked.delete(job.table);
  const own = (await newestCalendars(job.table.store)).get(wanted.pipeline);
  if (own && sameFile(own.file, wanted)) return { changed: false };
  const other = await putCalendar(job.table.store, (own?.number ?? 0) + 1, wanted);
  if (other) assertSame(job, other, wanted);
  return { changed: true };
}

/** The newest calendar of every pipeline of the table. One listing and a request for each. */
export async function newestCalendars(
  store: Store,
): Promise<Map<string, { readonly number: number; readonly file: CalendarFile }>> {
  const newest = new Map<string, { number: number; key: string }>();
  for await (const page of store.list(ROOT)) {
    for (const { key } of page) {
      const match = /^_intervale\/pipelines\/([^/]+)\/(\d+)\.json$/.exec(key);
      if (!match) continue;
      const number = Number(match[2]);
      if (number > (newest.get(match[1]!)?.number ?? 0)) newest.set(match[1]!, { number, key });
    }
  }
  const files = new Map<string, { number: number; file: CalendarFile }>();
  await Promise.all(
    [...newest.values()].map(async ({ number, key }) => {
      const file = await readCalendar(store, key);
      files.set(file.pipeline, { number, file });
    }),
  );
  return files;
}

function calendarOf(job: Job, state: State): CalendarFile {
  const { definition } = job;
  const { field } = bindTarget(definition, state);
  return {
    pipeline: definition.name,
    calendar: definition.calendar.toJSON(),
    column: field.name,
    columnType: typeText(field.dataType),
    mode: definition.mode,
    scope: definition.scope === undefined ? null : printPredicate(parsed(definition.scope)),
  };
}

/** Undefined when the file was written; the other file when there is one already. */
async function putCalendar(
  store: Store,
  number: number,
  file: CalendarFile,
): Promise<CalendarFile | undefined> {
  const key = `${ROOT}${encodeName(file.pipeline)}/${number}.json`;
  const bytes = new TextEncoder().encode(`${JSON.stringify(file)}\n`);
  const put = await store.putIfAbsent(key, bytes);
  return put.outcome === 'created' ? undefined : readCalendar(store, key);
}

async function readCalendar(store: Store, key: string): Promise<CalendarFile> {
  try {
    return JSON.parse(new TextDecoder().decode(await store.get(key))) as CalendarFile;
  } catch (error) {
    if (isTableError(error)) throw error;
    throw new TableError(
      'CORRUPT_LOG',
      `The calendar ${key} of ${store.url} is no JSON.`,
      { file: key },
      error,
    );
  }
}

function sameFile(a: CalendarFile, b: CalendarFile): boolean {
  return JSON.stringify(normal(a)) === JSON.stringify(normal(b));
}

function normal({ pipeline, calendar, column, columnType, mode, scope }: CalendarFile): unknown[] {
  const { unit, count, timeZone, anchor } = calendar;
  return [pipeline, unit, count, timeZone, anchor ?? null, column, columnType, mode, scope];
}

function assertSame(job: Job, recorded: CalendarFile, wanted: CalendarFile): void {
  if (sameFile(recorded, wanted)) return;
  const { name } = job.definition;
  throw new TableError(
    'CALENDAR_CHANGED',
    `The pipeline ${name} is recorded at ${job.table.url} as ${describe(recorded)}, and is now defined as ${describe(wanted)}. Give it another name to start anew, or migrate it (tablectl run --migrate): runs recorded before then count where they cover an interval.`,
    { pipeline: name, recorded, defined: wanted },
  );
}

function describe({ calendar, column, columnType, mode, scope }: CalendarFile): string {
  const { unit, count, timeZone, anchor } = calendar;
  return `every ${count === 1 ? unit : `${count} ${unit}s`} in ${timeZone}${anchor ? ` from ${anchor}` : ''} by ${column} ${columnType}, ${mode}${scope === null ? '' : ` where ${scope}`}`;
}

function assertApart(job: Job, state: State, wanted: CalendarFile, other: CalendarFile): void {
  if (wanted.mode !== 'replace' && other.mode !== 'replace') return;
  if (areDisjoint(wanted.scope, other.scope, state)) return;
  const scopes = `${wanted.scope ?? 'all rows'}, and ${other.scope ?? 'all rows'}`;
  throw new TableError(
    'SCOPE_OVERLAP',
    `The pipelines ${wanted.pipeline} and ${other.pipeline} of ${job.table.url} would replace each other's rows: their scopes (${scopes}) are not provably apart. Give both a scope on one column, such as source = 'web' and source = 'app'.`,
    { pipeline: wanted.pipeline, other: other.pipeline, scope: wanted.scope, otherScope: other.scope },
  );
}

/** True when some column can only have values under one scope that it cannot have under the other. */
function areDisjoint(a: string | null, b: string | null, state: State): boolean {
  if (a === null || b === null) return false;
  const [left, right] = [allowedValues(a, state), allowedValues(b, state)];
  return [...left].some(([column, { type, values }]) => {
    const others = right.get(column)?.values;
    return others?.every((other) => values.every((value) => compareDatum(type, value, other) !== 0)) ?? false;
  });
}

type Allowed = Map<string, { readonly type: DataType; readonly values: readonly Datum[] }>;

function allowedValues(scope: string, state: State): Allowed {
  const found: Allowed = new Map();
  const visit = (part: ReturnType<typeof bindPredicate>['root']): void => {
    if (part.kind === 'and') for (const each of part.operands) visit(each);
    if (
      part.kind === 'compare' &&
      part.op === '=' &&
      part.left.kind === 'column' &&
      part.right.kind === 'literal'
    )
      found.set(part.left.key, { type: part.domain, values: [part.right.value] });
    if (part.kind === 'in' && part.operand.kind === 'column')
      found.set(part.operand.key, { type: part.domain, values: part.values });
  };
  visit(bindPredicate(parsed(scope), state.schema).root);
  return found;
}
