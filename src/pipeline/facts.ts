import { isTableError } from '../errors.js';
import type { Span } from '../interval/calendar.js';
import { instantText } from '../interval/interval.js';
import type { CommitInfoAction } from '../log/actions.js';
import { readCommitInfo } from '../log/commit-time.js';
import { parseJson, stringifyJson } from '../log/json.js';
import { listLog } from '../log/listing.js';
import type { TableContext } from '../runtime/table-context.js';
import type { JsonObject } from '../schema/types.js';
import type { PipelineMode } from './definition.js';
import { encodeName, type LedgerEntry, spanKey } from './ledger.js';

/** A table that a run read. */
export interface InputFacts {
  readonly url: string;
  /** `metaData.id` of the table, so that another one put at its place is told apart. */
  readonly id: string;
  readonly version: number;
  /** SQL text; null where everything was read. */
  readonly where: string | null;
}

/** Everything recorded of one committed run. In `commitInfo.intervale` of its commit, and again in a note beside the log. */
export interface RunFacts {
  readonly pipeline: string;
  /** Instants as ISO 8601 text. */
  readonly start: string;
  readonly end: string;
  readonly label: string;
  readonly attempt: number;
  readonly runId: string;
  readonly mode: PipelineMode | 'undo';
  readonly rows: number;
  readonly bytes: number;
  readonly digest: string;
  readonly inputs: readonly InputFacts[];
  readonly codeVersion: string | null;
  /** Milliseconds since the Unix epoch, and milliseconds. */
  readonly startedAt: number;
  readonly durationMs: number;
  /** For an undo: the version whose rows were brought back. */
  readonly undoneTo?: number;
}

/** A note beside the log: a run with the version that it became, or an attempt that failed. */
export type RunNote =
  | ({ readonly status: 'committed'; readonly version: number } & RunFacts)
  | ({
      readonly status: 'failed';
      readonly error: { readonly code: string; readonly message: string };
    } & Pick<
      RunFacts,
      | 'pipeline'
      | 'start'
      | 'end'
      | 'label'
      | 'attempt'
      | 'runId'
      | 'codeVersion'
      | 'startedAt'
      | 'durationMs'
    >);
export type CommittedNote = Extract<RunNote, { status: 'committed' }>;
export type FailedNote = Extract<RunNote, { status: 'failed' }>;

/** Notes read at once. */
const AHEAD = 32;
/** So many notes outside the roll-up make a new one worth its bytes. */
const LOOSE_NOTES = 32;

/** Where the facts of a run stand in a commit. */
export function commitFacts(facts: RunFacts): JsonObject {
  return { intervale: facts as unknown as JsonObject };
}

/** The facts in a commit: in `intervale`, or in the text that other engines carry along. */
export function factsOfCommit(commitInfo: CommitInfoAction | undefined): RunFacts | undefined {
  const { intervale } = (commitInfo ?? {}) as { intervale?: unknown };
  if (isFacts(intervale)) return intervale;
  const text = commitInfo?.userMetadata;
  if (typeof text !== 'string' || !text.startsWith('{"intervale"')) return undefined;
  try {
    const { intervale: told } = parseJson(text) as { intervale?: unknown };
    return isFacts(told) ? told : undefined;
  } catch {
    return undefined;
  }
}

/** The same as text, for `userMetadata`. */
export function factsText(facts: RunFacts): string {
  return stringifyJson(commitFacts(facts));
}

function isFacts(value: unknown): value is RunFacts {
  return (
    typeof value === 'object' && value !== null && 'runId' in value && 'attempt' in value && 'digest' in value
  );
}

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
  const text = { start: instantText(span.startMs), end: instantText(span.endMs) };
  const keys: string[] = [];
  for await (const page of table.store.list(`${folderOf(pipeline)}${spanName(text)}/`))
    keys.push(...page.map(({ key }) => key));
  const notes = await each(keys, (key) => readNote(table, key));
  return notes
    .filter((note) => note !== undefined)
    .sort((a, b) => a.attempt - b.attempt || a.startedAt - b.startedAt);
}

/** The failed attempts of a pipeline that no later run made good, newest first by interval. One listing and a request for each. */
export async function readFailures(
  table: TableContext,
  pipeline: string,
  ledger: ReadonlyMap<string, LedgerEntry>,
): Promise<FailedNote[]> {
  const keys: string[] = [];
  for await (const page of table.store.list(folderOf(pipeline)))
    for (const { key } of page) if (key.includes('-failed-')) keys.push(key);
  const notes = await each(keys, (key) => readNote(table, key));
  return notes.filter((note): note is FailedNote => {
    if (note?.status !== 'failed') return false;
    const entry = ledger.get(noteKey(note));
    return (entry?.attempt ?? 0) < note.attempt;
  });
}

/**
 * The facts of the last run of each entry of a ledger, by `spanKey`: from the roll-up, the notes, and for those that have none the log, which are then written
 * down. What log cleanup and lost notes left no trace of is not in the result. Writes a new roll-up when many notes are outside of it.
 */
export async function loadFacts(
  table: TableContext,
  pipeline: string,
  ledger: ReadonlyMap<string, LedgerEntry>,
): Promise<Map<string, CommittedNote>> {
  const found = new Map<string, CommittedNote>();
  const take = (note: RunNote | undefined): void => {
    if (note?.status !== 'committed') return;
    const key = noteKey(note);
    if (ledger.get(key)?.attempt === note.attempt) found.set(key, note);
  };
  const rolledUp = await readRollUp(table, pipeline);
  for (const note of rolledUp) take(note);
  const loose = [...ledger].filter(([key]) => !found.has(key));
  if (loose.length === 0) return found;
  const keys = loose.map(([, entry]) => {
    const text = { start: instantText(entry.startMs), end: instantText(entry.endMs) };
    return `${folderOf(pipeline)}${spanName(text)}/${entry.attempt}.json`;
  });
  for (const note of await each(keys, (key) => readNote(table, key))) take(note);
  const missing = new Set(loose.map(([key]) => key).filter((key) => !found.has(key)));
  if (missing.size > 0) {
    for (const note of await factsInLog(table, pipeline, missing, ledger)) {
      take(note);
      await writeNote(table, note);
    }
  }
  if (loose.length >= LOOSE_NOTES) {
    const others = rolledUp.filter((note) => !found.has(noteKey(note)));
    await writeRollUp(table, pipeline, [...others, ...found.values()]);
  }
  return found;
}

async function factsInLog(
  table: TableContext,
  pipeline: string,
  missing: Set<string>,
  ledger: ReadonlyMap<string, LedgerEntry>,
): Promise<CommittedNote[]> {
  const { commits } = await listLog(table.store, {});
  const newestFirst = [...commits.values()].sort((a, b) => b.version - a.version);
  const notes: CommittedNote[] = [];
  for (let from = 0; from < newestFirst.length && missing.size > 0; from += AHEAD) {
    const chunk = newestFirst.slice(from, from + AHEAD);
    const infos = await Promise.all(
      chunk.map((commit) => readCommitInfo(table.store, commit).catch(unlessGone)),
    );
    infos.forEach((info, i) => {
      const facts = factsOfCommit(info);
      if (facts?.pipeline !== pipeline) return;
      const key = noteKey(facts);
      if (!missing.has(key) || ledger.get(key)?.attempt !== facts.attempt) return;
      missing.delete(key);
      notes.push({ status: 'committed', version: chunk[i]!.version, ...facts });
    });
  }
  return notes;
}

async function readRollUp(table: TableContext, pipeline: string): Promise<CommittedNote[]> {
  const notes = await readJson(table, rollUpKey(pipeline));
  return Array.isArray(notes) ? notes.filter((note): note is CommittedNote => isFacts(note)) : [];
}

async function writeRollUp(
  table: TableContext,
  pipeline: string,
  notes: readonly CommittedNote[],
): Promise<void> {
  const key = rollUpKey(pipeline);
  try {
    await table.store.put(key, new TextEncoder().encode(JSON.stringify(notes)));
  } catch (error) {
    table.ctx.emit({
      type: 'warning',
      message: `The roll-up of runs could not be written: ${String(error)}`,
      file: key,
    });
  }
}

async function readNote(table: TableContext, key: string): Promise<RunNote | undefined> {
  const note = await readJson(table, key);
  return typeof note === 'object' && note !== null && 'runId' in note ? (note as RunNote) : undefined;
}

/** Undefined where there is no such object, or one that is no JSON: what is torn is as good as lost. */
async function readJson(table: TableContext, key: string): Promise<unknown> {
  let bytes: Uint8Array;
  try {
    bytes = await table.store.get(key);
  } catch (error) {
    return unlessGone(error);
  }
  try {
    return JSON.parse(new TextDecoder().decode(bytes));
  } catch {
    return undefined;
  }
}

function unlessGone(error: unknown): undefined {
  if (!isTableError(error, 'NOT_FOUND')) throw error;
}

async function each<T, R>(items: readonly T[], run: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = [];
  let next = 0;
  const worker = async (): Promise<void> => {
    while (next < items.length) {
      const index = next++;
      results[index] = await run(items[index]!);
    }
  };
  await Promise.all(Array.from({ length: Math.min(AHEAD, items.length) }, worker));
  return results;
}

function folderOf(pipeline: string): string {
  return `_intervale/runs/${encodeName(pipeline)}/`;
}

function rollUpKey(pipeline: string): string {
  return `${folderOf(pipeline)}rollup.json`;
}

function noteKey({ start, end }: Pick<RunFacts, 'start' | 'end'>): string {
  return spanKey({ startMs: Date.parse(start), endMs: Date.parse(end) });
}

/** `20240105T000000Z-20240106T000000Z`: without colons, which some file systems refuse. */
function spanName({ start, end }: Pick<RunFacts, 'start' | 'end'>): string {
  return [start, end].map((text) => text.replaceAll(/[:-]/g, '')).join('-');
}
