import { type ReadNode, resolveColumns } from '../parquet/column/read-tree.js';
import type { Footer } from '../parquet/flat/footer.js';
import { footerOf, type PageIndexes, pageIndexesOf } from '../parquet/footer-cache.js';
import { dataFileError } from '../parquet/read.js';
import type { RowSelection } from '../parquet/selection.js';
import { type SourceOptions, StoreSource } from '../parquet/source.js';
import type { Context } from '../runtime/context.js';
import { assertWithin, readDeletionVector } from './deletion-vector.js';
import type { Locator } from './location.js';
import type { PlannedColumn, ScanFile, ScanPlan } from './plan.js';
import type { RoaringBitmap } from './roaring.js';

/** A row group to be read, or a part of its rows. */
export interface RowGroup {
  readonly index: number;
  /** The position of its first row in the file, wanted or not. */
  readonly start: number;
  /** How many rows are wanted. */
  readonly rows: number;
  /** Which; all where there is none. */
  readonly selection?: RowSelection;
}

/** The wanted rows of a row group as runs: pairs as in `RowSelection`. */
export function runsOf({ rows, selection }: RowGroup): Int32Array {
  return selection?.runs ?? Int32Array.of(0, rows);
}

/** A data file of which footer and deletion vector are known. `nodes` runs parallel to the plan's columns; undefined where the file is not asked. */
export interface OpenFile {
  readonly file: ScanFile;
  readonly source: StoreSource;
  readonly footer: Footer;
  readonly indexes: PageIndexes;
  readonly nodes: readonly (ReadNode | undefined)[];
  readonly deleted: RoaringBitmap | undefined;
  /** Where there is one, only its rows are given. */
  readonly only: RoaringBitmap | undefined;
}

/** Opens a data file: footer, columns, deletion vector; one request each, none for what is cached or inline. Throws `TableError`. */
export async function openFile(
  ctx: Context,
  locator: Locator,
  plan: ScanPlan,
  file: ScanFile,
  options: SourceOptions,
): Promise<OpenFile> {
  const { store, key } = locator.locate(file.path);
  const source = new StoreSource(store, key, file.size, options);
  const { signal } = options;
  const vectors = Promise.all(
    [file.deletionVector, file.onlyRows].map(
      (vector) => vector && readDeletionVector(locator, vector, file.path, { signal }),
    ),
  );
  vectors.catch(() => undefined);
  try {
    const footer = await footerOf(ctx, source.name, source);
    const nodes = plan.columns.map((column) => nodeOf(footer, plan, column, file));
    const [deleted, only] = await vectors;
    for (const vector of [deleted, only]) if (vector) assertWithin(vector, footer.rows, file.path);
    return {
      file,
      source,
      footer,
      indexes: pageIndexesOf(ctx, source.name, footer),
      nodes,
      deleted: deleted || undefined,
      only: only || undefined,
    };
  } catch (error) {
    throw dataFileError(error, file.path);
  }
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

/** Row groups [from, to), which follow one another in their file, as one; only one where there is a selection. */
export function joinGroups(groups: readonly RowGroup[], from: number, to: number): RowGroup {
  if (to === from + 1) return groups[from]!;
  const { index, start } = groups[from]!;
  return { index, start, rows: groups.slice(from, to).reduce((sum, { rows }) => sum + rows, 0) };
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
