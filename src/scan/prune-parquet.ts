import type { Footer, Leaf, RawStatistics } from '../parquet/flat/footer.js';
import type { Datum } from '../schema/types.js';
import type { BoundColumn, BoundPredicate } from './bind-tree.js';
import { boundsOf, type ColumnBounds } from './prune-bounds.js';
import { decodeBound } from './prune-parquet-values.js';
import { type Knowledge, mayBeTrue } from './prune-sets.js';

/** A leaf with statistics by unit: row group or page. */
export interface ColumnStatistics {
  readonly leaf: Leaf;
  readonly statistics: (unit: number) => RawStatistics | undefined;
}

/** Where the columns of a predicate are in a data file. */
export interface FileColumns {
  /** The leaf of a column; undefined for one that the file lacks or that is no leaf. */
  readonly leaf: (column: BoundColumn) => Leaf | undefined;
  /** The value of a column that is one in the whole file: a partition value, NULL for a column that the file lacks; else undefined. */
  readonly constant: (column: BoundColumn) => Datum | undefined;
}

/** The row groups, ascending, that may hold a row for which the predicate is TRUE. INT96, unsigned and unordered statistics say nothing. */
export function pruneRowGroups(
  bound: BoundPredicate,
  footer: Pick<Footer, 'rowGroups'>,
  columns: FileColumns,
): Int32Array {
  const units = Int32Array.from(footer.rowGroups, (_, i) => i);
  const column = (each: BoundColumn): ColumnStatistics | undefined => {
    const leaf = columns.leaf(each);
    return leaf && { leaf, statistics: (group) => footer.rowGroups[group]?.chunks[leaf.index]?.statistics };
  };
  return mayBeTrue(
    bound.root,
    units,
    knowledge(footer.rowGroups.length, columns.constant, column, (group) => footer.rowGroups[group]?.rows),
  );
}

/** The pages of a leaf in a row group, by its column and offset index. */
export interface PageStatistics extends ColumnStatistics {
  /** The first row of each page within the row group, ascending from 0. */
  readonly firstRows: ArrayLike<number>;
}

/** Rows from `start` to before `end`. */
export interface RowRange {
  readonly start: number;
  readonly end: number;
}

/**
 * The rows of a row group that may satisfy a predicate, by the statistics of pages. Pages of different columns begin at different rows; between any two
 * beginnings each column is in one page, and these stretches are judged.
 */
export function pruneRows(
  bound: BoundPredicate,
  rows: number,
  pagesOf: (column: BoundColumn) => PageStatistics | undefined,
  constant: FileColumns['constant'],
): RowRange[] {
  const pages = new Map(bound.columns.map((column) => [column.key, pagesOf(column)]));
  const starts = new Set([0]);
  for (const each of pages.values()) for (const first of Array.from(each?.firstRows ?? [])) starts.add(first);
  const begins = [...starts].filter((row) => row < rows).sort((a, b) => a - b);
  const rowsOf = (stretch: number): number => (begins[stretch + 1] ?? rows) - begins[stretch]!;
  const column = (each: BoundColumn): ColumnStatistics | undefined => {
    const found = pages.get(each.key);
    if (found === undefined) return undefined;
    const { leaf, firstRows } = found;
    const pageOf = pagesAt(begins, firstRows);
    const statistics = (stretch: number): RawStatistics | undefined => {
      const page = pageOf[stretch]!;
      const raw = found.statistics(page);
      // The NULLs of a page are not those of a stretch of it, but none and all are.
      const isAll = raw?.nullCount === (firstRows[page + 1] ?? rows) - firstRows[page]!;
      const nullCount = isAll ? rowsOf(stretch) : raw?.nullCount === 0 ? 0 : undefined;
      return raw && { ...raw, nullCount };
    };
    return { leaf, statistics };
  };
  const known = knowledge(begins.length, constant, column, rowsOf);
  const kept = mayBeTrue(
    bound.root,
    Int32Array.from(begins, (_, i) => i),
    known,
  );
  return joined(Array.from(kept, (i) => ({ start: begins[i]!, end: begins[i + 1] ?? rows })));
}

/** The page that each stretch lies in. */
function pagesAt(begins: readonly number[], firstRows: ArrayLike<number>): Int32Array {
  let page = 0;
  return Int32Array.from(begins, (row) => {
    while (page + 1 < firstRows.length && firstRows[page + 1]! <= row) page++;
    return page;
  });
}

function joined(ranges: readonly RowRange[]): RowRange[] {
  const result: RowRange[] = [];
  for (const range of ranges) {
    const last = result.at(-1);
    if (last !== undefined && last.end === range.start)
      result[result.length - 1] = { start: last.start, end: range.end };
    else result.push(range);
  }
  return result;
}

function knowledge(
  units: number,
  constant: FileColumns['constant'],
  column: (column: BoundColumn) => ColumnStatistics | undefined,
  rows: (unit: number) => number | undefined,
): Knowledge {
  return {
    constant: (each) => {
      const value = constant(each);
      return value === undefined ? undefined : { codes: new Int32Array(units), values: [value] };
    },
    bounds: (each) => {
      const found = column(each);
      return found === undefined ? undefined : chunkBounds(each, found);
    },
    rows,
  };
}

function chunkBounds(column: BoundColumn, { leaf, statistics }: ColumnStatistics): ColumnBounds | undefined {
  // Below lists and maps there are more values than rows.
  if (leaf.maxRepetition > 0) return undefined;
  const read = (bound: 'min' | 'max') => (unit: number) => {
    const raw = statistics(unit);
    const bytes = raw?.[bound];
    return bytes === undefined
      ? undefined
      : decodeBound(column.type, leaf, bytes, bound, raw!.legacy === true);
  };
  return boundsOf(column.type, read('min'), read('max'), (unit) => statistics(unit)?.nullCount);
}
