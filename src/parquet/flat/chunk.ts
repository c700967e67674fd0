import { CODEC, decompressInto } from './codec.js';
import type { FlatColumn } from './column.js';
import { ENCODING } from './encoding.js';
import { corrupt, FlatFault, unsupported } from './fault.js';
import type { ChunkMeta, Leaf } from './footer.js';
import { bareLevels, type Page, readPages } from './page.js';
import { decodeHybrid } from './rle.js';
import { openSink } from './sink.js';

/** Bounds on what one column chunk may ask for, whatever its headers say. */
export const CHUNK_LIMITS = {
  entries: 1 << 24,
  bytes: 2 ** 31 - 1,
  /** Bytes that a chunk may always become, and how many more for each compressed one. */
  free: 1 << 26,
  ratio: 256,
} as const;

/**
 * Where values are placed. `entries`: value i belongs to entry i, nulls have places too. `dense`: values that are there, side by side, without places for
 * nulls, which costs next to nothing for columns that are mostly null.
 */
export type Layout = 'entries' | 'dense';

interface Decoded {
  readonly page: Page;
  readonly start: number;
  readonly end: number;
  readonly entry: number;
  readonly present: number;
}

/**
 * Decodes one column chunk. `bytes` are exactly the chunk's; byte arrays of the result may share them.
 * Throws `FlatFault`: `corrupt` for data that contradicts itself, `unsupported` for codecs, encodings and pages unknown here, `limit` beyond `CHUNK_LIMITS`.
 */
export function decodeChunk(
  bytes: Uint8Array,
  leaf: Leaf,
  meta: ChunkMeta,
  layout: Layout = 'entries',
): FlatColumn {
  if (meta.values > CHUNK_LIMITS.entries) throw new FlatFault('limit', `a column of ${meta.values} values`);
  const pages = readPages(bytes, meta.values);
  const plain = meta.codec === CODEC.uncompressed;
  let size = 0;
  for (const page of pages) size += page.uncompressed;
  const most = Math.min(CHUNK_LIMITS.bytes, CHUNK_LIMITS.free + CHUNK_LIMITS.ratio * bytes.length);
  if (size > most) throw new FlatFault('limit', `a column of ${size} bytes in ${bytes.length}`);
  const slab = plain ? bytes : new Uint8Array(size);
  const definition = leaf.maxDefinition > 0 ? new Uint8Array(meta.values) : undefined;
  const repetition = leaf.maxRepetition > 0 ? new Uint8Array(meta.values) : undefined;
  const decoded: Decoded[] = [];
  let filled = 0;
  let entry = 0;
  let present = 0;
  for (const page of pages) {
    const at = plain ? page.start : filled;
    const end = plain ? page.end : filled + page.uncompressed;
    if (plain && page.end - page.start !== page.uncompressed)
      throw corrupt('a page is not as long as it says');
    if (!plain) inflate(bytes, page, meta.codec, slab, at, end);
    filled = end;
    if (page.kind === 'dictionary') {
      decoded.push({ page, start: at, end, entry, present: 0 });
      continue;
    }
    const start = readLevels(slab, at, end, page, leaf, definition, repetition, entry);
    const here =
      definition === undefined
        ? page.values
        : countPresent(definition, entry, page.values, leaf.maxDefinition);
    decoded.push({ page, start, end, entry, present: here });
    entry += page.values;
    present += here;
  }
  const dense = layout === 'dense';
  const sink = openSink(leaf, dense ? present : meta.values, slab);
  let placed = 0;
  for (const { page, start, end, entry: first, present: here } of decoded) {
    if (page.kind === 'dictionary') {
      if (page.encoding !== ENCODING.plain && page.encoding !== ENCODING.plainDictionary)
        throw unsupported(`dictionary encoding ${page.encoding}`);
      sink.dictionary(start, end, page.values);
    } else if (dense) {
      sink.page(page.encoding, start, end, placed, here, here, undefined);
      placed += here;
    } else {
      sink.page(page.encoding, start, end, first, page.values, here, definition);
    }
  }
  return {
    leaf,
    entries: meta.values,
    present,
    dense,
    definition: present === meta.values ? undefined : definition,
    repetition,
    values: sink.finish(),
  };
}

function inflate(
  bytes: Uint8Array,
  page: Page,
  codec: number,
  slab: Uint8Array,
  start: number,
  end: number,
): void {
  const levels = bareLevels(page);
  if (levels > 0) slab.set(bytes.subarray(page.start, page.start + levels), start);
  const compressed = bytes.subarray(page.start + levels, page.end);
  if (page.kind === 'v2' && (!page.compressed || compressed.length === 0))
    decompressInto(CODEC.uncompressed, compressed, slab, start + levels, end);
  else decompressInto(codec, compressed, slab, start + levels, end);
}

/** Fills the levels of a page and returns where its values start. */
function readLevels(
  slab: Uint8Array,
  start: number,
  end: number,
  page: Page,
  leaf: Leaf,
  definition: Uint8Array | undefined,
  repetition: Uint8Array | undefined,
  entry: number,
): number {
  if (page.kind === 'v2') {
    const middle = start + page.repetitionBytes;
    const values = middle + page.definitionBytes;
    if (repetition !== undefined)
      decodeHybrid(slab, start, middle, widthOf(leaf.maxRepetition), repetition, entry, page.values);
    if (definition !== undefined)
      decodeHybrid(slab, middle, values, widthOf(leaf.maxDefinition), definition, entry, page.values);
    return values;
  }
  // Old writers name BIT_PACKED for levels that are not there (a maximum of 0), so only levels that are there are looked at.
  const bad =
    repetition !== undefined && page.repetitionEncoding !== ENCODING.rle
      ? page.repetitionEncoding
      : definition !== undefined && page.definitionEncoding !== ENCODING.rle
        ? page.definitionEncoding
        : undefined;
  if (bad !== undefined) throw unsupported(`level encoding ${bad}`);
  let at = start;
  if (repetition !== undefined)
    at = prefixed(slab, at, end, widthOf(leaf.maxRepetition), repetition, entry, page.values);
  if (definition !== undefined)
    at = prefixed(slab, at, end, widthOf(leaf.maxDefinition), definition, entry, page.values);
  return at;
}

function prefixed(
  slab: Uint8Array,
  at: number,
  end: number,
  width: number,
  out: Uint8Array,
  entry: number,
  count: number,
): number {
  if (at + 4 > end) throw corrupt('level data ends early');
  const length =
    ((slab[at] as number) |
      ((slab[at + 1] as number) << 8) |
      ((slab[at + 2] as number) << 16) |
      ((slab[at + 3] as number) << 24)) >>>
    0;
  const stop = at + 4 + length;
  if (stop > end) throw corrupt('level data ends early');
  decodeHybrid(slab, at + 4, stop, width, out, entry, count);
  return stop;
}

function widthOf(level: number): number {
  return 32 - Math.clz32(level);
}

function countPresent(definition: Uint8Array, entry: number, count: number, maximum: number): number {
  let present = 0;
  for (let i = entry, stop = entry + count; i < stop; i++) present += definition[i] === maximum ? 1 : 0;
  return present;
}
