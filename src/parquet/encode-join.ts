import { TableError } from '../errors.js';
import { concatBytes } from './concat.js';
import { readThrift, T, type ThriftList, type ThriftStruct, writeThrift } from './encode-thrift.js';

const MAGIC = new Uint8Array([0x50, 0x41, 0x52, 0x31]);

/** Field ids of Parquet's footer (parquet-format, parquet.thrift). */
export const FILE = { rows: 3, groups: 4, keyValues: 5, createdBy: 6 } as const;
export const GROUP = { columns: 1, fileOffset: 5, ordinal: 7 } as const;
export const CHUNK = {
  fileOffset: 2,
  meta: 3,
  offsetIndex: 4,
  offsetIndexLength: 5,
  columnIndex: 6,
  columnIndexLength: 7,
} as const;
const META = { dataPage: 9, indexPage: 10, dictionaryPage: 11, statistics: 12, bloomFilter: 14 } as const;
const STATISTICS = { nulls: 3, max: 5, min: 6, maxExact: 7, minExact: 8 } as const;

/** A whole Parquet file in pieces, to be sent in this order. */
export interface JoinedFile {
  /** For each part given: which of its bytes are its pages. The pieces between belong to this file alone. */
  readonly pages: readonly { readonly start: number; readonly end: number }[];
  /** What stands before the first part's pages. */
  readonly head: Uint8Array;
  /** Page indexes, footer, its length and the closing magic. */
  readonly tail: Uint8Array;
  readonly size: number;
}

/** What a part says of itself without its pages: everything behind the last page. */
export interface PartTail {
  readonly size: number;
  /** The last bytes of the part, at least from its page indexes on. */
  readonly tail: Uint8Array;
  /** Statistics to be put into the footer of the only row group. */
  readonly bounds?: readonly PartStatistics[];
  /** Leaves of the only row group that lose their bounds, pages' too: readers may take them for bounds of NaN, which they leave out. */
  readonly unbounded?: readonly number[];
}

/** What a footer says of the values of one leaf. */
export interface PartStatistics {
  readonly leaf: number;
  readonly nulls: number;
  readonly bounds?: {
    readonly min: Uint8Array;
    readonly minExact: boolean;
    readonly max?: Uint8Array;
    readonly maxExact: boolean;
  };
  /** A `ColumnIndex`, for a leaf of which the part has none. */
  readonly columnIndex?: Uint8Array;
}

/**
 * One file out of the row groups of several that have the same schema, without touching their pages: offsets are moved, page indexes are
 * put behind the last page. Key-value metadata is dropped: the writer's own copy of the Arrow schema serves no reader of a Delta table.
 */
export function joinParts(parts: readonly PartTail[], createdBy: string): JoinedFile {
  const footers = parts.map(footerOf);
  const pages = parts.map((part, i) => ({ start: MAGIC.length, end: endOfPages(part, footers[i]!) }));
  const tail: Uint8Array[] = [];
  let at = MAGIC.length;
  const groups: ThriftStruct[] = [];
  let rows = 0;
  footers.forEach((footer, i) => {
    for (const group of structs(footer, FILE.groups)) {
      moveGroup(group, at - MAGIC.length);
      for (const statistics of parts[i]!.bounds ?? []) addStatistics(group, statistics);
      for (const leaf of parts[i]!.unbounded ?? []) dropBounds(structs(group, GROUP.columns)[leaf]!);
      if (group.has(GROUP.ordinal)) group.get(GROUP.ordinal)!.value = groups.length;
      groups.push(group);
    }
    rows += Number(footer.get(FILE.rows)!.value);
    at += pages[i]!.end - pages[i]!.start;
  });
  const place = (bytes: Uint8Array): number => {
    tail.push(bytes);
    at += bytes.length;
    return at - bytes.length;
  };
  let shift = 0;
  footers.forEach((footer, i) => {
    for (const group of structs(footer, FILE.groups)) {
      structs(group, GROUP.columns).forEach((chunk, leaf) => {
        const added = parts[i]!.bounds?.find((each) => each.leaf === leaf)?.columnIndex;
        moveIndexes(chunk, parts[i]!, added, shift, place);
      });
    }
    shift += pages[i]!.end - pages[i]!.start;
  });
  const footer = footers[0]!;
  footer.get(FILE.rows)!.value = rows;
  (footer.get(FILE.groups)!.value as ThriftList).items.splice(0, Number.POSITIVE_INFINITY, ...groups);
  footer.delete(FILE.keyValues);
  footer.set(FILE.createdBy, { type: T.BINARY, value: new TextEncoder().encode(createdBy) });
  const body = writeThrift(footer);
  place(body);
  const length = new Uint8Array(4);
  new DataView(length.buffer).setUint32(0, body.length, true);
  place(length);
  place(MAGIC);
  return { pages, head: MAGIC, tail: concatBytes(tail), size: at };
}

/** The footer of a Parquet file from its last bytes. */
export function footerOf({ tail }: PartTail): ThriftStruct {
  const view = new DataView(tail.buffer, tail.byteOffset, tail.byteLength);
  const length = tail.length >= 8 ? view.getUint32(tail.length - 8, true) : Number.POSITIVE_INFINITY;
  const start = tail.length - 8 - length;
  if (start < 0)
    throw new TableError(
      'CORRUPT_DATA_FILE',
      'The footer of a Parquet file is longer than the bytes at hand.',
    );
  return readThrift(tail, start).struct;
}

/** The structs of a list field. */
export function structs(of: ThriftStruct, id: number): ThriftStruct[] {
  return ((of.get(id)?.value as ThriftList | undefined)?.items ?? []) as ThriftStruct[];
}

/** A copy of what stands behind a file's pages: enough to join it once its pages have left memory. */
export function tailOf(bytes: Uint8Array): Uint8Array {
  const part = { size: bytes.length, tail: bytes };
  return bytes.slice(endOfPages(part, footerOf(part)));
}

/** Where the pages of a file end: the first of page indexes and footer. */
function endOfPages(part: PartTail, footer: ThriftStruct): number {
  const view = new DataView(part.tail.buffer, part.tail.byteOffset, part.tail.byteLength);
  let end = part.size - 8 - view.getUint32(part.tail.length - 8, true);
  for (const group of structs(footer, FILE.groups))
    for (const chunk of structs(group, GROUP.columns))
      for (const id of [CHUNK.offsetIndex, CHUNK.columnIndex]) {
        const at = chunk.get(id)?.value;
        if (at !== undefined) end = Math.min(end, Number(at));
      }
  return end;
}

function moveGroup(group: ThriftStruct, by: number): void {
  move(group, GROUP.fileOffset, by);
  for (const chunk of structs(group, GROUP.columns)) {
    // A file offset of zero is how current writers leave out this deprecated field.
    if (Number(chunk.get(CHUNK.fileOffset)?.value ?? 0) !== 0) move(chunk, CHUNK.fileOffset, by);
    const meta = chunk.get(CHUNK.meta)!.value as ThriftStruct;
    for (const id of [META.dataPage, META.indexPage, META.dictionaryPage, META.bloomFilter])
      move(meta, id, by);
  }
}

function addStatistics(group: ThriftStruct, added: PartStatistics): void {
  const meta = structs(group, GROUP.columns)[added.leaf]!.get(CHUNK.meta)!.value as ThriftStruct;
  meta.set(META.statistics, { type: T.STRUCT, value: footerStatistics(added) });
}

function dropBounds(chunk: ThriftStruct): void {
  const meta = chunk.get(CHUNK.meta)!.value as ThriftStruct;
  const statistics = meta.get(META.statistics)?.value as ThriftStruct | undefined;
  // What is left is the count of NULLs.
  for (const id of statistics?.keys() ?? []) if (id !== STATISTICS.nulls) statistics!.delete(id);
  chunk.delete(CHUNK.columnIndex);
  chunk.delete(CHUNK.columnIndexLength);
}

/** The footer's `Statistics` of a column chunk. */
export function footerStatistics({ nulls, bounds }: Omit<PartStatistics, 'leaf'>): ThriftStruct {
  const value: ThriftStruct = new Map([[STATISTICS.nulls, { type: T.I64, value: nulls }]]);
  if (bounds?.max) value.set(STATISTICS.max, { type: T.BINARY, value: bounds.max });
  if (bounds) value.set(STATISTICS.min, { type: T.BINARY, value: bounds.min });
  if (bounds?.max) value.set(STATISTICS.maxExact, { type: T.TRUE, value: bounds.maxExact });
  if (bounds) value.set(STATISTICS.minExact, { type: T.TRUE, value: bounds.minExact });
  return value;
}

function moveIndexes(
  chunk: ThriftStruct,
  part: PartTail,
  added: Uint8Array | undefined,
  shift: number,
  place: (bytes: Uint8Array) => number,
): void {
  const bytesOf = (offset: number, length: number): Uint8Array | undefined => {
    const at = chunk.get(offset);
    if (!at) return undefined;
    const start = Number(at.value) - (part.size - part.tail.length);
    return part.tail.subarray(start, start + Number(chunk.get(length)!.value));
  };
  const columnIndex = bytesOf(CHUNK.columnIndex, CHUNK.columnIndexLength) ?? added;
  const offsetIndex = bytesOf(CHUNK.offsetIndex, CHUNK.offsetIndexLength);
  if (columnIndex) {
    chunk.set(CHUNK.columnIndex, { type: T.I64, value: place(columnIndex) });
    chunk.set(CHUNK.columnIndexLength, { type: T.I32, value: columnIndex.length });
  }
  if (!offsetIndex) return;
  const { struct } = readThrift(offsetIndex);
  for (const location of structs(struct, 1)) move(location, 1, shift);
  const moved = shift === 0 ? offsetIndex : writeThrift(struct);
  chunk.get(CHUNK.offsetIndex)!.value = place(moved);
  chunk.get(CHUNK.offsetIndexLength)!.value = moved.length;
}

function move(of: ThriftStruct, id: number, by: number): void {
  const field = of.get(id);
  if (field) field.value = Number(field.value) + by;
}
