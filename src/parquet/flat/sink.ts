import { type BytesSink, bytesSink } from './bytes-sink.js';
import type { FlatValues } from './column.js';
import { decodeDelta } from './delta.js';
import { ENCODING, isDictionaryCoded } from './encoding.js';
import { corrupt, unsupported } from './fault.js';
import type { Leaf } from './footer.js';
import { decodeHybrid } from './rle.js';

/** Takes the pages of one chunk in order and gives its values. */
export interface Sink {
  dictionary(start: number, end: number, values: number): void;
  /** `present` of the `count` entries from `entry` on hold a value in the slab's [start, end). */
  page(
    encoding: number,
    start: number,
    end: number,
    entry: number,
    count: number,
    present: number,
    definition: Uint8Array | undefined,
  ): void;
  finish(): FlatValues;
}

export function openSink(leaf: Leaf, entries: number, slab: Uint8Array): Sink | BytesSink {
  switch (leaf.physical) {
    case 'BYTE_ARRAY':
      return bytesSink(leaf, entries, slab);
    case 'BOOLEAN':
      return booleanSink(leaf, entries, slab);
    case 'INT32': {
      const values = new Int32Array(entries);
      return fixedSink(leaf, entries, slab, 4, new Uint8Array(values.buffer), { kind: 'int32', values });
    }
    case 'INT64': {
      const values = new BigInt64Array(entries);
      return fixedSink(leaf, entries, slab, 8, new Uint8Array(values.buffer), { kind: 'int64', values });
    }
    case 'FLOAT': {
      const values = new Float32Array(entries);
      return fixedSink(leaf, entries, slab, 4, new Uint8Array(values.buffer), { kind: 'float', values });
    }
    case 'DOUBLE': {
      const values = new Float64Array(entries);
      return fixedSink(leaf, entries, slab, 8, new Uint8Array(values.buffer), { kind: 'double', values });
    }
    default: {
      if (leaf.width * entries > 2 ** 31 - 1) throw corrupt('a fixed column larger than memory');
      const out = new Uint8Array(leaf.width * entries);
      return fixedSink(leaf, entries, slab, leaf.width, out, { kind: 'fixed', slab: out, width: leaf.width });
    }
  }
}

function fixedSink(
  leaf: Leaf,
  entries: number,
  slab: Uint8Array,
  width: number,
  out: Uint8Array,
  result: FlatValues,
): Sink {
  let table: Uint8Array | undefined;
  let codes: Int32Array | undefined;
  return {
    dictionary(start, end, values) {
      if (values * width > end - start) throw corrupt('a dictionary ends early');
      table = slab.subarray(start, start + values * width);
    },
    page(encoding, start, end, entry, count, present, definition) {
      if (encoding === ENCODING.plain) {
        if (present * width > end - start) throw corrupt('a page ends early');
        out.set(slab.subarray(start, start + present * width), entry * width);
      } else if (isDictionaryCoded(encoding)) {
        // A chunk of nulls alone may name a dictionary and have none.
        if (table === undefined && present === 0) table = new Uint8Array(0);
        if (table === undefined) throw corrupt('a dictionary-coded page without a dictionary');
        codes ??= new Int32Array(entries);
        decodeCodes(slab, start, end, codes, present, width === 0 ? 0 : table.length / width);
        gather(table, width, codes, present, out, entry);
      } else if (
        encoding === ENCODING.deltaBinaryPacked &&
        (result.kind === 'int32' || result.kind === 'int64')
      ) {
        const view = new DataView(out.buffer);
        decodeDelta(slab, start, end, present, (value, index) => {
          if (width === 8) view.setBigInt64((entry + index) * 8, value, true);
          else view.setInt32((entry + index) * 4, Number(BigInt.asIntN(32, value)), true);
        });
      } else {
        throw unsupported(`encoding ${encoding}`);
      }
      if (present < count && definition !== undefined)
        spread(out, width, entry, count, present, definition, leaf.maxDefinition);
    },
    finish: () => result,
  };
}

function booleanSink(leaf: Leaf, entries: number, slab: Uint8Array): Sink {
  const values = new Uint8Array(entries);
  return {
    dictionary() {
      throw corrupt('a dictionary of booleans');
    },
    page(encoding, start, end, entry, count, present, definition) {
      if (encoding === ENCODING.plain) {
        if ((present + 7) >> 3 > end - start) throw corrupt('a page ends early');
        for (let i = 0; i < present; i++)
          values[entry + i] = ((slab[start + (i >> 3)] as number) >> (i & 7)) & 1;
      } else if (encoding === ENCODING.rle) {
        if (start + 4 > end) throw corrupt('a page ends early');
        decodeHybrid(slab, start + 4, end, 1, values, entry, present);
      } else {
        throw unsupported(`encoding ${encoding}`);
      }
      if (present < count && definition !== undefined)
        spread(values, 1, entry, count, present, definition, leaf.maxDefinition);
    },
    finish: () => ({ kind: 'boolean', values }),
  };
}

/** Reads `count` dictionary codes of a page into the front of `codes`; each is below `size`. */
export function decodeCodes(
  slab: Uint8Array,
  start: number,
  end: number,
  codes: Int32Array,
  count: number,
  size: number,
  at = 0,
): void {
  if (count === 0) return;
  if (start >= end) throw corrupt('a page ends early');
  const width = slab[start] as number;
  if (width > 32) throw corrupt('dictionary codes of an impossible bit width');
  decodeHybrid(slab, start + 1, end, width, codes, at, count);
  for (let i = at, stop = at + count; i < stop; i++)
    if ((codes[i] as number) >>> 0 >= size) throw corrupt('a dictionary code outside its dictionary');
}

function gather(
  table: Uint8Array,
  width: number,
  codes: Int32Array,
  count: number,
  out: Uint8Array,
  entry: number,
): void {
  if (width === 8) {
    const from = aligned(table);
    const words = new Int32Array(from.buffer, from.byteOffset, from.length >> 2);
    const target = new Int32Array(out.buffer, out.byteOffset, out.length >> 2);
    for (let i = 0, t = entry * 2; i < count; i++, t += 2) {
      const at = (codes[i] as number) * 2;
      target[t] = words[at] as number;
      target[t + 1] = words[at + 1] as number;
    }
    return;
  }
  for (let i = 0, t = entry * width; i < count; i++) {
    const at = (codes[i] as number) * width;
    for (let b = 0; b < width; b++) out[t++] = table[at + b] as number;
  }
}

function aligned(bytes: Uint8Array): Uint8Array {
  return bytes.byteOffset % 4 === 0 ? bytes : new Uint8Array(bytes);
}

/** Moves `present` dense values at the front of a page's places to the entries that are there, from the back so that nothing is overwritten early. */
function spread(
  out: Uint8Array,
  width: number,
  entry: number,
  count: number,
  present: number,
  definition: Uint8Array,
  maximum: number,
): void {
  let from = (entry + present) * width;
  for (let i = entry + count - 1; i >= entry; i--) {
    const to = i * width;
    if (definition[i] === maximum) {
      from -= width;
      if (from !== to) out.copyWithin(to, from, from + width);
    } else {
      out.fill(0, to, to + width);
    }
  }
}
