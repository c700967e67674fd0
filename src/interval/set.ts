import type { Span } from './calendar.js';

/** Spans of time in order, none touching another. Milliseconds since the Unix epoch; half-open. */
export type IntervalSet = readonly Span[];

/** Everything that lies in any of the spans, which may be in any order and overlap. Spans of no length are nothing. */
export function union(...sets: readonly (readonly Span[])[]): IntervalSet {
  const sorted = sets
    .flat()
    .filter(({ startMs, endMs }) => startMs < endMs)
    .sort((a, b) => a.startMs - b.startMs);
  const merged: { startMs: number; endMs: number }[] = [];
  for (const { startMs, endMs } of sorted) {
    const last = merged.at(-1);
    if (last && startMs <= last.endMs) last.endMs = Math.max(last.endMs, endMs);
    else merged.push({ startMs, endMs });
  }
  return merged;
}

/** What lies in `from` and in none of `without`. */
export function difference(from: readonly Span[], without: readonly Span[]): IntervalSet {
  const holes = union(without);
  const left: Span[] = [];
  let next = 0;
  for (const { startMs, endMs } of union(from)) {
    let at = startMs;
    while (next < holes.length && holes[next]!.endMs <= startMs) next++;
    for (let i = next; i < holes.length && holes[i]!.startMs < endMs; i++) {
      if (holes[i]!.startMs > at) left.push({ startMs: at, endMs: holes[i]!.startMs });
      at = Math.max(at, holes[i]!.endMs);
    }
    if (at < endMs) left.push({ startMs: at, endMs });
  }
  return left;
}

/** What lies in both. */
export function intersection(a: readonly Span[], b: readonly Span[]): IntervalSet {
  return difference(a, difference(a, b));
}

/** What of a range the spans leave out. */
export function gaps(range: Span, spans: readonly Span[]): IntervalSet {
  return difference([range], spans);
}

/** True when the instant lies in one of the spans. */
export function covers(set: IntervalSet, ms: number): boolean {
  let low = 0;
  let high = set.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (set[middle]!.endMs <= ms) low = middle + 1;
    else high = middle;
  }
  return low < set.length && set[low]!.startMs <= ms;
}
