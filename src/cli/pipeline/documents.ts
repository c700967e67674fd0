import type { Interval } from '../../interval/interval.js';
import type { BackfillReport, IntervalOutcome } from '../../pipeline/backfill.js';
import type { RunPlan } from '../../pipeline/plan.js';
import type { RunResult } from '../../pipeline/run.js';

/** An interval as documents have it: its label and instants as text. */
export interface IntervalDocument {
  readonly label: string;
  readonly start: string;
  readonly end: string;
}

export function intervalDocument(interval: Interval): IntervalDocument {
  return interval.toJSON();
}

/** The table and the version of it that was looked at. */
export function versionText({ url, version }: { readonly url: string; readonly version: number }): string {
  return version < 0 ? `${url}, which the first run creates` : `${url} at version ${version}`;
}

/** What `run` and `undo` tell (spec/schema/run.json). */
export function runDocument(url: string, { interval, removed, ...result }: RunResult) {
  return { url, ...result, digest: result.digest ?? null, interval: intervalDocument(interval), removed };
}

/** What `backfill` and `catchup` are going to run (spec/schema/backfill.json). */
export function planDocument({ items, ...plan }: RunPlan) {
  return {
    ...plan,
    items: items.map(({ interval, why, attempt, replaces }) => ({
      interval: intervalDocument(interval),
      why,
      attempt,
      replaces: replaces ?? null,
    })),
  };
}

/** What became of it. */
export function reportDocument({ outcomes, ...report }: BackfillReport) {
  return { ...report, outcomes: outcomes.map(outcomeDocument) };
}

function outcomeDocument({ interval, version, rows, error, ...outcome }: IntervalOutcome) {
  return {
    ...outcome,
    interval: intervalDocument(interval),
    version: version ?? null,
    rows: rows ?? null,
    error: error ?? null,
  };
}
