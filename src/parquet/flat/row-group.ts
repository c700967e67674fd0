import type { ByteRange } from '../source.js';
import { isDictionaryCoded } from './encoding.js';
import { corrupt, unsupported } from './fault.js';
import { THRIFT, type ThriftReader } from './thrift.js';

/** Where one leaf's pages of one row group are. */
export interface ChunkMeta {
  readonly codec: number;
  readonly values: number;
  readonly start: number;
  readonly length: number;
  readonly uncompressed: number;
  /** The encodings that the footer names, one bit each by their number in the format. */
  readonly encodings: number;
  readonly statistics: RawStatistics | undefined;
  /** How many data pages are coded by the dictionary, where the footer says; writers give up on a dictionary once and for all. */
  readonly dictionaryPages?: number | undefined;
  /** Where the page index of the chunk is, if anywhere: the places of its pages, and their bounds. */
  readonly pageIndex?: { readonly places: ByteRange; readonly bounds: ByteRange | undefined } | undefined;
}

/** Statistics as the file has them: undecoded, and only as good as their writer. */
export interface RawStatistics {
  /** `min_value` and `max_value`, or `min` and `max` of old files with `legacy`. */
  readonly min?: Uint8Array | undefined;
  readonly max?: Uint8Array | undefined;
  readonly nullCount?: number | undefined;
  /** They come from the deprecated fields, whose order is only right for signed numbers. */
  readonly legacy?: boolean;
}

export interface RowGroupMeta {
  readonly rows: number;
  readonly chunks: readonly ChunkMeta[];
}

/** Reads a row group of a footer; the numbers of its physical types are added to `types`. Throws `FlatFault` for what lies outside the file. */
export function readRowGroup(reader: ThriftReader, types: number[][], fileSize: number): RowGroupMeta {
  const chunks: ChunkMeta[] = [];
  const kinds: number[] = [];
  let rows = 0;
  reader.struct((id, type) => {
    if (id === 1 && type === THRIFT.list) reader.list(() => chunks.push(readChunk(reader, kinds, fileSize)));
    else if (id === 3) rows = reader.integer();
    else reader.skip(type);
  });
  if (rows < 0) throw corrupt('a row group of negative size');
  types.push(kinds);
  return { rows, chunks };
}

function readChunk(reader: ThriftReader, kinds: number[], fileSize: number): ChunkMeta {
  let kind = -1;
  let codec = 0;
  let values = 0;
  let uncompressed = 0;
  let length = 0;
  let dataOffset = 0;
  let dictionaryOffset = 0;
  let encodings = 0;
  let statistics: RawStatistics | undefined;
  let dictionaryPages: number | undefined;
  // Offset and length of the offset index, then of the column index.
  const index = [0, 0, 0, 0];
  reader.struct((id, type) => {
    if (id === 1) throw unsupported('column chunk in another file');
    if (id >= 4 && id <= 7) {
      index[id - 4] = reader.integer();
      return;
    }
    if (id !== 3 || type !== THRIFT.struct) return reader.skip(type);
    reader.struct((field, fieldType) => {
      if (field === 1) kind = reader.integer();
      else if (field === 2 && fieldType === THRIFT.list) {
        reader.list(() => {
          encodings |= 1 << (reader.integer() & 31);
        });
      } else if (field === 4) codec = reader.integer();
      else if (field === 5) values = reader.integer();
      else if (field === 6) uncompressed = reader.integer();
      else if (field === 7) length = reader.integer();
      else if (field === 9) dataOffset = reader.integer();
      else if (field === 11) dictionaryOffset = reader.integer();
      else if (field === 12 && fieldType === THRIFT.struct) statistics = readStatistics(reader);
      else if (field === 13 && fieldType === THRIFT.list) dictionaryPages = readDictionaryPages(reader);
      else reader.skip(fieldType);
    });
  });
  const start = dictionaryOffset > 0 && dictionaryOffset < dataOffset ? dictionaryOffset : dataOffset;
  if (start < 0 || length < 0 || values < 0 || start + length > fileSize)
    throw corrupt('a column chunk lies outside the file');
  kinds.push(kind);
  const places = indexRange(index[0]!, index[1]!, fileSize);
  const pageIndex = places && { places, bounds: indexRange(index[2]!, index[3]!, fileSize) };
  return { codec, values, start, length, uncompressed, encodings, statistics, dictionaryPages, pageIndex };
}

/** The data pages among the numbers of pages by type and encoding that are coded by the dictionary. */
function readDictionaryPages(reader: ThriftReader): number {
  let pages = 0;
  reader.list(() => {
    const of = { type: -1, encoding: -1, count: 0 };
    reader.struct((id, type) => {
      if (id === 1) of.type = reader.integer();
      else if (id === 2) of.encoding = reader.integer();
      else if (id === 3) of.count = reader.integer();
      else reader.skip(type);
    });
    const isData = of.type === 0 || of.type === 3;
    if (isData && isDictionaryCoded(of.encoding)) pages += of.count;
  });
  return pages;
}

/** An index that is not in the file is none: it only helps. */
function indexRange(start: number, length: number, fileSize: number): ByteRange | undefined {
  return start > 0 && length > 0 && start + length <= fileSize ? { start, end: start + length } : undefined;
}

function readStatistics(reader: ThriftReader): RawStatistics {
  let nullCount: number | undefined;
  const old: { min?: Uint8Array; max?: Uint8Array } = {};
  const ordered: { min?: Uint8Array; max?: Uint8Array } = {};
  reader.struct((id, type) => {
    if (id === 1 && type === THRIFT.binary) old.max = reader.binary().slice();
    else if (id === 2 && type === THRIFT.binary) old.min = reader.binary().slice();
    else if (id === 3) nullCount = reader.integer();
    else if (id === 5 && type === THRIFT.binary) ordered.max = reader.binary().slice();
    else if (id === 6 && type === THRIFT.binary) ordered.min = reader.binary().slice();
    else reader.skip(type);
  });
  const legacy = ordered.min === undefined && ordered.max === undefined;
  return { ...(legacy ? old : ordered), nullCount, legacy };
}
