import { corrupt, FlatFault } from './flat/fault.js';
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
const LARGEST = 2 << 20;

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

function quietly<T>(parse: () => T): T | undefined {
  try {
    return parse();
  } catch (error) {
    if (error instanceof FlatFault) return undefined;
    throw error;
  }
}

function parsePlaces(bytes: Uint8Array, meta: ChunkMeta, rows: number): PagePlaces {
  const pages: { start: number; length: number; firstRow: number }[] = [];
  const end = meta.start + meta.length;
  let at = meta.start;
  let row = -1;
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
      const { start, length, firstRow } = page;
      if (start < at || length <= 0 || start + length > end || firstRow <= row || firstRow >= rows)
        throw corrupt('an offset index that contradicts its column');
      at = start + length;
      row = firstRow;
      pages.push(page);
    });
  });
  if (pages[0]?.firstRow !== 0) throw corrupt('an offset index without the first rows');
  return {
    firstRows: Int32Array.from(pages, ({ firstRow }) => firstRow),
    starts: Float64Array.from(pages, ({ start }) => start),
    lengths: Int32Array.from(pages, ({ length }) => length),
  };
}

function parseBounds(bytes: Uint8Array, { firstRows }: PagePlaces, rows: number): PageBounds {
  const reader = new ThriftReader(bytes, 0, bytes.length);
  const list = <T>(item: () => T): T[] => {
    const items: T[] = [];
    reader.list(() => {
      if (items.length === firstRows.length)
        throw corrupt('a column index of more pages than its column has');
      items.push(item());
    });
    if (items.length < firstRows.length) throw corrupt('a column index of fewer pages than its column has');
    return items;
  };
  let allNull: boolean[] | undefined;
  let mins: Uint8Array[] | undefined;
  let maxes: Uint8Array[] | undefined;
  let nullCounts: number[] | undefined;
  reader.struct((id, type) => {
    if (type !== THRIFT.list) return reader.skip(type);
    // A boolean of a list is a byte, of which 1 is true.
    if (id === 1) allNull = list(() => reader.byte() === 1);
    else if (id === 2) mins = list(() => reader.binary());
    else if (id === 3) maxes = list(() => reader.binary());
    else if (id === 5) nullCounts = list(() => reader.integer());
    else reader.skip(type);
  });
  if (!allNull || !mins || !maxes) throw corrupt('a column index without bounds');
  const [nullPages, least, greatest] = [allNull, mins, maxes];
  return (page) => {
    if (nullPages[page]) return { nullCount: (firstRows[page + 1] ?? rows) - firstRows[page]! };
    return { min: least[page], max: greatest[page], nullCount: nullCounts?.[page] };
  };
}
