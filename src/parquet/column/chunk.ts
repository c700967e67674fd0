import { decompressInto } from '../flat/codec.js';
import { ENCODING } from '../flat/encoding.js';
import { corrupt, FlatFault } from '../flat/fault.js';
import type { ChunkMeta, Leaf } from '../flat/footer.js';
import { bareLevels, isBare, type Page, readPages } from '../flat/page.js';
import { decodeHybrid } from '../flat/rle.js';
import { decodeValues } from './encodings.js';
import { BinarySink, FixedSink, type Sink, type Values } from './values.js';

/** A decoded column chunk: its levels and its non-null values. `definitions` is left out when all are the maximum. */
export interface LeafColumn {
  readonly entries: number;
  readonly definitions?: Uint8Array;
  readonly repetitions?: Uint8Array;
  readonly values: Values;
}

const WIDTHS: Readonly<Record<string, number>> = {
  BOOLEAN: 1,
  INT32: 4,
  INT64: 8,
  INT96: 12,
  FLOAT: 4,
  DOUBLE: 8,
};

/** Bounds on what one column chunk may ask for, whatever its headers say. */
const LIMITS = { entries: 2 ** 28, pageBytes: 2 ** 31 - 1 };

interface Levels {
  definitions: Uint8Array | undefined;
  repetitions: Uint8Array | undefined;
}

/**
 * Decodes the pages of a column chunk (parquet-format: Data Pages). Memory follows what the pages hold, not what the footer claims.
 * Throws `FlatFault` for bytes that are no such column chunk.
 */
export function decodeChunk(bytes: Uint8Array, leaf: Leaf, meta: ChunkMeta): LeafColumn {
  return decodePages(bytes, leaf, meta, readPages(bytes, checked(meta.values)), meta.values);
}

/**
 * Decodes some pages of a column chunk: `bytes` are its dictionary, if it has one, and those pages. `pageRows` tells how many rows the index says that
 * each has. Throws `FlatFault` for bytes that are no such pages.
 */
export function decodeSomePages(
  bytes: Uint8Array,
  leaf: Leaf,
  meta: ChunkMeta,
  pageRows: readonly number[],
): LeafColumn {
  const pages = readPages(bytes);
  const data = pages.filter(({ kind }) => kind !== 'dictionary');
  const isFlat = leaf.maxRepetition === 0;
  if (data.length !== pageRows.length || (isFlat && data.some(({ values }, i) => values !== pageRows[i])))
    throw corrupt('the page index of a column contradicts its pages');
  const values = data.reduce((sum, page) => sum + page.values, 0);
  return decodePages(bytes, leaf, meta, pages, checked(values));
}

function checked(values: number): number {
  if (values > LIMITS.entries) throw new FlatFault('limit', `a column chunk of ${values} values`);
  return values;
}

function decodePages(
  bytes: Uint8Array,
  leaf: Leaf,
  meta: ChunkMeta,
  pages: readonly Page[],
  entries: number,
): LeafColumn {
  const isBoolean = leaf.physical === 'BOOLEAN';
  const sink = openSink(leaf, entries);
  const levels: Levels = {
    definitions: undefined,
    repetitions: leaf.maxRepetition > 0 ? new Uint8Array(entries) : undefined,
  };
  let dictionary: Values | undefined;
  let entry = 0;
  for (const page of pages) {
    const body = pageBody(bytes, page, meta.codec);
    if (page.kind === 'dictionary') {
      const values = openSink(leaf, Math.min(page.values, body.length));
      decodeValues(values, isBoolean, ENCODING.plain, body, 0, body.length, page.values, undefined);
      dictionary = values.finish();
      continue;
    }
    const { at, present } = readLevels(body, page, leaf, entries, levels, entry);
    decodeValues(sink, isBoolean, page.encoding, body, at, body.length, present, dictionary);
    entry += page.values;
  }
  return { entries: entry, ...levels, values: sink.finish() };
}

function openSink(leaf: Leaf, claimed: number): Sink {
  if (leaf.physical === 'BYTE_ARRAY') return new BinarySink(claimed);
  return new FixedSink(WIDTHS[leaf.physical] ?? leaf.width, claimed);
}

/** The page as it was before compression: levels, which version 2 never compresses, and values. */
function pageBody(bytes: Uint8Array, page: Page, codec: number): Uint8Array {
  const raw = bytes.subarray(page.start, page.end);
  if (isBare(page, codec)) return raw;
  if (page.uncompressed > LIMITS.pageBytes)
    throw new FlatFault('limit', `a page of ${page.uncompressed} bytes`);
  const levels = bareLevels(page);
  const body = roomFor(page.uncompressed);
  if (levels > 0) body.set(raw.subarray(0, levels));
  decompressInto(codec, raw.subarray(levels), body, levels, body.length);
  return body;
}

/** Pages of the usual sizes are decompressed into the same memory, one after the other: nothing of them is kept. */
const LARGEST_KEPT = 4 << 20;
let kept = new Uint8Array(0);

function roomFor(bytes: number): Uint8Array {
  if (bytes > LARGEST_KEPT) return new Uint8Array(bytes);
  if (kept.length < bytes) kept = new Uint8Array(Math.min(LARGEST_KEPT, 2 * bytes));
  return kept.subarray(0, bytes);
}

/** Takes in the levels of a page; tells where its values start and how many they are. */
function readLevels(
  body: Uint8Array,
  page: Page,
  leaf: Leaf,
  entries: number,
  levels: Levels,
  entry: number,
): { at: number; present: number } {
  let at = 0;
  if (levels.repetitions !== undefined) {
    const { start, end } = levelBytes(body, at, page, page.repetitionBytes);
    decodeHybrid(body, start, end, widthOf(leaf.maxRepetition), levels.repetitions, entry, page.values);
    checkLevels(levels.repetitions, entry, page.values, leaf.maxRepetition);
    at = end;
  } else if (page.kind === 'v2') at = page.repetitionBytes;
  const max = leaf.maxDefinition;
  if (max === 0) return { at: page.kind === 'v2' ? at + page.definitionBytes : at, present: page.values };
  const { start, end } = levelBytes(body, at, page, page.definitionBytes);
  if (levels.definitions === undefined) {
    if (isOneRun(body, start, end, page.values, max)) return { at: end, present: page.values };
    levels.definitions = new Uint8Array(entries);
    levels.definitions.fill(max, 0, entry);
  }
  const { definitions } = levels;
  decodeHybrid(body, start, end, widthOf(max), definitions, entry, page.values);
  checkLevels(definitions, entry, page.values, max);
  let present = 0;
  for (let i = entry; i < entry + page.values; i++) if (definitions[i] === max) present++;
  return { at: end, present };
}

function levelBytes(
  body: Uint8Array,
  at: number,
  page: Page,
  v2Length: number,
): { start: number; end: number } {
  if (page.kind === 'v2') return { start: at, end: at + v2Length };
  if (at + 4 > body.length) throw corrupt('level data ends early');
  const length = (body[at]! | (body[at + 1]! << 8) | (body[at + 2]! << 16) | (body[at + 3]! << 24)) >>> 0;
  if (at + 4 + length > body.length) throw corrupt('level data ends early');
  return { start: at + 4, end: at + 4 + length };
}

function widthOf(level: number): number {
  return 32 - Math.clz32(level);
}

function checkLevels(levels: Uint8Array, start: number, count: number, max: number): void {
  for (let i = start; i < start + count; i++)
    if (levels[i]! > max) throw corrupt('a level above its maximum');
}

/** True when the levels are a single run of `value`: the form of a page without nulls. */
function isOneRun(body: Uint8Array, at: number, end: number, count: number, value: number): boolean {
  let header = 0;
  let from = at;
  for (let shift = 0; shift <= 28 && from < end; shift += 7) {
    const byte = body[from++]!;
    header += (byte & 0x7f) * 2 ** shift;
    if (byte < 0x80) return header % 2 === 0 && header / 2 >= count && body[from] === value && from < end;
  }
  return false;
}
