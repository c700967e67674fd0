import { leavesOf, type ReadNode, resolveColumns } from '../parquet/column/read-tree.js';
import type { Footer } from '../parquet/flat/footer.js';
import { footerOf } from '../parquet/footer-cache.js';
import { type DecodeTask, dataFileError, fetchRowGroup } from '../parquet/read.js';
import { SMALL_FILE, StoreSource } from '../parquet/source.js';
import type { Context } from '../runtime/context.js';
import { assertWithin, readDeletionVector } from './deletion-vector.js';
import type { Locator } from './location.js';
import type { PlannedColumn, ScanFile, ScanPlan } from './plan.js';
import type { RoaringBitmap } from './roaring.js';

/** A scan that reads every column of a file of up to this size fetches it whole. */
const WHOLE_FILE = 16 << 20;

/** A row group to be read. `start` is the position of its first row in the file. */
export interface RowGroup {
  readonly index: number;
  readonly start: number;
  readonly rows: number;
}

/** A data file of which footer and deletion vector are known. `nodes` runs parallel to the plan's columns; undefined where the file is not asked. */
export interface OpenFile {
  readonly file: ScanFile;
  readonly source: StoreSource;
  readonly footer: Footer;
  readonly nodes: readonly (ReadNode | undefined)[];
  readonly deleted: RoaringBitmap | undefined;
  /** Where there is one, only its rows are given. */
  readonly only: RoaringBitmap | undefined;
}

/** What is fetched and decoded in one go: row groups of one file. `bytes` are those of their column chunks. */
export interface ReadUnit {
  readonly open: OpenFile;
  readonly groups: readonly RowGroup[];
  readonly bytes: number;
}

/** Opens a data file: footer, columns, deletion vector; one request each, none for what is cached or inline. Throws `TableError`. */
export async function openFile(
  ctx: Context,
  locator: Locator,
  plan: ScanPlan,
  file: ScanFile,
  signal: AbortSignal | undefined,
): Promise<OpenFile> {
  const { store, key } = locator.locate(file.path);
  const source = new StoreSource(store, key, file.size, {
    signal,
    wholeBelow: plan.readsAllColumns ? WHOLE_FILE : SMALL_FILE,
  });
  const vectors = Promise.all(
    [file.deletionVector, file.onlyRows].map(
      (vector) => vector && readDeletionVector(locator, vector, file.path, { signal }),
    ),
  );
  vectors.catch(() => undefined);
  try {
    const footer = await footerOf(ctx, `${store.url}/${key}#${file.size}`, source);
    const nodes = plan.columns.map((column) => nodeOf(footer, plan, column, file));
    const [deleted, only] = await vectors;
    for (const vector of [deleted, only]) if (vector) assertWithin(vector, footer.rows, file.path);
    return { file, source, footer, nodes, deleted: deleted || undefined, only: only || undefined };
  } catch (error) {
    throw dataFileError(error, file.path);
  }
}

/** The units of a file: one for all row groups where its bytes are at hand anyway, else one a row group. */
export function unitsOf(open: OpenFile, groups: readonly RowGroup[]): ReadUnit[] {
  const columns = new Set<number>();
  for (const node of open.nodes) if (node) leavesOf(node, columns);
  const bytesOf = ({ index }: RowGroup): number => {
    const { chunks } = open.footer.rowGroups[index]!;
    let bytes = 0;
    for (const column of columns) bytes += chunks[column]!.length;
    return bytes;
  };
  if (open.source.isWhole) {
    return groups.length === 0
      ? []
      : [{ open, groups, bytes: groups.reduce((sum, group) => sum + bytesOf(group), 0) }];
  }
  return groups.map((group) => ({ open, groups: [group], bytes: bytesOf(group) }));
}

/** The row groups of a file with the positions of their rows. */
export function rowGroupsOf(footer: Footer): RowGroup[] {
  let start = 0;
  return footer.rowGroups.map(({ rows }, index) => {
    const group = { index, start, rows };
    start += rows;
    return group;
  });
}

/** Row groups [from, to), which follow one another in their file, as one. */
export function joinGroups(groups: readonly RowGroup[], from: number, to: number): RowGroup {
  const { index, start } = groups[from]!;
  return { index, start, rows: groups.slice(from, to).reduce((sum, { rows }) => sum + rows, 0) };
}

/** The bytes of a unit, ready to be decoded. `whole`: those of the file, where all were fetched. */
export interface FetchedUnit {
  readonly unit: ReadUnit;
  readonly tasks: readonly DecodeTask[];
  readonly whole?: Uint8Array;
}

/** Fetches the column chunks of a unit. Throws `TableError`. */
export async function fetchUnit(unit: ReadUnit): Promise<FetchedUnit> {
  const { source, footer, nodes, file } = unit.open;
  const wanted = nodes.filter((node) => node !== undefined);
  try {
    const tasks = await Promise.all(
      unit.groups.map(({ index }) => fetchRowGroup(source, footer, index, wanted)),
    );
    if (!source.isWhole) return { unit, tasks };
    const whole = await source.read(0, source.size);
    source.release();
    return { unit, tasks, whole };
  } catch (error) {
    throw dataFileError(error, file.path);
  }
}

function nodeOf(footer: Footer, plan: ScanPlan, column: PlannedColumn, file: ScanFile): ReadNode | undefined {
  const { field } = column;
  switch (column.from) {
    case 'file':
      return resolveColumns(footer.root, [field], plan.mapping)[0];
    case 'partition':
    case 'position':
      return undefined;
    case 'change':
      if (file.constants && Object.hasOwn(file.constants, field.name)) return undefined;
      return resolveColumns(footer.root, [field], 'none')[0];
    default: {
      if (column.stored === undefined) return undefined;
      const node = resolveColumns(footer.root, [{ ...field, name: column.stored }], 'none')[0]!;
      return node.kind === 'null' ? undefined : node;
    }
  }
}
