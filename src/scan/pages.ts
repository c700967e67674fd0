import { leavesOfAll } from '../parquet/column/read-tree.js';
import type { PageIndexes } from '../parquet/footer-cache.js';
import { indexRanges, type PagePlaces, parsePageIndex } from '../parquet/page-index.js';
import { bytesOfChunks, lengthOfRuns, wantedChunks } from '../parquet/selection.js';
import { type ByteRange, SMALL_FILE } from '../parquet/source.js';
import type { BoundColumn, BoundPredicate } from './bind.js';
import { deadRows } from './file-rows.js';
import { type OpenFile, type RowGroup, runsOf } from './open-file.js';
import type { ScanPlan } from './plan.js';
import { pruneRows } from './prune-parquet.js';
import { constantOf, leafOf } from './row-groups.js';

/** Rows are left out only where they are a part of their row group worth a thought. */
const MOST_KEPT = 0.9;

/** Rows of the first piece of a row group that is read in pieces, and how much larger each is than the one before. */
const FIRST_PIECE = 4096;
const PIECE_GROWTH = 4;

/**
 * The row groups of a file with the rows that may be wanted: by the bounds of pages, and by a limit where every row is wanted;
 * with a limit on those that pass a predicate, a large row group that is the first of all comes in pieces. Page indexes are read where
 * they are at hand or the row group is so large that one more request costs less than its bytes; without them all rows stay.
 */
export async function selectRows(
  plan: ScanPlan,
  open: OpenFile,
  where: BoundPredicate | undefined,
  groups: readonly RowGroup[],
): Promise<RowGroup[]> {
  const leaves = leavesOfAll(open.nodes);
  if (where === undefined) {
    return plan.limit === undefined ? [...groups] : firstRows(open, leaves, groups, plan.limit);
  }
  const judged = new Set<number>();
  for (const column of where.columns) {
    const leaf = leafOf(plan, open, column);
    if (leaf !== undefined && leaf.maxRepetition === 0) judged.add(leaf.index);
  }
  const indexed = groups.filter((group) => isWorth(open, group, leaves, judged));
  await readIndexes(open, indexed, leaves, judged);
  return groups.flatMap((group) => {
    if (!indexed.includes(group)) return [group];
    const runs = judged.size === 0 ? runsOf(group) : runsByPages(plan, open, where, group);
    const rows = lengthOfRuns(runs);
    if (rows === 0) return [];
    // What the first row group does not have is not found soon: the others are read at once.
    const isFirst = group === groups[0] && open.file === plan.files[0];
    const isLimited = plan.limit !== undefined && isFirst && isLarge(open, group, leaves);
    if (rows > group.rows * MOST_KEPT && !isLimited) return [group];
    const places = placesOf(open.indexes, group, leaves);
    const parts = isLimited ? inPieces(runs, plan.limit) : [runs];
    return parts.map((part) => ({ ...group, rows: lengthOfRuns(part), selection: { runs: part, places } }));
  });
}

/** Runs in pieces, each several times as large as the one before: who wants few rows may find them in the first. */
function inPieces(runs: Int32Array, limit: number): Int32Array[] {
  const pieces: Int32Array[] = [];
  let piece: number[] = [];
  let most = Math.max(FIRST_PIECE, limit * PIECE_GROWTH);
  let left = most;
  for (let i = 0; i < runs.length; i += 2) {
    for (let from = runs[i]!; from < runs[i + 1]!; ) {
      const to = Math.min(runs[i + 1]!, from + left);
      piece.push(from, to);
      left -= to - from;
      from = to;
      if (left > 0) continue;
      pieces.push(Int32Array.from(piece));
      piece = [];
      most *= PIECE_GROWTH;
      left = most;
    }
  }
  if (piece.length > 0) pieces.push(Int32Array.from(piece));
  return pieces;
}

/** The row groups as far as they are needed for so many rows, none of which is filtered. */
async function firstRows(
  open: OpenFile,
  leaves: ReadonlySet<number>,
  groups: readonly RowGroup[],
  limit: number,
): Promise<RowGroup[]> {
  const taken: RowGroup[] = [];
  let left = limit;
  for (const group of groups) {
    if (left === 0) break;
    const dead = deadRows(open, group);
    let rows = 0;
    for (; rows < group.rows && left > 0; rows++) if (dead?.[rows] !== 1) left--;
    if (rows > group.rows * MOST_KEPT || !isWorth(open, group, leaves, new Set())) {
      taken.push(group);
      continue;
    }
    await readIndexes(open, [group], leaves, new Set());
    const runs = Int32Array.of(0, rows);
    taken.push({ ...group, rows, selection: { runs, places: placesOf(open.indexes, group, leaves) } });
  }
  return taken;
}

function runsByPages(plan: ScanPlan, open: OpenFile, where: BoundPredicate, group: RowGroup): Int32Array {
  const pagesOf = (column: BoundColumn) => {
    const leaf = leafOf(plan, open, column);
    const index = leaf && open.indexes.get(group.index, leaf.index);
    if (leaf === undefined || index?.bounds === undefined) return undefined;
    return { leaf, firstRows: index.places.firstRows, statistics: index.bounds };
  };
  const kept = pruneRows(where, group.rows, pagesOf, (column) => constantOf(plan, open, column));
  return Int32Array.from(kept.flatMap(({ start, end }) => [start, end]));
}

/** Whether the indexes of a row group are at hand, or worth one more request. */
function isWorth(
  open: OpenFile,
  group: RowGroup,
  leaves: ReadonlySet<number>,
  judged: ReadonlySet<number>,
): boolean {
  const missing = missingIndexes(open, [group], leaves, judged).flatMap(({ ranges }) => ranges);
  if (missing.every(({ start, end }) => open.source.holds(start, end))) return true;
  return isLarge(open, group, leaves);
}

function isLarge(open: OpenFile, group: RowGroup, leaves: ReadonlySet<number>): boolean {
  return bytesOfChunks(wantedChunks(open.footer, group.index, leaves, undefined)) >= SMALL_FILE;
}

interface MissingIndex {
  readonly rowGroup: number;
  readonly leaf: number;
  /** Where its bytes are; nowhere for a chunk without an index. */
  readonly ranges: readonly ByteRange[];
}

function missingIndexes(
  { footer, indexes }: OpenFile,
  groups: readonly RowGroup[],
  leaves: ReadonlySet<number>,
  judged: ReadonlySet<number>,
): MissingIndex[] {
  return groups.flatMap(({ index: rowGroup }) =>
    [...leaves]
      .filter((leaf) => !indexes.has(rowGroup, leaf, judged.has(leaf)))
      .map((leaf) => {
        const ranges = indexRanges(footer.rowGroups[rowGroup]!.chunks[leaf]!, judged.has(leaf));
        return { rowGroup, leaf, ranges };
      }),
  );
}

/** Reads what is not known of the indexes, all in one go: they lie together behind the last row group. */
async function readIndexes(
  open: OpenFile,
  groups: readonly RowGroup[],
  leaves: ReadonlySet<number>,
  judged: ReadonlySet<number>,
): Promise<void> {
  const missing = missingIndexes(open, groups, leaves, judged);
  const read = await open.source.readAll(missing.flatMap(({ ranges }) => ranges));
  let next = 0;
  for (const { rowGroup, leaf, ranges } of missing) {
    // Copies: what was read stands in larger memory, and is kept for longer than that.
    const [places, bounds] = read.slice(next, next + ranges.length).map((bytes) => bytes.slice());
    next += ranges.length;
    const parsed = places && parsePageIndex(open.footer, rowGroup, leaf, places, bounds);
    const known = { index: parsed, withBounds: judged.has(leaf) };
    open.indexes.set(rowGroup, leaf, known, (places?.length ?? 0) + (bounds?.length ?? 0));
  }
}

/** The places of the pages of leaves, as far as they are known. */
export function placesOf(
  indexes: PageIndexes,
  { index }: RowGroup,
  leaves: ReadonlySet<number>,
): ReadonlyMap<number, PagePlaces> {
  const places = new Map<number, PagePlaces>();
  for (const leaf of leaves) {
    const known = indexes.get(index, leaf);
    if (known !== undefined) places.set(leaf, known.places);
  }
  return places;
}
