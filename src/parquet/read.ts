import { TableError } from '../errors.js';
import { assembleColumn, type ColumnData } from './column/assemble.js';
import { decodeChunk, decodeSomePages, type LeafColumn } from './column/chunk.js';
import { cutRows } from './column/cut.js';
import { leavesOfAll, type ReadNode } from './column/read-tree.js';
import { concatBytes } from './concat.js';
import { isDictionaryCoded } from './flat/encoding.js';
import { FlatFault } from './flat/fault.js';
import type { ChunkMeta, Footer, Leaf } from './flat/footer.js';
import { readPages } from './flat/page.js';
import {
  type ChunkPart,
  lengthOfRuns,
  type RowSelection,
  type WantedChunk,
  wantedChunks,
} from './selection.js';
import type { RangeReader } from './source.js';

/** The bytes of a leaf's column chunk in one row group, or of some of its pages, with what decoding needs to know. Plain data. */
export interface FetchedChunk {
  readonly leaf: Leaf;
  readonly meta: ChunkMeta;
  readonly bytes: Uint8Array;
  /** Where some rows alone are wanted. */
  readonly part?: ChunkPart;
}

/** The work of decoding one row group: plain data, fit to be sent to a worker thread. */
export interface DecodeTask {
  /** Which row group of the file it is. */
  readonly group: number;
  /** How many rows are wanted. */
  readonly rows: number;
  readonly nodes: readonly ReadNode[];
  readonly chunks: readonly FetchedChunk[];
}

/**
 * Fetches the column chunks that the nodes need of one row group, in as few requests as their places allow; with a selection the pages that hold its rows,
 * and whole chunks where their pages are not known.
 */
export async function fetchRowGroup(
  source: RangeReader,
  footer: Footer,
  rowGroup: number,
  nodes: readonly ReadNode[],
  selection?: RowSelection,
): Promise<DecodeTask> {
  const wanted = wantedChunks(footer, rowGroup, leavesOfAll(nodes), selection);
  const bytes = await source.readAll(wanted.flatMap(({ ranges }) => ranges));
  let next = 0;
  const chunks = wanted.map(
    async ({ leaf, meta, ranges, spared, part }: WantedChunk): Promise<FetchedChunk> => {
      const pieces = bytes.slice(next, next + ranges.length);
      next += ranges.length;
      if (spared && usesDictionary(pieces)) pieces.unshift(...(await source.readAll([spared])));
      return { leaf, meta, bytes: part ? detached(joined(pieces)) : joined(pieces), part };
    },
  );
  const rows = selection ? lengthOfRuns(selection.runs) : footer.rowGroups[rowGroup]!.rows;
  return { group: rowGroup, rows, nodes, chunks: await Promise.all(chunks) };
}

/** Whether a page is coded by the dictionary, though the footer let expect otherwise. */
function usesDictionary(pages: readonly Uint8Array[]): boolean {
  return pages.some((page) => readPages(page).some(({ encoding }) => isDictionaryCoded(encoding)));
}

/** Bytes that are the smaller part of their memory get some of their own: to be sent to another thread would take all of it along. */
function detached(bytes: Uint8Array): Uint8Array {
  return bytes.length * 2 < bytes.buffer.byteLength ? bytes.slice() : bytes;
}

/** Pieces as one, without a copy where they are neighbours in memory. */
function joined(pieces: readonly Uint8Array[]): Uint8Array {
  const [first] = pieces;
  if (first === undefined) return new Uint8Array(0);
  let end = first.byteOffset;
  const isOne = pieces.every((piece) => {
    const follows = piece.buffer === first.buffer && piece.byteOffset === end;
    end = piece.byteOffset + piece.length;
    return follows;
  });
  if (isOne) return new Uint8Array(first.buffer, first.byteOffset, end - first.byteOffset);
  return concatBytes(pieces);
}

/** Decodes a fetched row group: one column a node. Throws `FlatFault`. */
export function decodeRowGroup(task: DecodeTask): ColumnData[] {
  const leaves = new Map<number, LeafColumn>();
  for (const chunk of task.chunks) leaves.set(chunk.leaf.index, decodeFetched(chunk));
  return task.nodes.map((node) => assembleColumn(node, leaves, task.rows));
}

function decodeFetched({ leaf, meta, bytes, part }: FetchedChunk): LeafColumn {
  if (part === undefined) return decodeChunk(bytes, leaf, meta);
  const { pageRows, rows, runs } = part;
  const decoded = pageRows ? decodeSomePages(bytes, leaf, meta, pageRows) : decodeChunk(bytes, leaf, meta);
  return cutRows(decoded, leaf, rows, runs);
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
