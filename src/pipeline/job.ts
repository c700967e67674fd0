import { isTableError, TableError } from '../errors.js';
import { tableProperties } from '../log/properties.js';
import type { Runtime } from '../runtime/runtime.js';
import type { TableContext } from '../runtime/table-context.js';
import type { State } from '../snapshot/state.js';
import { create } from '../write/create.js';
import { checkCalendar } from './calendar-file.js';
import { type Definition, MANY_INTERVALS } from './definition.js';
import { bindTarget } from './target.js';

/** A pipeline on a runtime: everything that its operations need. */
export interface Job {
  readonly definition: Definition;
  readonly runtime: Runtime;
  readonly table: TableContext;
}

export function openJob(definition: Definition, runtime: Runtime): Job {
  return { definition, runtime, table: runtime.table(definition.url) };
}

/** The newest state of a pipeline's table, or one that was it no longer than `maxStaleness` milliseconds ago. Throws `NOT_A_TABLE`. */
export async function stateOf(job: Job, maxStaleness?: number): Promise<State> {
  return job.table.latest.get(maxStaleness);
}

/** The same; undefined where the first run is going to create the table. */
export async function stateIfAny(job: Job, maxStaleness?: number): Promise<State | undefined> {
  try {
    return await stateOf(job, maxStaleness);
  } catch (error) {
    if (!isTableError(error, 'NOT_A_TABLE')) throw error;
    if (job.definition.create) return undefined;
    const { name, url } = job.definition;
    throw new TableError(
      'NOT_A_TABLE',
      `There is no Delta table at ${url}. Check the table of the pipeline ${name}, or say in its option create how the first run creates it.`,
      { url, pipeline: name },
      error,
    );
  }
}

/**
 * The newest state as with `stateOf`, ready to be run on: the table is created where the definition says how, the column fits the calendar, and the calendar beside the log is
 * this pipeline's (written by whoever comes first). Throws `NOT_A_TABLE`, `CALENDAR_CHANGED`, `SCOPE_OVERLAP`, `INVALID_INPUT`.
 */
export async function prepareJob(job: Job, maxStaleness?: number): Promise<State> {
  const state = (await stateIfAny(job, maxStaleness)) ?? (await createFor(job));
  assertFits(job, state);
  await checkCalendar(job, state);
  return state;
}

/** The same checks for what only looks: nothing is created or written. Undefined where the first run is going to create the table. */
export async function checkedState(job: Job): Promise<State | undefined> {
  const state = await stateIfAny(job);
  if (!state) return undefined;
  assertFits(job, state);
  await checkCalendar(job, state, { write: false });
  return state;
}

function assertFits(job: Job, state: State): void {
  bindTarget(job.definition, state);
  const { allowForgetting, url } = job.definition;
  const { setTransactionRetentionMs } = tableProperties(state.metadata.configuration);
  if (setTransactionRetentionMs !== undefined && !allowForgetting) {
    throw new TableError(
      'INVALID_INPUT',
      `${url} has the property delta.setTransactionRetentionDuration, after which other engines forget which intervals were run. Unset it, or accept that older intervals become unknown with allowForgetting.`,
      { url },
    );
  }
  warnOfMany(job);
}

const warned = new WeakSet<Definition>();

/** Every interval is an entry that every reader of the table loads. */
function warnOfMany({ definition, table }: Job): void {
  const { calendar, startMs, name } = definition;
  const now = table.ctx.clock.now();
  if (warned.has(definition) || now <= startMs) return;
  warned.add(definition);
  const { startMs: from, endMs } = calendar.spanAt(now);
  const count = Math.floor((now - startMs) / (endMs - from));
  if (count <= MANY_INTERVALS) return;
  table.ctx.emit({
    type: 'warning',
    message: `The pipeline ${name} has some ${count} intervals, and each that is run is an entry of the table's log that every engine loads. Longer intervals are cheaper.`,
  });
}

async function createFor({ table, definition }: Job): Promise<State> {
  try {
    await create(table, definition.create!);
  } catch (error) {
    // Another worker was first; whether its table fits is seen by the rows.
    if (!isTableError(error, 'TABLE_EXISTS')) throw error;
  }
  return table.latest.get();
}
