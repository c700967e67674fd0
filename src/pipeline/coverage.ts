import { TableError } from '../errors.js';
import type { Span } from '../interval/calendar.js';
import { type Interval, instantText } from '../interval/interval.js';
import { covers, difference, type IntervalSet, union } from '../interval/set.js';
import { tableProperties } from '../log/properties.js';
import type { State } from '../snapshot/state.js';
import { checkCalendar } from './calendar-file.js';
import { type CommittedNote, type KnownRuns, loadFacts } from './facts.js';
import { type Job, stateIfAny } from './job.js';
import { type Ledger, placesIn, readLedger } from './ledger.js';
import { liveRows } from './live.js';
import { type RepeatedKeys, repeatedKeys } from './repeated-keys.js';
import { type Freshness, Staleness } from './stale.js';

/**
 * What the table says of an interval. `done` and `empty`: run, with rows or without. `missing`: ended and not run. `open`: not ended. `changed`: the rows in the
 * table are not those of the last run. `stale`: what the last run read has changed. `undone`: brought back to an earlier version by hand. `unknown`: the table
 * can no longer tell whether it is missing or stale.
 */
export const INTERVAL_STATES = [
  'done',
  'empty',
  'missing',
  'open',
  'stale',
  'changed',
  'undone',
  'unknown',
] as const;
export type IntervalState = (typeof INTERVAL_STATES)[number];

export interface CoverageEntry {
  readonly interval: Interval;
  readonly state: IntervalState;
  /** Committed runs. */
  readonly attempt: number;
  /** Rows of the last run; undefined where its facts are lost or it never ran. */
  readonly rows: number | undefined;
  /** Rows in the table now; undefined where they were not counted. */
  readonly live: number | undefined;
  /** The last run; undefined where its facts are lost or it never ran. */
  readonly run: CommittedNote | undefined;
}

export interface Coverage {
  readonly pipeline: string;
  readonly url: string;
  /** -1 where the table is yet to be created. */
  readonly version: number;
  /** Oldest first. */
  readonly entries: readonly CoverageEntry[];
  readonly counts: Readonly<Record<IntervalState, number>>;
  /** Keys that lie in two intervals; undefined where they were not asked for. */
  readonly keys?: RepeatedKeys;
}

export interface CoverageOptions {
  /** Milliseconds; bounds of the calendar. From the pipeline's start to the interval that is open now by default. */
  readonly fromMs?: number;
  readonly untilMs?: number;
  /** Compares the rows in the table with those recorded; true by default. */
  readonly rows?: boolean;
  /** Looks at what happened to the inputs since; true by default. Reads the commits of the inputs since the oldest run. */
  readonly inputs?: boolean;
  /**
   * Looks for keys that lie in two intervals: true for the key of the pipeline (`on`), or the columns of one. Not looked for by default, since it reads these
   * columns of all rows.
   */
  readonly keys?: boolean | readonly string[];
  readonly signal?: AbortSignal;
}

/** Calendar against ledger, from the table and the notes beside its log alone. Throws `NOT_A_TABLE`, `CALENDAR_CHANGED`, `INVALID_INPUT` for bounds that are none. */
export async function coverage(job: Job, options: CoverageOptions = {}): Promise<Coverage> {
  const state = await stateIfAny(job);
  // Cut otherwise than the runs were, all would seem to be missing.
  if (state) await checkCalendar(job, state, { write: false });
  return coverageOf(job, state, options);
}

/** Before the first run, which creates the table: nothing is done. */
function coverageOfNone(job: Job, options: CoverageOptions): Coverage {
  const now = job.table.ctx.clock.now();
  const entries = intervalsFor(job, now, options).map(
    (interval): CoverageEntry => ({
      interval,
      state: interval.endMs > now ? 'open' : 'missing',
      attempt: 0,
      rows: undefined,
      live: 0,
      run: undefined,
    }),
  );
  const { keys } = options;
  const columns = keys === true ? job.definition.on : keys;
  return {
    pipeline: job.definition.name,
    url: job.table.url,
    version: -1,
    entries,
    counts: counted(entries),
    ...(columns ? { keys: { columns, count: 0, examples: [] } } : {}),
  };
}

/** The same of a state at hand; undefined where the first run is going to create the table. */
export async function coverageOf(
  job: Job,
  state: State | undefined,
  options: CoverageOptions = {},
): Promise<Coverage> {
  if (!state) return coverageOfNone(job, options);
  const { definition, table } = job;
  const now = table.ctx.clock.now();
  const intervals = intervalsFor(job, now, options);
  const { own, places, others } = splitLedger(readLedger(state, definition.name), intervals);
  const runs = await loadFacts(table, definition.name, own);
  const isCounted = options.rows !== false && definition.mode !== 'upsert' && intervals.length > 0;
  const live = isCounted ? await liveRows(job, state, intervals, options.signal) : [];
  const freshness = options.inputs === false ? undefined : judgeAll(job, runs, own.size);
  const forgotten = forgottenBefore(state, now);
  const entries: CoverageEntry[] = [];
  for (const [i, interval] of intervals.entries()) {
    const at = places[i]!;
    const rows = runs.rows(at);
    let name: IntervalState;
    if (interval.endMs > now) name = 'open';
    else if (at < 0) {
      const isCovered = covers(others, interval.startMs) && difference([interval], others).length === 0;
      name = isCovered ? 'done' : interval.endMs <= forgotten ? 'unknown' : 'missing';
    } else if (runs.isUndo(at)) name = 'undone';
    else if (rows !== undefined && live[i] !== undefined && live[i] !== rows) name = 'changed';
    else {
      const fresh = freshness === undefined ? 'fresh' : await freshness(at);
      name = fresh === 'fresh' ? (rows === 0 ? 'empty' : 'done') : fresh;
    }
    entries.push(new Entry(interval, name, at < 0 ? 0 : own.attempt(at), live[i], runs, at));
  }
  return {
    pipeline: definition.name,
    url: table.url,
    version: state.version,
    entries,
    counts: counted(entries),
    ...(options.keys
      ? { keys: await repeatedKeys(job, state, intervals, options.keys, options.signal) }
      : {}),
  };
}

/** An entry whose run is parsed when it is asked for: a table may have half a million. */
class Entry implements CoverageEntry {
  readonly interval: Interval;
  readonly state: IntervalState;
  readonly attempt: number;
  readonly live: number | undefined;
  readonly #runs: KnownRuns;
  readonly #at: number;

  constructor(
    interval: Interval,
    state: IntervalState,
    attempt: number,
    live: number | undefined,
    runs: KnownRuns,
    at: number,
  ) {
    this.interval = interval;
    this.state = state;
    this.attempt = attempt;
    this.live = live;
    this.#runs = runs;
    this.#at = at;
  }

  get rows(): number | undefined {
    return this.#runs.rows(this.#at);
  }
  get run(): CommittedNote | undefined {
    return this.#runs.note(this.#at);
  }
}

function intervalsFor(job: Job, now: number, { fromMs, untilMs }: CoverageOptions): Interval[] {
  const { calendar, startMs } = job.definition;
  const from = fromMs ?? startMs;
  const until = untilMs ?? (now < startMs ? startMs : calendar.at(now).endMs);
  if (from < startMs) {
    throw new TableError(
      'INVALID_INPUT',
      `The range starts at ${instantText(from)}, before the pipeline's start at ${instantText(startMs)}.`,
      { from: instantText(from), start: instantText(startMs) },
    );
  }
  return [...calendar.between(from, untilMs === undefined ? Math.max(from, until) : until)];
}

/** The entries of the intervals, for each of these its position among them or -1, and what the others cover: those of an earlier calendar. */
function splitLedger(
  ledger: Ledger,
  intervals: readonly Interval[],
): { readonly own: Ledger; readonly places: Int32Array; readonly others: IntervalSet } {
  const places = placesIn(ledger, {
    starts: Float64Array.from(intervals, ({ startMs }) => startMs),
    ends: Float64Array.from(intervals, ({ endMs }) => endMs),
  });
  const taken = places.filter((place) => place >= 0);
  const own = ledger.pick(taken);
  let next = 0;
  const renumbered = places.map((place) => (place < 0 ? -1 : next++));
  const isTaken = new Uint8Array(ledger.size);
  for (const place of taken) isTaken[place] = 1;
  const others: Span[] = [];
  for (let i = 0; i < ledger.size; i++)
    if (isTaken[i] === 0) others.push({ startMs: ledger.starts[i]!, endMs: ledger.ends[i]! });
  return { own, places: renumbered, others: union(others) };
}

function judgeAll(job: Job, runs: KnownRuns, count: number): (at: number) => Promise<Freshness> {
  // Kept, so that no note is parsed a second time to be judged.
  const inputs = Array.from({ length: count }, (_, at) => runs.note(at)?.inputs ?? []);
  const oldest = new Map<string, number>();
  for (const read of inputs)
    for (const { url, version } of read) oldest.set(url, Math.min(version, oldest.get(url) ?? version));
  const staleness = new Staleness(job.runtime);
  return async (at) => staleness.judge(inputs[at]!, (url) => oldest.get(url) ?? 0);
}

/** Entries older than this may have been dropped by the table's retention of transactions. */
function forgottenBefore(state: State, now: number): number {
  const { setTransactionRetentionMs } = tableProperties(state.metadata.configuration);
  return setTransactionRetentionMs === undefined ? Number.NEGATIVE_INFINITY : now - setTransactionRetentionMs;
}

function counted(entries: readonly CoverageEntry[]): Record<IntervalState, number> {
  const counts = Object.fromEntries(INTERVAL_STATES.map((state) => [state, 0])) as Record<
    IntervalState,
    number
  >;
  for (const { state } of entries) counts[state]++;
  return counts;
}
