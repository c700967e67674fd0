import { leavesOfAll } from '../parquet/column/read-tree.js';
import { type DecodeTask, dataFileError, fetchRowGroup } from '../parquet/read.js';
import { bytesOfChunks, wantedChunks } from '../parquet/selection.js';
import { rememberingReader, SMALL_FILE } from '../parquet/source.js';
import type { Context } from '../runtime/context.js';
import { isLate, lookFirst, type Reading } from './late.js';
import type { Locator } from './location.js';
import { type OpenFile, openFile, type RowGroup } from './open-file.js';
import { selectRows } from './pages.js';
import type { ScanFile } from './plan.js';
import { wantedRowGroups } from './row-groups.js';

/** A scan that reads every column of a file of up to this size fetches it whole. */
const WHOLE_FILE = 16 << 20;

/** What is fetched and decoded in one go: row groups of one file. `bytes` are those of what is wanted of their column chunks. */
export interface ReadUnit {
  readonly open: OpenFile;
  readonly groups: readonly RowGroup[];
  readonly bytes: number;
  /** Others of the same row group come before or after it; whether they are needed shows when this one is read. */
  readonly isPiece: boolean;
}

/** The bytes of a unit, ready to be decoded. `whole`: those of the file, where all of it is wanted and was fetched at once. */
export interface FetchedUnit {
  readonly unit: ReadUnit;
  readonly tasks: readonly DecodeTask[];
  readonly whole?: Uint8Array;
}

/**
 * Opens a file and decides what of it is read: row groups, and rows of them by page indexes. None where the file has no row that is wanted. A file all of
 * which is needed is fetched whole, at once where that is known before its footer is. Throws `TableError`.
 */
export async function openUnits(
  ctx: Context,
  locator: Locator,
  reading: Reading,
  file: ScanFile,
  signal: AbortSignal | undefined,
): Promise<ReadUnit[]> {
  const { plan, where } = reading;
  const isAll = plan.readsAllColumns && file.size <= WHOLE_FILE;
  const mayLeaveOut = where !== undefined || plan.limit !== undefined;
  const wholeBelow = isAll && !mayLeaveOut ? WHOLE_FILE : SMALL_FILE;
  const open = await openFile(ctx, locator, plan, file, { signal, wholeBelow });
  try {
    const groups = await selectRows(plan, open, where, wantedRowGroups(plan, open, where));
    const isNeeded =
      isAll && coversFile(open, groups) && !groups.some((group) => isLate(reading, open, group));
    if (isNeeded) open.source.takeWhole();
    return unitsOf(open, groups);
  } catch (error) {
    throw dataFileError(error, file.path);
  }
}

/** Whether row groups of a file are all of them, with all their rows. */
function coversFile({ footer }: OpenFile, groups: readonly RowGroup[]): boolean {
  return (
    groups.length === footer.rowGroups.length && groups.every(({ selection }) => selection === undefined)
  );
}

/** The units of a file: one for all row groups where its bytes are at hand anyway, else one a row group. */
function unitsOf(open: OpenFile, groups: readonly RowGroup[]): ReadUnit[] {
  const columns = leavesOfAll(open.nodes);
  const bytesOf = ({ index, selection }: RowGroup): number =>
    bytesOfChunks(wantedChunks(open.footer, index, columns, selection));
  if (open.source.isWhole) {
    return groups.length === 0
      ? []
      : [{ open, groups, bytes: groups.reduce((sum, group) => sum + bytesOf(group), 0), isPiece: false }];
  }
  return groups.map((group, i) => ({
    open,
    groups: [group],
    bytes: bytesOf(group),
    isPiece: group.index === groups[i - 1]?.index || group.index === groups[i + 1]?.index,
  }));
}

/**
 * Fetches what is wanted of the column chunks of a unit; where it pays, the columns of the predicate first, and then no more than the rows that pass it
 * need: the unit that comes back may have fewer rows, or none. Throws `TableError`.
 */
export async function fetchUnit(reading: Reading, unit: ReadUnit): Promise<FetchedUnit> {
  const { source, file } = unit.open;
  try {
    const fetched = await Promise.all(unit.groups.map((group) => fetchGroup(reading, unit.open, group)));
    const some = fetched.filter((each) => each !== undefined);
    const tasks = some.map(({ task }) => task);
    const narrowed = { ...unit, groups: some.map(({ group }) => group) };
    if (!source.isWhole) return { unit: narrowed, tasks };
    // Who decodes a part of a file is not sent the rest.
    const whole = coversFile(unit.open, narrowed.groups) ? await source.read(0, source.size) : undefined;
    source.release();
    return { unit: narrowed, tasks, whole };
  } catch (error) {
    throw dataFileError(error, file.path);
  }
}

async function fetchGroup(
  reading: Reading,
  open: OpenFile,
  group: RowGroup,
): Promise<{ group: RowGroup; task: DecodeTask } | undefined> {
  const nodes = open.nodes.filter((node) => node !== undefined);
  const { index, selection } = group;
  if (!isLate(reading, open, group)) {
    return { group, task: await fetchRowGroup(open.source, open.footer, index, nodes, selection) };
  }
  const source = rememberingReader(open.source);
  const left = await lookFirst(reading, open, group, source);
  return (
    left && { group: left, task: await fetchRowGroup(source, open.footer, index, nodes, left.selection) }
  );
}
