import { type Aligned, placeOf } from './align.js';
import type { StatsSpan, StatsSpans } from './json-statistics.js';
import type { ColumnTokens, StatisticsSource } from './statistics.js';

/** No statistics at all. */
export const NO_SPANS: StatsSpans = { rows: 0, span: () => undefined };

/** The spans of a text column by add. */
export function spansOf(text: Aligned, rows: number): StatsSpans {
  const { values } = text.column;
  if (values.kind !== 'bytes' && values.kind !== 'codes') return NO_SPANS;
  const { slab, starts, lengths } = values.kind === 'codes' ? values.dictionary : values;
  const codes = values.kind === 'codes' ? values.codes : undefined;
  const found: StatsSpan = { bytes: slab, start: 0, end: 0 };
  return {
    rows,
    span(row) {
      const place = placeOf(text, row);
      if (place < 0) return undefined;
      const at = codes === undefined ? place : (codes[place] as number);
      found.start = starts[at] as number;
      found.end = found.start + (lengths[at] as number);
      return found;
    },
  };
}

/** JSON where a row has it, the struct elsewhere. */
export function mergedStatistics(
  text: Aligned | undefined,
  json: StatisticsSource,
  struct: StatisticsSource,
): StatisticsSource {
  const of = (row: number): StatisticsSource =>
    text !== undefined && placeOf(text, row) >= 0 ? json : struct;
  return {
    statsText: (row) => of(row).statsText(row),
    column(path) {
      const own = json.column(path);
      const other = struct.column(path);
      const choose = (row: number): ColumnTokens => (of(row) === json ? own : other);
      return {
        min: (row) => choose(row).min(row),
        max: (row) => choose(row).max(row),
        nullCount: (row) => choose(row).nullCount(row),
      };
    },
    numRecords: (row) => of(row).numRecords(row),
  };
}
