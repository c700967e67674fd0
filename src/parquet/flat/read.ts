import { decodeChunk, type Layout } from './chunk.js';
import type { FlatColumn } from './column.js';
import { corrupt, FlatFault } from './fault.js';
import {
  type ChunkMeta,
  type Footer,
  footerLength,
  type Leaf,
  parseFooter,
  type RowGroupMeta,
} from './footer.js';

/** A Parquet file that can be read by ranges. */
export interface FlatSource {
  readonly size: number;
  /** Bytes [start, end). */
  read(start: number, end: number): Promise<Uint8Array>;
}

const TAIL = 64 * 1024;
/** Two ranges no further apart than this are fetched as one: the bytes between cost less than another request. */
const GAP = 64 * 1024;

/** Entries that one call decodes, over all its columns: a tiny file can claim any number of equal ones. */
const MAX_ENTRIES = 2 ** 29;

/** A file whose bytes are all in memory. */
export function bytesSource(bytes: Uint8Array): FlatSource {
  return { size: bytes.length, read: async (start, end) => bytes.subarray(start, end) };
}

/** Reads and checks the footer: one read of the last 64 kB, a second one only where the footer is longer. */
export async function readFooter(source: FlatSource): Promise<Footer> {
  const { size } = source;
  const tailStart = Math.max(0, size - TAIL);
  const tail = await source.read(tailStart, size);
  const length = footerLength(tail, size);
  if (length + 8 <= tail.length)
    return parseFooter(tail.subarray(tail.length - 8 - length, tail.length - 8), size);
  return parseFooter(await readExactly(source, size - 8 - length, size - 8), size);
}

/**
 * Decodes leaves of row groups (all of them by default), reading only their chunks: ranges that lie close together are fetched as one, and all at once.
 * The result is one list a row group, in the order of `leaves`. Throws `FlatFault`; what `source.read` throws passes through.
 */
export async function readFlatColumns(
  source: FlatSource,
  footer: Footer,
  leaves: readonly Leaf[],
  options: { readonly rowGroups?: readonly number[]; readonly layout?: Layout } = {},
): Promise<FlatColumn[][]> {
  const { layout = 'entries', rowGroups = footer.rowGroups.map((_, index) => index) } = options;
  const wanted: { leaf: Leaf; meta: ChunkMeta; group: number; slot: number }[] = [];
  rowGroups.forEach((index, group) => {
    const meta = footer.rowGroups[index] as RowGroupMeta;
    leaves.forEach((leaf, slot) => {
      wanted.push({ leaf, meta: meta.chunks[leaf.index] as ChunkMeta, group, slot });
    });
  });
  const entries = wanted.reduce((sum, { meta }) => sum + meta.values, 0);
  if (entries > MAX_ENTRIES) throw new FlatFault('limit', `columns of ${entries} values at once`);
  const result: FlatColumn[][] = rowGroups.map(() => []);
  const ranges = coalesce(wanted.map(({ meta }) => ({ start: meta.start, end: meta.start + meta.length })));
  const buffers = await Promise.all(ranges.map((range) => readExactly(source, range.start, range.end)));
  for (const { leaf, meta, group, slot } of wanted) {
    const at = ranges.findIndex(
      (range) => meta.start >= range.start && meta.start + meta.length <= range.end,
    );
    const offset = meta.start - (ranges[at] as { start: number }).start;
    const bytes = (buffers[at] as Uint8Array).subarray(offset, offset + meta.length);
    (result[group] as FlatColumn[])[slot] = decodeChunk(bytes, leaf, meta, layout);
  }
  return result;
}

function coalesce(ranges: { start: number; end: number }[]): { start: number; end: number }[] {
  const sorted = [...ranges].sort((a, b) => a.start - b.start);
  const merged: { start: number; end: number }[] = [];
  for (const range of sorted) {
    const last = merged.at(-1);
    if (last !== undefined && range.start - last.end <= GAP) last.end = Math.max(last.end, range.end);
    else merged.push({ ...range });
  }
  return merged;
}

async function readExactly(source: FlatSource, start: number, end: number): Promise<Uint8Array> {
  const bytes = await source.read(start, end);
  if (bytes.length !== end - start) throw corrupt('the file ends before its column data');
  return bytes;
}
