import { type Allocate, bitAt, type Column, int32 } from '../parquet/encode-columns.js';

/** The rows of a column in another order, in new memory: row i of the result is row `order[i]`. */
export function gather(column: Column, order: Int32Array, allocate: Allocate): Column {
  const { shape } = column;
  const length = order.length;
  const { valid, nulls } =
    shape.kind === 'void' ? { valid: null, nulls: length } : gatherValid(column, order, allocate);
  const base = { shape, length, nulls, bit: 0, valid, values: null, offsets: null, children: [] };
  switch (shape.kind) {
    case 'void':
      return base;
    case 'fixed': {
      const values = allocate(length * shape.width);
      gatherFixed(column.values!, shape.width, order, values);
      return { ...base, values };
    }
    case 'bits': {
      const values = allocate((length + 7) >> 3).fill(0);
      const from = column.values!;
      for (let i = 0; i < length; i++)
        if (bitAt(from, column.bit + order[i]!)) values[i >> 3]! |= 1 << (i & 7);
      return { ...base, values };
    }
    case 'bytes': {
      const offsets = gatherOffsets(column.offsets!, order, allocate);
      const values = allocate(offsets[length]!);
      gatherBytes(column.values!, column.offsets!, order, values);
      return { ...base, offsets, values };
    }
    case 'list': {
      const offsets = gatherOffsets(column.offsets!, order, allocate);
      const items = new Int32Array(offsets[length]!);
      for (let i = 0, at = 0; i < length; i++) {
        const end = column.offsets![order[i]! + 1]!;
        for (let item = column.offsets![order[i]!]!; item < end; item++) items[at++] = item;
      }
      return { ...base, offsets, children: [gather(column.children[0]!, items, allocate)] };
    }
    case 'struct':
      return { ...base, children: column.children.map((child) => gather(child, order, allocate)) };
  }
}

/** Wide values move as 32-bit integers: a double's load and store may change the bits of a NaN, which here may be half an integer. */
function gatherFixed(from: Uint8Array, width: number, order: Int32Array, to: Uint8Array): void {
  const length = order.length;
  switch (width) {
    case 1:
      for (let i = 0; i < length; i++) to[i] = from[order[i]!]!;
      return;
    case 2: {
      const source = new Int16Array(from.buffer, from.byteOffset, from.byteLength >> 1);
      const target = new Int16Array(to.buffer, to.byteOffset, length);
      for (let i = 0; i < length; i++) target[i] = source[order[i]!]!;
      return;
    }
    case 4: {
      const source = int32(from);
      const target = int32(to);
      for (let i = 0; i < length; i++) target[i] = source[order[i]!]!;
      return;
    }
    case 8: {
      const source = int32(from);
      const target = int32(to);
      for (let i = 0, at = 0; i < length; i++, at += 2) {
        const row = order[i]! << 1;
        target[at] = source[row]!;
        target[at + 1] = source[row + 1]!;
      }
      return;
    }
    default: {
      const source = int32(from);
      const target = int32(to);
      const words = width >> 2;
      for (let i = 0, at = 0; i < length; i++) {
        const row = order[i]! * words;
        for (let word = 0; word < words; word++) target[at++] = source[row + word]!;
      }
    }
  }
}

function gatherOffsets(from: Int32Array, order: Int32Array, allocate: Allocate): Int32Array {
  const offsets = int32(allocate((order.length + 1) * 4));
  let at = 0;
  offsets[0] = 0;
  for (let i = 0; i < order.length; i++) {
    const row = order[i]!;
    at += from[row + 1]! - from[row]!;
    offsets[i + 1] = at;
  }
  return offsets;
}

/**
 * Short values move by words that may run over their end: what is written too much is overwritten by the next value. Only where a word would leave
 * the memory of either side, bytes move alone.
 */
function gatherBytes(from: Uint8Array, offsets: Int32Array, order: Int32Array, to: Uint8Array): void {
  const source = new DataView(from.buffer, from.byteOffset, from.byteLength);
  const target = new DataView(to.buffer, to.byteOffset, to.byteLength);
  const lastSource = from.byteLength - 8;
  const lastTarget = to.byteLength - 8;
  let at = 0;
  for (let i = 0; i < order.length; i++) {
    const row = order[i]!;
    let start = offsets[row]!;
    const end = offsets[row + 1]!;
    const next = at + end - start;
    if (end - start > 64) {
      to.set(from.subarray(start, end), at);
    } else if (end <= lastSource && next <= lastTarget) {
      for (; start < end; start += 4, at += 4) target.setInt32(at, source.getInt32(start, true), true);
    } else {
      while (start < end) to[at++] = from[start++]!;
    }
    at = next;
  }
}

function gatherValid(
  column: Column,
  order: Int32Array,
  allocate: Allocate,
): { valid: Uint8Array | null; nulls: number } {
  const from = column.valid;
  if (!from) return { valid: null, nulls: 0 };
  const length = order.length;
  const valid = allocate((length + 7) >> 3).fill(0);
  let count = 0;
  for (let i = 0; i < length; i++) {
    const bit = bitAt(from, column.bit + order[i]!);
    count += bit;
    valid[i >> 3]! |= bit << (i & 7);
  }
  return { valid, nulls: length - count };
}
