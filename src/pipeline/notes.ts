import { isTableError } from '../errors.js';
import type { Span } from '../interval/calendar.js';
import { instantText } from '../interval/interval.js';
import type { TableContext } from '../runtime/table-context.js';
import { mapLimit } from '../snapshot/parallel.js';
import type { State } from '../snapshot/state.js';
import type { CommittedNote, FailedNote, RunFacts, RunNote } from './facts.js';
import { encodeName, entryOf } from './ledger.js';

/** Notes read at once. */
const AHEAD = 32;

/** Writes a note. It is no authority, so that a failure is only told. */
export async function writeNote(table: TableContext, note: RunNote): Promise<void> {
  const name = note.status === 'committed' ? `${note.attempt}` : `${note.attempt}-failed-${note.runId}`;
  const key = `${folderOf(note.pipeline)}${spanName(note)}/${name}.json`;
  try {
    await table.store.put(key, new TextEncoder().encode(`${JSON.stringify(note)}\n`));
  } catch (error) {
    table.ctx.emit({
      type: 'warning',
      message: `A note of a run could not be written: ${String(error)}`,
      file: key,
    });
  }
}

/** The notes of one interval, oldest attempt first. */
export async function readNotes(table: TableContext, pipeline: string, span: Span): Promise<RunNote[]> {
  const keys: string[] = [];
  for await (const page of table.store.list(`${folderOf(pipeline)}${spanName(textOf(span))}/`))
    keys.push(...page.map(({ key }) => key));
  const notes = await mapLimit(keys, AHEAD, (key) => readNote(table, key));
  return notes
    .filter((note) => note !== undefined)
    .sort((a, b) => a.attempt - b.attempt || a.startedAt - b.startedAt);
}

/** The notes of these runs, undefined for those that are lost. */
export function readCommitted(
  table: TableContext,
  pipeline: string,
  runs: readonly (Span & { readonly attempt: number })[],
): Promise<(CommittedNote | undefined)[]> {
  return mapLimit(runs, AHEAD, async ({ attempt, ...span }) => {
    const note = await readNote(table, `${folderOf(pipeline)}${spanName(textOf(span))}/${attempt}.json`);
    return note?.status === 'committed' && note.attempt === attempt ? note : undefined;
  });
}

/** The failed attempts of a pipeline that no later run made good. One listing and a request for each. */
export async function readFailures(
  table: TableContext,
  state: Pick<State, 'txns'>,
  pipeline: string,
): Promise<FailedNote[]> {
  const keys: string[] = [];
  for await (const page of table.store.list(folderOf(pipeline)))
    for (const { key } of page) if (key.includes('-failed-')) keys.push(key);
  const notes = await mapLimit(keys, AHEAD, (key) => readNote(table, key));
  return notes.filter((note): note is FailedNote => {
    if (note?.status !== 'failed') return false;
    const span = { startMs: Date.parse(note.start), endMs: Date.parse(note.end) };
    return (entryOf(state, pipeline, span)?.attempt ?? 0) < note.attempt;
  });
}

async function readNote(table: TableContext, key: string): Promise<RunNote | undefined> {
  let bytes: Uint8Array;
  try {
    bytes = await table.store.get(key);
  } catch (error) {
    if (isTableError(error, 'NOT_FOUND')) return undefined;
    throw error;
  }
  return noteOf(bytes);
}

/** Undefined for what is no note: what is torn is as good as lost. */
export function noteOf(bytes: Uint8Array): RunNote | undefined {
  try {
    const note: unknown = JSON.parse(new TextDecoder().decode(bytes));
    return typeof note === 'object' && note !== null && 'runId' in note ? (note as RunNote) : undefined;
  } catch {
    return undefined;
  }
}

/** Where the notes of a pipeline lie. */
export function folderOf(pipeline: string): string {
  return `_intervale/runs/${encodeName(pipeline)}/`;
}

function textOf({ startMs, endMs }: Span): Pick<RunFacts, 'start' | 'end'> {
  return { start: instantText(startMs), end: instantText(endMs) };
}

/** `20240105T000000Z-20240106T000000Z`: without colons, which some file systems refuse. */
function spanName({ start, end }: Pick<RunFacts, 'start' | 'end'>): string {
  return [start, end].map((text) => text.replaceAll(/[:-]/g, '')).join('-');
}
