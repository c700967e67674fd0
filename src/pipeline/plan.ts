import { TableError } from '../errors.js';
import { parsePoint } from '../interval/argument.js';
import type { InstantLike } from '../interval/calendar.js';
import { millisecondsOf } from '../interval/calendar.js';
import type { Interval } from '../interval/interval.js';
import { type CoverageEntry, coverageOf, type IntervalState } from './coverage.js';
import { checkedState, type Job } from './job.js';

/** Which intervals a backfill runs. Airflow's words are taken too: `none` and `failed` are `missing`, `completed` is `all`. */
export type Reprocess = 'missing' | 'stale' | 'all' | 'none' | 'failed' | 'completed';
export const REPROCESS: readonly Reprocess[] = ['missing', 'stale', 'all', 'none', 'failed', 'completed'];

/** One interval to run. */
export interface PlanItem {
  readonly interval: Interval;
  /** The state that it was found in. */
  readonly why: IntervalState;
  /** Committed runs that the plan saw; the interval is skipped when there are others by the time it comes up. */
  readonly attempt: number;
  /** Rows in the table that the run would replace; undefined where they were not counted. */
  readonly replaces: number | undefined;
}

/** What a backfill or a catch-up will run, exactly and in this order. Plain data but for the intervals. */
export interface RunPlan {
  readonly pipeline: string;
  readonly url: string;
  /** The version that was looked at; -1 where the table is yet to be created. */
  readonly version: number;
  readonly items: readonly PlanItem[];
  /** Intervals of the range that are left alone, by their state. */
  readonly left: Readonly<Partial<Record<IntervalState, number>>>;
}

/** A bound of a range: an instant, or text as `--from` takes it. */
export type Bound = InstantLike | string;

/** This worker's part of the intervals: the worker's number from 0, and how many there are. */
export interface Shard {
  readonly index: number;
  readonly of: number;
}

export interface BackfillRange {
  /** Both are bounds of the calendar; `to` is not included. From the first to the last of `intervals` by default, else from the pipeline's start to now. */
  readonly from?: Bound;
  readonly to?: Bound;
  /** Runs only those of these intervals that lie in the range; they need not be neighbours. */
  readonly intervals?: readonly Interval[];
  readonly reprocess?: Reprocess;
  readonly order?: 'forwards' | 'backwards';
  readonly shard?: Shard;
  /** Takes the interval that has not ended as well. */
  readonly allowOpen?: boolean;
  readonly signal?: AbortSignal;
}

export interface CatchUpRange {
  /** Intervals that ended by then; now by default. */
  readonly until?: Bound;
  /** How many of the last intervals are run again; as the pipeline says by default. */
  readonly lookback?: number;
  readonly shard?: Shard;
  readonly signal?: AbortSignal;
}

/** Decides what a backfill runs. Writes nothing. Throws `INVALID_INPUT` for a range that is none, and what `checkedState` throws. */
export async function planBackfill(job: Job, range: BackfillRange = {}): Promise<RunPlan> {
  const { calendar } = job.definition;
  const reprocess = reprocessOf(range.reprocess ?? 'missing');
  const state = await checkedState(job);
  const now = job.table.ctx.clock.now();
  const found = await coverageOf(job, state, {
    ...spanOf(range.intervals ?? []),
    ...(range.from === undefined ? {} : { fromMs: calendar.bound(boundOf(job, range.from)) }),
    ...(range.to === undefined ? {} : { untilMs: calendar.bound(boundOf(job, range.to)) }),
    inputs: reprocess === 'stale',
    signal: range.signal,
  });
  const listed = range.intervals && new Set(range.intervals.map(({ startMs }) => startMs));
  const isWanted = (entry: CoverageEntry): boolean => {
    if (listed && !listed.has(entry.interval.startMs)) return false;
    if (entry.interval.endMs > now)
      return range.allowOpen === true && (entry.attempt === 0 || reprocess === 'all');
    if (reprocess === 'all') return job.definition.mode !== 'append-once' || entry.attempt === 0;
    return isMissing(entry) || (reprocess === 'stale' && entry.state === 'stale');
  };
  return planOf(job, found, isWanted, range);
}

/** Decides what a catch-up runs: what is missing, and the last intervals again where the pipeline looks back. Writes nothing. Errors as `planBackfill`. */
export async function planCatchUp(job: Job, range: CatchUpRange = {}): Promise<RunPlan> {
  const { definition } = job;
  const { calendar, cadence, startMs } = definition;
  const state = await checkedState(job);
  const now = job.table.ctx.clock.now();
  const asked = Math.min(now, range.until === undefined ? now : boundOf(job, range.until));
  const due = cadence ? (cadence.lastDue(asked) ?? startMs) : asked;
  const untilMs = Math.max(startMs, calendar.nearest(Math.max(due, startMs)).before);
  const found = await coverageOf(job, state, { untilMs, inputs: false, signal: range.signal });
  const lookback = range.lookback ?? definition.lookback;
  const again = new Set(found.entries.slice(Math.max(0, found.entries.length - lookback)));
  const isAgain = (entry: CoverageEntry): boolean =>
    lookback > 0 && again.has(entry) && entry.state !== 'undone' && definition.mode !== 'append-once';
  return planOf(job, found, (entry) => isMissing(entry) || isAgain(entry), range);
}

/** From the first to the last of the intervals. */
function spanOf(intervals: readonly Interval[]): { readonly fromMs?: number; readonly untilMs?: number } {
  if (intervals.length === 0) return {};
  let [fromMs, untilMs] = [Infinity, -Infinity];
  for (const { startMs, endMs } of intervals) {
    fromMs = Math.min(fromMs, startMs);
    untilMs = Math.max(untilMs, endMs);
  }
  return { fromMs, untilMs };
}

/** Missing, or with fewer rows than were written: then some were lost. */
function isMissing({ state, rows, live }: CoverageEntry): boolean {
  return (
    state === 'missing' || (state === 'changed' && rows !== undefined && live !== undefined && live < rows)
  );
}

function planOf(
  job: Job,
  { entries, version }: { readonly entries: readonly CoverageEntry[]; readonly version: number },
  isWanted: (entry: CoverageEntry) => boolean,
  { shard, order }: Pick<BackfillRange, 'shard' | 'order'>,
): RunPlan {
  assertShard(shard);
  const items: PlanItem[] = [];
  const left: Partial<Record<IntervalState, number>> = {};
  for (const [position, entry] of entries.entries()) {
    const { interval, state, attempt, live } = entry;
    // By the place in the range and not in the plan: what other workers get done must not move it.
    const isOurs = !shard || position % shard.of === shard.index;
    if (isOurs && isWanted(entry)) {
      items.push({ interval, why: state, attempt, replaces: live });
    } else left[state] = (left[state] ?? 0) + 1;
  }
  if (order === 'backwards') items.reverse();
  return { pipeline: job.definition.name, url: job.table.url, version, items, left };
}

/** Milliseconds of a bound of a range. Throws `INVALID_INPUT` for text that is none. */
export function boundOf(job: Job, bound: Bound): number {
  return typeof bound === 'string' ? parsePoint(job.definition.calendar, bound).ms : millisecondsOf(bound);
}

function reprocessOf(given: Reprocess): 'missing' | 'stale' | 'all' {
  if (!REPROCESS.includes(given))
    throw new TableError('INVALID_INPUT', `reprocess is one of ${REPROCESS.join(', ')}, not ${given}.`, {
      given,
    });
  if (given === 'completed') return 'all';
  return given === 'none' || given === 'failed' ? 'missing' : given;
}

function assertShard(shard: Shard | undefined): void {
  if (!shard) return;
  const { index, of } = shard;
  if (Number.isInteger(index) && Number.isInteger(of) && index >= 0 && index < of) return;
  throw new TableError(
    'INVALID_INPUT',
    `A shard is a worker's number from 0 and how many there are, not ${index} of ${of}.`,
    {
      index,
      of,
    },
  );
}
