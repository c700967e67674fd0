import { isTableError } from '../errors.js';
import type { Span } from '../interval/calendar.js';
import type { CommitInfoAction } from '../log/actions.js';
import { readCommitInfo } from '../log/commit-time.js';
import { parseJson, stringifyJson } from '../log/json.js';
import { listLog } from '../log/listing.js';
import type { TableContext } from '../runtime/table-context.js';
import type { JsonObject } from '../schema/types.js';
import type { PipelineMode } from './definition.js';
import { Ledger, type LedgerEntry, placesIn } from './ledger.js';
import { readCommitted, writeNote } from './notes.js';
import { type RollUp, readRollUp, writeRollUp } from './roll-up.js';

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

/** Commits read at once. */
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

/** What is known of the last run of each entry of a ledger, by the entry's position. */
export class KnownRuns {
  readonly #rollUp: RollUp;
  readonly #places: Int32Array;
  readonly #loose: ReadonlyMap<number, CommittedNote>;

  constructor(rollUp: RollUp, places: Int32Array, loose: ReadonlyMap<number, CommittedNote>) {
    this.#rollUp = rollUp;
    this.#places = places;
    this.#loose = loose;
  }

  /** Undefined where no trace of the run is left. */
  note(at: number): CommittedNote | undefined {
    const place = this.#places[at] ?? -1;
    return place < 0 ? this.#loose.get(at) : this.#rollUp.note(place);
  }
  rows(at: number): number | undefined {
    const place = this.#places[at] ?? -1;
    return place < 0 ? this.#loose.get(at)?.rows : this.#rollUp.rows(place);
  }
  isUndo(at: number): boolean {
    const place = this.#places[at] ?? -1;
    return place < 0 ? this.#loose.get(at)?.mode === 'undo' : this.#rollUp.isUndo(place);
  }
  /** Those that are known, oldest interval first. */
  notes(): CommittedNote[] {
    return Array.from(this.#places.keys(), (at) => this.note(at)).filter((note) => note !== undefined);
  }
}

/** The facts of one committed run: from its note, or else as `loadFacts` finds them. Undefined where no trace is left. */
export async function loadRun(
  table: TableContext,
  pipeline: string,
  entry: LedgerEntry,
): Promise<CommittedNote | undefined> {
  const [note] = await readCommitted(table, pipeline, [entry]);
  return note ?? (await loadFacts(table, pipeline, Ledger.of([entry]))).note(0);
}

/**
 * The facts of the last run of each entry of a ledger: from the roll-up, the notes, and for those that have none the log, which are then written down. What log
 * cleanup and lost notes left no trace of is not in the result. Writes a new roll-up when many notes are outside of it. `written` are notes known to be there,
 * which are not read.
 */
export async function loadFacts(
  table: TableContext,
  pipeline: string,
  ledger: Ledger,
  written: readonly CommittedNote[] = [],
): Promise<KnownRuns> {
  const rollUp = await readRollUp(table, pipeline);
  const places = placesIn(rollUp, ledger);
  places.forEach((place, at) => {
    if (place >= 0 && rollUp.attempt(place) !== ledger.attempt(at)) places[at] = -1;
  });
  const loose = Array.from(places.keys()).filter((at) => places[at]! < 0);
  const found = new Map<number, CommittedNote>();
  const runs = new KnownRuns(rollUp, places, found);
  if (loose.length === 0) return runs;
  const known = new Map(written.map((note) => [noteKey(note), note]));
  const unread: number[] = [];
  for (const at of loose) {
    const note = known.get(spanKey(ledger.entry(at)));
    if (note?.attempt === ledger.attempt(at)) found.set(at, note);
    else unread.push(at);
  }
  const entries = unread.map((at) => ledger.entry(at));
  (await readCommitted(table, pipeline, entries)).forEach((note, i) => {
    if (note) found.set(unread[i]!, note);
  });
  const missing = new Map<string, number>();
  for (const at of loose) if (!found.has(at)) missing.set(spanKey(ledger.entry(at)), at);
  if (missing.size > 0) {
    for (const [at, note] of await factsInLog(table, pipeline, missing, ledger)) {
      found.set(at, note);
      await writeNote(table, note);
    }
  }
  if (found.size >= Math.max(LOOSE_NOTES, Math.sqrt(rollUp.size))) {
    const notes = [...found.values()];
    const renewed = new Set(notes.map(noteKey));
    const isKept = (place: number): boolean =>
      !renewed.has(spanKey({ startMs: rollUp.starts[place]!, endMs: rollUp.ends[place]! }));
    await writeRollUp(table, pipeline, rollUp.bytesWith(notes, isKept));
  }
  return runs;
}

async function factsInLog(
  table: TableContext,
  pipeline: string,
  missing: Map<string, number>,
  ledger: Ledger,
): Promise<Map<number, CommittedNote>> {
  const { commits } = await listLog(table.store, {});
  const newestFirst = [...commits.values()].sort((a, b) => b.version - a.version);
  const notes = new Map<number, CommittedNote>();
  for (let from = 0; from < newestFirst.length && missing.size > 0; from += AHEAD) {
    const chunk = newestFirst.slice(from, from + AHEAD);
    const infos = await Promise.all(
      chunk.map((commit) => readCommitInfo(table.store, commit).catch(unlessGone)),
    );
    infos.forEach((info, i) => {
      const facts = factsOfCommit(info);
      if (facts?.pipeline !== pipeline) return;
      const key = noteKey(facts);
      const at = missing.get(key);
      if (at === undefined || ledger.attempt(at) !== facts.attempt) return;
      missing.delete(key);
      notes.set(at, { status: 'committed', version: chunk[i]!.version, ...facts });
    });
  }
  return notes;
}

function unlessGone(error: unknown): undefined {
  if (!isTableError(error, 'NOT_FOUND')) throw error;
}

function noteKey({ start, end }: Pick<RunFacts, 'start' | 'end'>): string {
  return spanKey({ startMs: Date.parse(start), endMs: Date.parse(end) });
}

function spanKey({ startMs, endMs }: Span): string {
  return `${startMs}/${endMs}`;
}
