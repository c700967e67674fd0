/** 65,536 positions that share their upper bits. `values`: ascending, or start and length minus one by turns for runs; `bits`: 8 kB. */
type Container =
  | { readonly kind: 'array'; readonly base: number; readonly values: Uint16Array }
  | { readonly kind: 'runs'; readonly base: number; readonly values: Uint16Array }
  | { readonly kind: 'bitmap'; readonly base: number; readonly bits: Uint8Array };

const MAGIC = 1_681_511_377;
const WITHOUT_RUNS = 12_346;
const WITH_RUNS = 12_347;
/** Bitmaps with runs and fewer containers than this leave the offsets out. */
const OFFSETS_FROM = 4;
const ARRAY_LIMIT = 4096;
const BITMAP_BYTES = 8192;
/** A container's own place, by the upper bits of its positions. */
const CONTAINER = 65_536;

/**
 * A set of 64-bit positions as deletion vectors store it (protocol: Deletion Vector Format; RoaringFormatSpec, 64-bit portable form). It stays in its
 * compressed form: memory follows the size of the bytes, whatever number of positions they stand for.
 */
export class RoaringBitmap {
  readonly cardinality: number;
  /** One more than the largest position; 0 for the empty set. */
  readonly end: number;
  readonly #containers: readonly Container[];

  private constructor(containers: readonly Container[], cardinality: number) {
    this.#containers = containers;
    this.cardinality = cardinality;
    const last = containers.at(-1);
    this.end = last === undefined ? 0 : last.base + endOf(last);
  }

  /** Reads the serialised form, magic number included. Throws `RangeError` where the bytes are none. */
  static parse(bytes: Uint8Array): RoaringBitmap {
    const cursor = new Cursor(bytes);
    const magic = cursor.u32();
    if (magic !== MAGIC) throw new RangeError(`magic number ${magic} instead of ${MAGIC}`);
    const buckets = cursor.u32() + cursor.u32() * 2 ** 32;
    const containers: Container[] = [];
    let cardinality = 0;
    let previous = -1;
    for (let i = 0; i < buckets; i++) {
      const key = cursor.u32();
      if (key <= previous || key >= 2 ** 20) throw new RangeError('buckets out of order or out of range');
      previous = key;
      cardinality += readBucket(cursor, key * 2 ** 32, containers);
    }
    if (cursor.at !== bytes.length) throw new RangeError('bytes after the end of the bitmap');
    return new RoaringBitmap(containers, cardinality);
  }

  /** Sets `flags[i]` to `value` for every position `start + i` of the set that lies within the flags; returns how many there are. */
  mark(start: number, flags: Uint8Array, value: number): number {
    const end = start + flags.length;
    let marked = 0;
    for (const container of this.#containers) {
      if (container.base + CONTAINER <= start || container.base >= end) continue;
      const shift = container.base - start;
      const set = (first: number, last: number) => {
        const from = Math.max(0, shift + first);
        const to = Math.min(flags.length, shift + last + 1);
        if (from >= to) return;
        flags.fill(value, from, to);
        marked += to - from;
      };
      if (container.kind === 'bitmap') {
        for (let low = 0; low < CONTAINER; low++) {
          if (container.bits[low >> 3]! & (1 << (low & 7))) set(low, low);
        }
      } else if (container.kind === 'array') for (const low of container.values) set(low, low);
      else {
        const { values } = container;
        for (let i = 0; i < values.length; i += 2) set(values[i]!, values[i]! + values[i + 1]!);
      }
    }
    return marked;
  }
}

/** Reads one 32-bit bitmap and returns its cardinality. */
function readBucket(cursor: Cursor, base: number, into: Container[]): number {
  const cookie = cursor.u32();
  const withRuns = (cookie & 0xffff) === WITH_RUNS;
  if (!withRuns && cookie !== WITHOUT_RUNS) throw new RangeError(`cookie ${cookie} of no known kind`);
  const size = withRuns ? (cookie >>> 16) + 1 : cursor.u32();
  if (size > CONTAINER) throw new RangeError(`${size} containers in one bucket`);
  const runFlags = withRuns ? cursor.bytes((size + 7) >> 3) : new Uint8Array((size + 7) >> 3);
  const heads = cursor.u16s(size * 2);
  if (!withRuns || size >= OFFSETS_FROM) cursor.bytes(size * 4);
  let total = 0;
  for (let i = 0; i < size; i++) {
    const key = heads[2 * i]!;
    const cardinality = heads[2 * i + 1]! + 1;
    if (i > 0 && key <= heads[2 * i - 2]!) throw new RangeError('containers out of order');
    const container = readContainer(cursor, base + key * CONTAINER, cardinality, isSet(runFlags, i));
    if (countOf(container) !== cardinality)
      throw new RangeError('container of another cardinality than its head says');
    into.push(container);
    total += cardinality;
  }
  return total;
}

function readContainer(cursor: Cursor, base: number, cardinality: number, isRuns: boolean): Container {
  if (isRuns) return { kind: 'runs', base, values: checkedRuns(cursor.u16s(cursor.u16s(1)[0]! * 2)) };
  if (cardinality > ARRAY_LIMIT) return { kind: 'bitmap', base, bits: cursor.bytes(BITMAP_BYTES) };
  const values = cursor.u16s(cardinality);
  for (let i = 1; i < values.length; i++) {
    if (values[i]! <= values[i - 1]!) throw new RangeError('positions out of order');
  }
  return { kind: 'array', base, values };
}

function checkedRuns(values: Uint16Array): Uint16Array {
  let next = 0;
  for (let i = 0; i < values.length; i += 2) {
    if (values[i]! < next) throw new RangeError('runs out of order');
    next = values[i]! + values[i + 1]! + 1;
    if (next > CONTAINER) throw new RangeError('run past the end of its container');
  }
  return values;
}

function countOf(container: Container): number {
  if (container.kind === 'array') return container.values.length;
  let count = 0;
  if (container.kind === 'runs') {
    for (let i = 1; i < container.values.length; i += 2) count += container.values[i]! + 1;
  } else for (const byte of container.bits) for (let bits = byte; bits !== 0; bits &= bits - 1) count++;
  return count;
}

function endOf(container: Container): number {
  if (container.kind === 'array') return container.values.at(-1)! + 1;
  if (container.kind === 'runs') return container.values.at(-2)! + container.values.at(-1)! + 1;
  let last = CONTAINER - 1;
  while (last > 0 && !isSet(container.bits, last)) last--;
  return last + 1;
}

function isSet(bits: Uint8Array, index: number): boolean {
  return (bits[index >> 3]! & (1 << (index & 7))) !== 0;
}

/** Little-endian reads that never leave the bytes. */
class Cursor {
  at = 0;
  readonly #bytes: Uint8Array;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  bytes(length: number): Uint8Array {
    if (this.at + length > this.#bytes.length) throw new RangeError('bitmap past the end of its bytes');
    this.at += length;
    return this.#bytes.subarray(this.at - length, this.at);
  }

  u32(): number {
    const b = this.bytes(4);
    return (b[0]! | (b[1]! << 8) | (b[2]! << 16) | (b[3]! << 24)) >>> 0;
  }

  u16s(count: number): Uint16Array {
    const bytes = this.bytes(count * 2);
    return Uint16Array.from({ length: count }, (_, i) => bytes[2 * i]! | (bytes[2 * i + 1]! << 8));
  }
}
