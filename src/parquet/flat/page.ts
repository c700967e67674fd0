import { CODEC } from './codec.js';
import { corrupt, unsupported } from './fault.js';
import { THRIFT, ThriftReader } from './thrift.js';

/** One page of a column chunk: where its bytes are and how they are coded. */
export interface Page {
  readonly kind: 'dictionary' | 'v1' | 'v2';
  readonly values: number;
  readonly encoding: number;
  /** Positions of the page's data in the chunk. */
  readonly start: number;
  readonly end: number;
  readonly uncompressed: number;
  readonly definitionEncoding: number;
  readonly repetitionEncoding: number;
  /** Bytes of levels in front of a v2 page, never compressed. */
  readonly repetitionBytes: number;
  readonly definitionBytes: number;
  readonly compressed: boolean;
}

/** Bytes of levels in front of a page's values that are never compressed: those of version 2. */
export function bareLevels(page: Page): number {
  return page.kind === 'v2' ? page.repetitionBytes + page.definitionBytes : 0;
}

/** Whether a page stands in its chunk as it was before compression. */
export function isBare(page: Page, codec: number): boolean {
  if (codec === CODEC.uncompressed) return true;
  return page.kind === 'v2' && (!page.compressed || page.end - page.start === bareLevels(page));
}

/**
 * The pages of a chunk in file order, up to as many values; all there are without a number. Index pages are left out; pages that run past the chunk or
 * disagree with themselves are corrupt.
 */
export function readPages(chunk: Uint8Array, expectedValues?: number): Page[] {
  const pages: Page[] = [];
  const untilEnd = expectedValues === undefined || expectedValues === 0;
  let position = 0;
  let seen = 0;
  while (untilEnd ? position < chunk.length : seen < expectedValues) {
    const reader = new ThriftReader(chunk, position, chunk.length);
    const { page, end } = readPage(reader, chunk.length);
    position = end;
    if (page === undefined) continue;
    if (page.kind !== 'dictionary') seen += page.values;
    else if (pages.length > 0) throw corrupt('a dictionary page that is not the first');
    pages.push(page);
  }
  if (expectedValues !== undefined && seen !== expectedValues)
    throw corrupt('the pages of a column do not add up to its values');
  return pages;
}

function readPage(reader: ThriftReader, limit: number): { page: Page | undefined; end: number } {
  const head = {
    type: -1,
    uncompressed: -1,
    compressed: -1,
    values: 0,
    encoding: 0,
    definitionEncoding: 3,
    repetitionEncoding: 3,
    repetitionBytes: 0,
    definitionBytes: 0,
    isCompressed: true,
  };
  reader.struct((id, type) => {
    if (id === 1) head.type = reader.integer();
    else if (id === 2) head.uncompressed = reader.integer();
    else if (id === 3) head.compressed = reader.integer();
    else if (type === THRIFT.struct && (id === 5 || id === 7 || id === 8)) {
      reader.struct((field, fieldType) => {
        if (field === 1) head.values = reader.integer();
        else if (field === 2 && id !== 8) head.encoding = reader.integer();
        else if (field === 3 && id === 5) head.definitionEncoding = reader.integer();
        else if (field === 4 && id === 5) head.repetitionEncoding = reader.integer();
        else if (field === 4 && id === 8) head.encoding = reader.integer();
        else if (field === 5 && id === 8) head.definitionBytes = reader.integer();
        else if (field === 6 && id === 8) head.repetitionBytes = reader.integer();
        else if (field === 7 && id === 8) head.isCompressed = reader.boolean(fieldType);
        else reader.skip(fieldType);
      });
    } else reader.skip(type);
  });
  const start = reader.position;
  const end = start + head.compressed;
  if (head.compressed < 0 || head.uncompressed < 0 || head.values < 0 || end > limit)
    throw corrupt('a page runs past its column');
  if (head.repetitionBytes < 0 || head.definitionBytes < 0)
    throw corrupt('a page with levels of negative length');
  if (head.type === 1) return { page: undefined, end };
  const kind = head.type === 0 ? 'v1' : head.type === 2 ? 'dictionary' : head.type === 3 ? 'v2' : undefined;
  if (kind === undefined) throw unsupported(`page type ${head.type}`);
  const levels = head.repetitionBytes + head.definitionBytes;
  if (kind === 'v2' && (levels > head.compressed || levels > head.uncompressed))
    throw corrupt('a page with more levels than bytes');
  return {
    page: {
      kind,
      values: head.values,
      encoding: head.encoding,
      start,
      end,
      uncompressed: head.uncompressed,
      definitionEncoding: head.definitionEncoding,
      repetitionEncoding: head.repetitionEncoding,
      repetitionBytes: head.repetitionBytes,
      definitionBytes: head.definitionBytes,
      compressed: head.isCompressed,
    },
    end,
  };
}
