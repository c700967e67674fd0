import type { ChunkMeta, Footer, Leaf } from './flat/footer.js';
import type { PagePlaces } from './page-index.js';
import type { ByteRange } from './source.js';

/** Rows of a row group. Plain data. */
export interface RowSelection {
  /** Pairs of the first row and the one after the last within the row group, ascending and apart. */
  readonly runs: Int32Array;
  /** Where the pages of leaves are, by the leaf's index. Leaves that are not here are read whole. */
  readonly places: ReadonlyMap<number, PagePlaces>;
}

/** Which rows of what was fetched of a chunk are wanted. Plain data. */
export interface ChunkPart {
  /** The rows of each page, where pages were left out. */
  readonly pageRows?: readonly number[];
  /** The rows of what was fetched. */
  readonly rows: number;
  /** Pairs as in `RowSelection`, within those rows. */
  readonly runs: Int32Array;
}

/** What is fetched of a column chunk: all of it, or its dictionary and some pages. */
export interface WantedChunk {
  readonly leaf: Leaf;
  readonly meta: ChunkMeta;
  /** Ascending and apart. */
  readonly ranges: readonly ByteRange[];
  /** The dictionary, where the footer lets expect that none of the pages uses it. */
  readonly spared?: ByteRange;
  readonly part?: ChunkPart;
}

/** What is to be fetched of leaves of a row group, for its rows or some of them. */
export function wantedChunks(
  footer: Footer,
  rowGroup: number,
  leaves: Iterable<number>,
  selection: RowSelection | undefined,
): WantedChunk[] {
  const { rows, chunks } = footer.rowGroups[rowGroup]!;
  return Array.from(leaves, (column): WantedChunk => {
    const leaf = footer.leaves[column]!;
    const meta = chunks[column]!;
    const whole = { leaf, meta, ranges: [{ start: meta.start, end: meta.start + meta.length }] };
    if (selection === undefined) return whole;
    const { runs } = selection;
    const places = selection.places.get(column);
    const pages = places && pagesOf(places, runs, rows);
    if (places === undefined || pages!.length === places.starts.length)
      return { ...whole, part: { rows, runs } };
    return { leaf, meta, ...someOf(meta, places, pages!, rows, runs) };
  });
}

/** The bytes of wanted chunks. */
export function bytesOfChunks(chunks: readonly WantedChunk[]): number {
  let bytes = 0;
  for (const { ranges } of chunks) for (const { start, end } of ranges) bytes += end - start;
  return bytes;
}

/** How many rows, or other items, runs have together. */
export function lengthOfRuns(runs: Int32Array): number {
  let length = 0;
  for (let i = 0; i < runs.length; i += 2) length += runs[i + 1]! - runs[i]!;
  return length;
}

/** The pages that hold rows of the runs. */
function pagesOf({ firstRows }: PagePlaces, runs: Int32Array, rows: number): number[] {
  const pages: number[] = [];
  let run = 0;
  for (let page = 0; page < firstRows.length; page++) {
    while (run < runs.length && runs[run + 1]! <= firstRows[page]!) run += 2;
    if (run === runs.length) break;
    if (runs[run]! < (firstRows[page + 1] ?? rows)) pages.push(page);
  }
  return pages;
}

function someOf(
  meta: ChunkMeta,
  { firstRows, starts, lengths }: PagePlaces,
  pages: readonly number[],
  rows: number,
  runs: Int32Array,
): Pick<WantedChunk, 'ranges' | 'spared' | 'part'> {
  const ranges: ByteRange[] = [];
  // What stands before the first page is the dictionary. Only the first pages use it: a writer that finds it too large goes on without.
  const dictionary = starts[0]! > meta.start ? { start: meta.start, end: starts[0]! } : undefined;
  const isSpared = meta.dictionaryPages !== undefined && pages[0]! >= meta.dictionaryPages;
  if (dictionary && !isSpared) ranges.push(dictionary);
  const own = new Int32Array(runs.length);
  const pageRows: number[] = [];
  let fetched = 0;
  let next = 0;
  for (const page of pages) {
    const first = firstRows[page]!;
    const last = firstRows[page + 1] ?? rows;
    ranges.push({ start: starts[page]!, end: starts[page]! + lengths[page]! });
    pageRows.push(last - first);
    // An end may be that of the page; a beginning then is of the next page.
    while (next < runs.length && runs[next]! < last + (next & 1)) {
      own[next] = fetched + runs[next]! - first;
      next++;
    }
    fetched += last - first;
  }
  return { ranges, spared: isSpared ? dictionary : undefined, part: { pageRows, rows: fetched, runs: own } };
}
