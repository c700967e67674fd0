import { Schema } from 'apache-arrow';
import { toRecordBatch } from '../parquet/arrow-data.js';
import { leavesOfAll, type ReadNode } from '../parquet/column/read-tree.js';
import { decodeInPart } from '../parquet/quick.js';
import { fetchRowGroup } from '../parquet/read.js';
import { bytesOfChunks, lengthOfRuns, type RowSelection, wantedChunks } from '../parquet/selection.js';
import { type RangeReader, SMALL_FILE } from '../parquet/source.js';
import { toArrowField } from '../schema/arrow.js';
import type { BoundPredicate } from './bind.js';
import { boundOf, columnOf, deadRows, filterOf, type RowFilter } from './file-rows.js';
import { type OpenFile, type RowGroup, runsOf } from './open-file.js';
import { placesOf } from './pages.js';
import type { ScanPlan } from './plan.js';

/** A plan ready to be read, and what has been learned while reading. */
export interface Reading {
  readonly plan: ScanPlan;
  readonly where: BoundPredicate | undefined;
  readonly filter: RowFilter | undefined;
  readonly late: LateRecord;
}

/** What looking at the columns of the predicate first has done so far, in bytes of the other columns. */
export interface LateRecord {
  tried: number;
  saved: number;
}

/** Makes a plan ready to be read. */
export function readingOf(plan: ScanPlan, late: LateRecord = { tried: 0, saved: 0 }): Reading {
  const where = boundOf(plan);
  return { plan, where, filter: plan.isLax ? undefined : filterOf(where), late };
}

/** Bytes at hand are worth it sooner, as it only costs decoding, and so are those of a scan with a limit, which needs few of them. */
const LEAST = 256 << 10;
/** The part of the other columns' bytes that has to be saved for it to be done again. */
const LEAST_SAVED = 0.25;
/** Bytes of other columns before that is judged. */
const TRIAL = 4 << 20;

/** The predicate's columns of a file, and the leaves that only the other columns have. */
interface Division {
  readonly isFirst: readonly boolean[];
  readonly nodes: readonly ReadNode[];
  readonly first: ReadonlySet<number>;
  readonly later: ReadonlySet<number>;
}

function divide({ plan, where }: Reading, open: OpenFile): Division {
  const names = new Set(where?.columns.map(({ path }) => path[0]!));
  const isFirst = plan.columns.map(({ field }) => names.has(field.name));
  const nodes = open.nodes.filter((node, i) => node !== undefined && isFirst[i]) as ReadNode[];
  const first = leavesOfAll(nodes);
  const others = leavesOfAll(open.nodes.filter((_, i) => !isFirst[i]));
  const later = new Set([...others].filter((leaf) => !first.has(leaf)));
  return { isFirst, nodes, first, later };
}

/**
 * Whether the columns of the predicate are to be looked at before others of a row group are fetched: those are the larger part, more than one more request
 * costs, and it has not proved useless in this scan.
 */
export function isLate(reading: Reading, open: OpenFile, group: RowGroup): boolean {
  const { filter, late, plan } = reading;
  const isUseless = late.tried >= TRIAL && late.saved < late.tried * LEAST_SAVED;
  if (filter === undefined || isUseless) return false;
  const { first, later, nodes } = divide(reading, open);
  if (nodes.length === 0) return false;
  const bytesOf = (leaves: ReadonlySet<number>) =>
    bytesOfChunks(wantedChunks(open.footer, group.index, leaves, group.selection));
  const bytes = bytesOf(later);
  const isCheap = open.source.isWhole || plan.limit !== undefined;
  return bytes >= (isCheap ? LEAST : SMALL_FILE) && bytes >= bytesOf(first);
}

/**
 * Looks at the columns of the predicate first: gives the row group with the rows that pass it alone, undefined where none does, or as it was where that
 * leaves out too little of the other columns. What was fetched is kept by `source`. Throws `FlatFault`, and what reading throws.
 */
export async function lookFirst(
  reading: Reading,
  open: OpenFile,
  group: RowGroup,
  source: RangeReader,
): Promise<RowGroup | undefined> {
  const { plan, filter, late } = reading;
  const { isFirst, nodes, later } = divide(reading, open);
  const task = await fetchRowGroup(source, open.footer, group.index, nodes, group.selection);
  // What is lent is only looked at here.
  const decoded = decodeInPart(task).columns;
  const planned = plan.columns.filter((_, i) => isFirst[i]);
  let next = 0;
  const columns = plan.columns.flatMap((column, i) => {
    if (!isFirst[i]) return [];
    return [columnOf(plan, open, group, column, open.nodes[i] && decoded[next++])];
  });
  const schema = new Schema(planned.map(({ field }) => toArrowField(field)));
  const passing = filter!(toRecordBatch(schema, columns, group.rows));
  const dead = deadRows(open, group);
  const runs = passingRuns(group, dead ? passing.filter((row) => dead[row] === 0) : passing, plan.limit);
  const places = group.selection?.places ?? placesOf(open.indexes, group, leavesOfAll(open.nodes));
  const selection: RowSelection = { runs: Int32Array.from(runs), places };
  const bytesOf = (wanted: RowSelection | undefined) =>
    bytesOfChunks(wantedChunks(open.footer, group.index, later, wanted));
  const before = bytesOf(group.selection);
  const saved = before - (runs.length === 0 ? 0 : bytesOf(selection));
  late.tried += before;
  late.saved += saved;
  if (runs.length === 0) return undefined;
  if (saved < before * LEAST_SAVED) return group;
  return { ...group, rows: lengthOfRuns(selection.runs), selection };
}

/** Rows of a row group, given by their place among those wanted, as runs within it; the first `limit` alone. */
function passingRuns(
  group: RowGroup,
  passing: Int32Array | Uint32Array,
  limit = Number.POSITIVE_INFINITY,
): number[] {
  const wanted = runsOf(group);
  const runs: number[] = [];
  let run = 0;
  let before = 0;
  for (let i = 0; i < passing.length && i < limit; i++) {
    const place = passing[i]!;
    while (place - before >= wanted[run + 1]! - wanted[run]!) {
      before += wanted[run + 1]! - wanted[run]!;
      run += 2;
    }
    const row = wanted[run]! + place - before;
    if (runs.length > 0 && runs.at(-1) === row) runs[runs.length - 1] = row + 1;
    else runs.push(row, row + 1);
  }
  return runs;
}
