import type { Interval } from '../interval/interval.js';
import { and } from '../scan/predicate.js';
import { Scan } from '../scan/scan.js';
import type { Datum } from '../schema/types.js';
import { parsed } from '../write/condition.js';
import type { Where } from '../write/verb.js';
import { coverageOf, type IntervalState } from './coverage.js';
import type { CommittedNote } from './facts.js';
import { type Job, stateOf } from './job.js';
import { positions } from './live.js';
import { bindTarget } from './target.js';

/** Rows that were asked about, and the run that the table says wrote them. */
export interface Blame {
  /** Undefined for rows that lie in none of the pipeline's intervals. */
  readonly interval: Interval | undefined;
  /** Rows of it for which the predicate is TRUE. */
  readonly rows: number;
  /** The last run of the interval; undefined where there was none or its facts are lost. */
  readonly run: CommittedNote | undefined;
  /** `changed` says that others have added or removed rows of the interval since. */
  readonly state: IntervalState | undefined;
}

/** Which run wrote these rows: since a run replaces its whole interval, it is the last one of the interval that a row lies in. Reads the matching rows. */
export async function blameRows(
  job: Job,
  where: Where,
  options: { readonly signal?: AbortSignal } = {},
): Promise<Blame[]> {
  const { definition, table } = job;
  const state = await stateOf(job);
  const target = bindTarget(definition, state);
  const { entries } = await coverageOf(job, state, { inputs: false, signal: options.signal });
  const positionOf = positions(
    target,
    entries.map(({ interval }) => interval),
  );
  const scope = definition.scope === undefined ? [] : [parsed(definition.scope)];
  const scan = new Scan(table, async () => state, {
    columns: [target.field.name],
    where: and(parsed(where), ...scope),
    timestamp: 'micros',
    signal: options.signal,
  });
  const counts = new Map<number, number>();
  for await (const row of scan) {
    const value = row[target.field.name] as Datum;
    const position = value === null ? -1 : positionOf(value);
    counts.set(position, (counts.get(position) ?? 0) + 1);
  }
  return [...counts]
    .sort(([a], [b]) => a - b)
    .map(([position, rows]) => {
      const entry = entries[position];
      return { interval: entry?.interval, rows, run: entry?.run, state: entry?.state };
    });
}
