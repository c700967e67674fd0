import { TableError } from '../errors.js';
import { assembleColumn, type ColumnData } from './column/assemble.js';
import { decodeChunk, type LeafColumn } from './column/chunk.js';
import { leavesOf, type ReadNode } from './column/read-tree.js';
import { FlatFault } from './flat/fault.js';
import type { ChunkMeta, Footer, Leaf } from './flat/footer.js';
import type { StoreSource } from './source.js';

/** The bytes of a leaf's column chunk in one row group, with what decoding needs to know. Plain data. */
export interface FetchedChunk {
  readonly leaf: Leaf;
  readonly meta: ChunkMeta;
  readonly bytes: Uint8Array;
}

/** The work of decoding one row group: plain data, fit to be sent to a worker thread. */
export interface DecodeTask {
  /** Which row group of the file it is. */
  readonly group: number;
  readonly rows: number;
  readonly nodes: readonly ReadNode[];
  readonly chunks: readonly FetchedChunk[];
}

/** Fetches the column chunks that the nodes need of one row group, in as few requests as their places allow. */
export async function fetchRowGroup(
  source: StoreSource,
  footer: Footer,
  rowGroup: number,
  nodes: readonly ReadNode[],
): Promise<DecodeTask> {
  const group = footer.rowGroups[rowGroup]!;
  const columns = new Set<number>();
  for (const node of nodes) leavesOf(node, columns);
  const wanted = [...columns].map((column) => ({
    leaf: footer.leaves[column]!,
    meta: group.chunks[column]!,
  }));
  const ranges = wanted.map(({ meta }) => ({ start: meta.start, end: meta.start + meta.length }));
  const bytes = await source.readAll(ranges);
  const chunks = wanted.map((chunk, i) => ({ ...chunk, bytes: bytes[i]! }));
  return { group: rowGroup, rows: group.rows, nodes, chunks };
}

/** Decodes a fetched row group: one column a node. Throws `FlatFault`. */
export function decodeRowGroup(task: DecodeTask): ColumnData[] {
  const leaves = new Map<number, LeafColumn>();
  for (const { leaf, meta, bytes } of task.chunks) leaves.set(leaf.index, decodeChunk(bytes, leaf, meta));
  return task.nodes.map((node) => assembleColumn(node, leaves, task.rows));
}

/** Turns what the decoder throws into the error of a data file, named. Other errors are passed through. */
export function dataFileError(error: unknown, file: string): unknown {
  if (error instanceof FlatFault || error instanceof RangeError) {
    const code =
      error instanceof FlatFault && error.reason === 'limit' ? 'LIMIT_EXCEEDED' : 'CORRUPT_DATA_FILE';
    return new TableError(code, `The data file ${file} cannot be read: ${error.message}.`, { file }, error);
  }
  if (error instanceof TableError && error.code === 'CORRUPT_DATA_FILE' && error.context.file === undefined) {
    const { code, message, context } = error;
    return new TableError(
      code,
      `The data file ${file} cannot be read: ${message}`,
      { ...context, file },
      error,
    );
  }
  return error;
}
