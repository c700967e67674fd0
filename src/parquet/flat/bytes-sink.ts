import type { ByteValues, FlatValues } from './column.js';
import { decodeDeltaLengths } from './delta.js';
import { ENCODING, isDictionaryCoded } from './encoding.js';
import { corrupt, unsupported } from './fault.js';
import type { Leaf } from './footer.js';
import { decodeCodes, type Sink } from './sink.js';

export type BytesSink = Sink;

/**
 * The sink of BYTE_ARRAY columns. While every page is dictionary-coded only the codes are kept; the first page that is not turns them into spans,
 * which point into the dictionary's own bytes, so that no value is copied either way.
 */
export function bytesSink(leaf: Leaf, entries: number, slab: Uint8Array): BytesSink {
  let dictionary: ByteValues | undefined;
  let codes: Int32Array | undefined;
  let starts: Int32Array | undefined;
  let lengths: Int32Array | undefined;
  let done = 0;

  const useSpans = (): { starts: Int32Array; lengths: Int32Array } => {
    if (starts !== undefined && lengths !== undefined) return { starts, lengths };
    starts = new Int32Array(entries);
    lengths = new Int32Array(entries);
    if (codes !== undefined && dictionary !== undefined) {
      resolve(codes, 0, done, dictionary, starts, lengths, 0);
    }
    return { starts, lengths };
  };

  return {
    dictionary(start, end, values) {
      if (values > end - start) throw corrupt('a dictionary ends early');
      const dictionaryStarts = new Int32Array(values);
      const dictionaryLengths = new Int32Array(values);
      readPlain(slab, start, end, dictionaryStarts, dictionaryLengths, 0, values);
      dictionary = { slab, starts: dictionaryStarts, lengths: dictionaryLengths };
    },
    page(encoding, start, end, entry, count, present, definition) {
      if (isDictionaryCoded(encoding)) {
        // A chunk of nulls alone may name a dictionary and have none.
        if (dictionary === undefined && present === 0)
          dictionary = { slab, starts: new Int32Array(0), lengths: new Int32Array(0) };
        if (dictionary === undefined) throw corrupt('a dictionary-coded page without a dictionary');
        codes ??= new Int32Array(entries);
        decodeCodes(slab, start, end, codes, present, dictionary.starts.length, entry);
        if (present < count && definition !== undefined)
          spreadCodes(codes, entry, count, present, definition, leaf.maxDefinition);
        if (starts !== undefined && lengths !== undefined)
          resolve(codes, entry, count, dictionary, starts, lengths, entry);
      } else {
        const spans = useSpans();
        if (encoding === ENCODING.plain)
          readPlain(slab, start, end, spans.starts, spans.lengths, entry, present);
        else if (encoding === ENCODING.deltaLengthByteArray)
          readDeltaLength(slab, start, end, spans.starts, spans.lengths, entry, present);
        else throw unsupported(`encoding ${encoding}`);
        if (present < count && definition !== undefined)
          spreadSpans(spans.starts, spans.lengths, entry, count, present, definition, leaf.maxDefinition);
      }
      done = entry + count;
    },
    finish(): FlatValues {
      if (starts === undefined && codes !== undefined && dictionary !== undefined)
        return { kind: 'codes', codes, dictionary };
      const spans = useSpans();
      return { kind: 'bytes', slab, starts: spans.starts, lengths: spans.lengths };
    },
  };
}

function readPlain(
  slab: Uint8Array,
  start: number,
  end: number,
  starts: Int32Array,
  lengths: Int32Array,
  at: number,
  count: number,
): void {
  let position = start;
  for (let i = at, stop = at + count; i < stop; i++) {
    if (position + 4 > end) throw corrupt('a byte array runs past its page');
    const length =
      (slab[position] as number) |
      ((slab[position + 1] as number) << 8) |
      ((slab[position + 2] as number) << 16) |
      ((slab[position + 3] as number) << 24);
    position += 4;
    if (length < 0 || length > end - position) throw corrupt('a byte array runs past its page');
    starts[i] = position;
    lengths[i] = length;
    position += length;
  }
}

function readDeltaLength(
  slab: Uint8Array,
  start: number,
  end: number,
  starts: Int32Array,
  lengths: Int32Array,
  at: number,
  count: number,
): void {
  const head = decodeDeltaLengths(slab, start, end, count);
  let position = head.position;
  for (let i = 0; i < count; i++) {
    const length = head.lengths[i] as number;
    if (length > end - position) throw corrupt('a byte array runs past its page');
    starts[at + i] = position;
    lengths[at + i] = length;
    position += length;
  }
}

function resolve(
  codes: Int32Array,
  from: number,
  count: number,
  dictionary: ByteValues,
  starts: Int32Array,
  lengths: Int32Array,
  at: number,
): void {
  for (let i = 0; i < count; i++) {
    const code = codes[from + i] as number;
    starts[at + i] = code < 0 ? 0 : (dictionary.starts[code] as number);
    lengths[at + i] = code < 0 ? -1 : (dictionary.lengths[code] as number);
  }
}

function spreadCodes(
  codes: Int32Array,
  entry: number,
  count: number,
  present: number,
  definition: Uint8Array,
  maximum: number,
): void {
  let from = entry + present - 1;
  for (let i = entry + count - 1; i >= entry; i--)
    codes[i] = definition[i] === maximum ? (codes[from--] as number) : -1;
}

function spreadSpans(
  starts: Int32Array,
  lengths: Int32Array,
  entry: number,
  count: number,
  present: number,
  definition: Uint8Array,
  maximum: number,
): void {
  let from = entry + present - 1;
  for (let i = entry + count - 1; i >= entry; i--) {
    if (definition[i] === maximum) {
      starts[i] = starts[from] as number;
      lengths[i] = lengths[from--] as number;
    } else {
      starts[i] = 0;
      lengths[i] = -1;
    }
  }
}
