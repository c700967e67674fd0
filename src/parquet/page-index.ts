import { FlatFault } from './flat/fault.js';
import type { ChunkMeta, Footer, RawStatistics } from './flat/footer.js';
import { THRIFT, ThriftReader } from './flat/thrift.js';
import type { ByteRange } from './source.js';

/** Where the data pages of a column chunk are (parquet-format: OffsetIndex). */
export interface PagePlaces {
  /** The first row of each page within the row group, ascending from 0. */
  readonly firstRows: Int32Array;
  /** The first byte of each page in the file, and how many bytes it has with its header. */
  readonly starts: Float64Array;
  readonly lengths: Int32Array;
}

/** The statistics of a page by its number; undefined where the file has none (parquet-format: ColumnIndex). */
export type PageBounds = (page: number) => RawStatistics | undefined;

/** The page index of a column chunk. */
export interface PageIndex {
  readonly places: PagePlaces;
  readonly bounds: PageBounds | undefined;
}

/** Indexes longer than this are left alone, whatever the footer says. */
const LARGEST = 16 << 20;

/** The bytes of the index of a chunk that are worth reading: places, and bounds where `withBounds`; none where the file has no index. */
export function indexRanges(meta: ChunkMeta, withBounds: boolean): ByteRange[] {
  const { places, bounds } = meta.pageIndex ?? {};
  if (!isUsable(places)) return [];
  return withBounds && isUsable(bounds) ? [places, bounds] : [places];
}

/**
 * The page index of a chunk from its bytes, or undefined where it contradicts itself or the footer: it is a help, and without it the whole chunk is read.
 * `bounds` that do not fit the places are left out alone. Row numbers are trusted here and checked against each page that is decoded.
 */
export function parsePageIndex(
  footer: Footer,
  group: number,
  column: number,
  places: Uint8Array,
  bounds: Uint8Array | undefined,
): PageIndex | undefined {
  const { rows, chunks } = footer.rowGroups[group]!;
  const found = quietly(() => parsePlaces(places, chunks[column]!, rows));
  if (found === undefined) return undefined;
  return { places: found, bounds: bounds && quietly(() => parseBounds(bounds, found, rows)) };
}

function isUsable(range: ByteRange | undefined): range is ByteRange {
  return range !== undefined && range.end - range.start <= LARGEST;
}

function quietly<T>(parse: () => T | undefined): T | undefined {
  try {
    return parse();
  } catch (error) {
    if (error instanceof FlatFault) return undefined;
    throw error;
  }
}

function parsePlaces(bytes: Uint8Array, meta: ChunkMeta, rows: number): PagePlaces | undefined {
  const pages: { start: number; length: number; firstRow: number }[] = [];
  const reader = new ThriftReader(bytes, 0, bytes.length);
  reader.struct((id, type) => {
    if (id !== 1 || type !== THRIFT.list) return reader.skip(type);
    reader.list(() => {
      const page = { start: -1, length: 0, firstRow: -1 };
      reader.struct((field, fieldType) => {
        if (field === 1) page.start = reader.integer();
        else if (field === 2) page.length = reader.integer();
        else if (field === 3) page.firstRow = reader.integer();
        else reader.skip(fieldType);
      });
      pages.push(page);
    });
  });
  const end = meta.start + meta.length;
  let at = meta.start;
  let row = -1;
  for (const { start, length, firstRow } of pages) {
    if (start < at || length <= 0 || start + length > end || firstRow <= row || firstRow >= rows)
      return undefined;
    at = start + length;
    row = firstRow;
  }
  if (pages[0]?.firstRow !== 0) return undefined;
  return {
    firstRows: Int32Array.from(pages, ({ firstRow }) => firstRow),
    starts: Float64Array.from(pages, ({ start }) => start),
    lengths: Int32Array.from(pages, ({ length }) => length),
  };
}

function parseBounds(bytes: Uint8Array, { firstRows }: PagePlaces, rows: number): PageBounds | undefined {
  const allNull: boolean[] = [];
  const mins: Uint8Array[] = [];
  const maxes: Uint8Array[] = [];
  let nullCounts: number[] | undefined;
  const reader = new ThriftReader(bytes, 0, bytes.length);
  reader.struct((id, type) => {
    if (type !== THRIFT.list) return reader.skip(type);
    // An item of a list of booleans is a byte: 1 is true, and so some writers' true of 0 is false.
    if (id === 1) reader.list(() => allNull.push(reader.byte() === 1));
    else if (id === 2) reader.list(() => mins.push(reader.binary()));
    else if (id === 3) reader.list(() => maxes.push(reader.binary()));
    else if (id === 5) {
      const counts: number[] = [];
      reader.list(() => counts.push(reader.integer()));
      nullCounts = counts;
    } else reader.skip(type);
  });
  const pages = firstRows.length;
  if (allNull.length !== pages || mins.length !== pages || maxes.length !== pages) return undefined;
  if (nullCounts !== undefined && nullCounts.length !== pages) nullCounts = undefined;
  return (page) => {
    const pageRows = (firstRows[page + 1] ?? rows) - firstRows[page]!;
    if (allNull[page]) return { nullCount: pageRows };
    return { min: mins[page], max: maxes[page], nullCount: nullCounts?.[page] };
  };
}
