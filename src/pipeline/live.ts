import type { Interval } from '../interval/interval.js';
import { bindPredicate } from '../scan/bind.js';
import { countRows } from '../scan/count.js';
import { classifyFiles } from '../scan/prune.js';
import { columnMappingMode, physicalName } from '../schema/mapping.js';
import { parsePartitionValue } from '../schema/partition-value.js';
import { datumFromJsonToken } from '../schema/statistic-value.js';
import type { Datum } from '../schema/types.js';
import type { State } from '../snapshot/state.js';
import { parsed } from '../write/condition.js';
import type { Job } from './job.js';
import { bindTarget, type Target } from './target.js';

/** So many intervals are counted by reading, where the log alone does not tell; the rest is not known. */
const MOST_COUNTED = 200;

/** Which intervals a file can have rows of, by their positions, and whether all of its rows are in the one. Undefined where nothing says; empty for none. */
type Place = { readonly from: number; readonly to: number; readonly isWhole: boolean } | undefined;
const NOWHERE: Place = { from: 0, to: -1, isWhole: false };

/**
 * The rows that are in the table now for each of the intervals, which are in order. From the log alone where every file lies within one interval; what files
 * that straddle hold is counted by reading, for a bounded number of intervals, and undefined for the others.
 */
export async function liveRows(
  job: Job,
  state: State,
  intervals: readonly Interval[],
  signal?: AbortSignal,
): Promise<(number | undefined)[]> {
  const counts: number[] = intervals.map(() => 0);
  const unsure = new Set<number>();
  const { files } = state;
  await files.load({ statistics: true, actions: true }, { signal });
  const scope = await scopeOf(job, state, signal);
  const target = bindTarget(job.definition, state);
  const placeOf = filePlaces(state, target, intervals);
  for (const id of files.ids()) {
    if (scope.none.has(id)) continue;
    const place = placeOf(id);
    const rows = files.numRecords(id);
    if (place?.isWhole && rows !== undefined && !scope.some.has(id)) {
      counts[place.from]! +=
        rows - (files.hasDeletionVector(id) ? (files.add(id).deletionVector?.cardinality ?? 0) : 0);
      continue;
    }
    const { from, to } = place ?? { from: 0, to: intervals.length - 1 };
    for (let i = from; i <= to && unsure.size <= MOST_COUNTED; i++) unsure.add(i);
    if (unsure.size > MOST_COUNTED) return intervals.map(() => undefined);
  }
  const result: (number | undefined)[] = counts;
  for (const i of unsure) {
    const where = target.predicate(intervals[i]!);
    result[i] = await countRows(job.table.store, job.table.ctx, state, {
      where,
      signal,
      pool: job.table.pool,
    });
  }
  return result;
}

async function scopeOf(
  { definition }: Job,
  state: State,
  signal: AbortSignal | undefined,
): Promise<{ readonly none: ReadonlySet<number>; readonly some: ReadonlySet<number> }> {
  if (definition.scope === undefined) return { none: new Set(), some: new Set() };
  const bound = bindPredicate(parsed(definition.scope), state.schema);
  const { none, some } = await classifyFiles(state, bound, { signal });
  return { none: new Set(none), some: new Set(some) };
}

function filePlaces(state: State, target: Target, intervals: readonly Interval[]): (id: number) => Place {
  const { field } = target;
  const physical = physicalName(field, columnMappingMode(state.metadata, state.protocol));
  const bounds = boundsOf(target, intervals);
  const indexOf = positions(target, intervals, bounds);
  const partition = state.files.partition(physical);
  if (partition) {
    const places = partition.values.map((raw) => {
      const index = indexOf(parsePartitionValue(field.dataType, raw));
      return index < 0 ? NOWHERE : { from: index, to: index, isWhole: true };
    });
    return (id) => places[partition.codes[id] ?? -1];
  }
  const statistics = state.files.statistics([physical]);
  return (id) => {
    const [least, greatest] = [statistics.min(id), statistics.max(id)];
    if (least === undefined || greatest === undefined || statistics.nullCount(id) !== 0) return undefined;
    const min = datumFromJsonToken(field.dataType, least, 'min');
    const max = datumFromJsonToken(field.dataType, greatest, 'max');
    if (min === undefined || max === undefined) return undefined;
    if (!bounds) {
      const [from, to] = [indexOf(min), indexOf(max)];
      return from >= 0 && from === to ? { from, to, isWhole: true } : undefined;
    }
    const [low, high] = [target.placeOf(min)!, target.placeOf(max)!];
    const from = positionOf(bounds, low);
    return from >= 0 && high < bounds.ends[from]!
      ? { from, to: from, isWhole: true }
      : touched(bounds, low, high);
  };
}

/** The position of the interval that a value lies in; -1 for none. */
export function positions(
  target: Target,
  intervals: readonly Interval[],
  bounds: Bounds | undefined = boundsOf(target, intervals),
): (value: Datum) => number {
  if (!bounds) {
    const byLabel = new Map(intervals.map(({ label }, i) => [label, i]));
    return (value) => byLabel.get(value as string) ?? -1;
  }
  return (value) => {
    const place = target.placeOf(value);
    return place === undefined ? -1 : positionOf(bounds, place);
  };
}

/** Where intervals start and end on the line of places, in order; undefined where the column holds labels. */
interface Bounds {
  readonly starts: Float64Array;
  readonly ends: Float64Array;
}

function boundsOf(target: Target, intervals: readonly Interval[]): Bounds | undefined {
  const starts = new Float64Array(intervals.length);
  const ends = new Float64Array(intervals.length);
  for (const [i, interval] of intervals.entries()) {
    const start = target.placeOfStart(interval);
    if (start === undefined) return undefined;
    starts[i] = start;
    ends[i] = target.placeOfEnd(interval)!;
  }
  return { starts, ends };
}

function positionOf({ starts, ends }: Bounds, place: number): number {
  const index = countUpTo(starts, place) - 1;
  return index >= 0 && place < ends[index]! ? index : -1;
}

/** The intervals that a range of places touches. */
function touched({ starts, ends }: Bounds, low: number, high: number): Place {
  const [from, to] = [countUpTo(ends, low), countUpTo(starts, high) - 1];
  return to < from ? NOWHERE : { from, to, isWhole: false };
}

/** How many of the values, which rise, are not above the given one. */
function countUpTo(sorted: Float64Array, value: number): number {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (sorted[middle]! <= value) low = middle + 1;
    else high = middle;
  }
  return low;
}
