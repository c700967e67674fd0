import { TableError } from '../errors.js';
import type { Span } from '../interval/calendar.js';
import { type Interval, instantText } from '../interval/interval.js';
import { covers, difference, type IntervalSet, union } from '../interval/set.js';
import { tableProperties } from '../log/properties.js';
import type { State } from '../snapshot/state.js';
import { type CommittedNote, loadFacts } from './facts.js';
import { type Job, stateOf } from './job.js';
import { type LedgerEntry, readLedger, spanKey } from './ledger.js';
import { liveRows } from './live.js';
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
  readonly version: number;
  /** Oldest first. */
  readonly entries: readonly CoverageEntry[];
  readonly counts: Readonly<Record<IntervalState, number>>;
}

export interface CoverageOptions {
  /** Milliseconds; bounds of the calendar. From the pipeline's start to the interval that is open now by default. */
  readonly fromMs?: number;
  readonly untilMs?: number;
  /** Compares the rows in the table with those recorded; true by default. */
  readonly rows?: boolean;
  /** Looks at what happened to the inputs since; true by default. Reads the commits of the inputs since the oldest run. */
  readonly inputs?: boolean;
  readonly signal?: AbortSignal;
}

/** Calendar against ledger, from the table and the notes beside its log alone. Throws `NOT_A_TABLE`, `INVALID_INPUT` for bounds that are none. */
export async function coverage(job: Job, options: CoverageOptions = {}): Promise<Coverage> {
  return coverageOf(job, await stateOf(job), options);
}

/** The same of a state at hand. */
export async function coverageOf(job: Job, state: State, options: CoverageOptions = {}): Promise<Coverage> {
  const { definition, table } = job;
  const now = table.ctx.clock.now();
  const intervals = intervalsFor(job, now, options);
  const ledger = readLedger(state, definition.name);
  const wanted = new Map<string, LedgerEntry>();
  for (const interval of intervals) {
    const entry = ledger.get(spanKey(interval));
    if (entry) wanted.set(spanKey(interval), entry);
  }
  const facts = await loadFacts(table, definition.name, wanted);
  const isCounted = options.rows !== false && definition.mode !== 'upsert' && intervals.length > 0;
  const live = isCounted ? await liveRows(job, state, intervals, options.signal) : [];
  const elsewhere = coveredByOthers(ledger, intervals);
  const freshness = options.inputs === false ? undefined : judgeAll(job, facts);
  const forgotten = forgottenBefore(state, now);
  const entries: CoverageEntry[] = [];
  for (const [i, interval] of intervals.entries()) {
    const key = spanKey(interval);
    const [entry, run] = [wanted.get(key), facts.get(key)];
    const rows = run?.rows;
    const base = { interval, attempt: entry?.attempt ?? 0, rows, live: live[i], run };
    let name: IntervalState;
    if (interval.endMs > now) name = 'open';
    else if (!entry) {
      const isCovered = covers(elsewhere, interval.startMs) && difference([interval], elsewhere).length === 0;
      name = isCovered ? 'done' : interval.endMs <= forgotten ? 'unknown' : 'missing';
    } else if (run?.mode === 'undo') name = 'undone';
    else if (rows !== undefined && live[i] !== undefined && live[i] !== rows) name = 'changed';
    else {
      const fresh: Freshness = (run && (await freshness?.(run))) ?? 'fresh';
      name = fresh === 'fresh' ? (rows === 0 ? 'empty' : 'done') : fresh;
    }
    entries.push({ ...base, state: name });
  }
  return {
    pipeline: definition.name,
    url: table.url,
    version: state.version,
    entries,
    counts: counted(entries),
  };
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

/** What entries that are none of the calendar's intervals cover: those of an earlier calendar. */
function coveredByOthers(
  ledger: ReadonlyMap<string, LedgerEntry>,
  intervals: readonly Interval[],
): IntervalSet {
  const own = new Set(intervals.map(spanKey));
  const others: Span[] = [...ledger.values()].filter((entry) => !own.has(spanKey(entry)));
  return union(others);
}

function judgeAll(
  job: Job,
  facts: ReadonlyMap<string, CommittedNote>,
): (run: CommittedNote) => Promise<Freshness> {
  const oldest = new Map<string, number>();
  for (const { inputs } of facts.values())
    for (const { url, version } of inputs) oldest.set(url, Math.min(version, oldest.get(url) ?? version));
  const staleness = new Staleness(job.runtime);
  return ({ inputs }) => staleness.judge(inputs, (url) => oldest.get(url) ?? 0);
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
