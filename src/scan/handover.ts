import { Buffer } from 'node:buffer';
import type { ColumnData } from '../parquet/column/assemble.js';
import type { Pool } from '../stage/pool.js';
import { discard } from './discard.js';
import type { RowsPart } from './file-rows.js';

/** Rows on their way between threads: all their memory is bytes [start, start + bytes) of one block. */
export interface Lot {
  readonly parts: readonly RowsPart[];
  readonly start: number;
  readonly bytes: number;
}

/** The usual size of a slab, and the largest: what is larger gets memory of its own, which goes over for good. */
const SLAB_BYTES = 8 << 20;
const LARGEST_SLAB = 32 << 20;
/** Slabs kept between jobs and scans. */
const KEPT_SLABS = 8;
const ALIGNMENT = 8;
/** Smaller memory is left to the garbage collector. */
const LEAST_DISCARDED = 1 << 15;

/**
 * Lays rows down in memory that threads share and use again and again. Memory sent over for good would have the garbage collectors of both threads count
 * it, and they then look through all they hold every few files.
 */
export class Outbox {
  /** All slabs, used or not, for the thread that asked. */
  readonly slabs: SharedArrayBuffer[];
  /** Blocks that go over for good. */
  readonly owned: ArrayBuffer[] = [];
  readonly #free: SharedArrayBuffer[];
  #open: SharedArrayBuffer | undefined;
  #at = 0;

  constructor(slabs: readonly SharedArrayBuffer[]) {
    this.slabs = [...slabs];
    this.#free = [...slabs];
  }

  /** Moves the parts; what they share, they share afterwards. Their memory is freed, but for what is `lent` to this thread. */
  add(parts: readonly RowsPart[], lent: ReadonlySet<ArrayBufferLike>): Lot {
    const { moved, start, bytes } = moveParts(parts, (size) => this.#room(size));
    const used = new Set<ArrayBuffer>();
    for (const { columns } of parts)
      for (const block of blocksOf(columns)) if (!lent.has(block)) used.add(block as ArrayBuffer);
    for (const block of used) if (block.byteLength >= LEAST_DISCARDED) discard(block);
    return { parts: moved, start, bytes };
  }

  #room(bytes: number): Room {
    if (bytes > LARGEST_SLAB) {
      const memory = new ArrayBuffer(bytes);
      this.owned.push(memory);
      return { memory, start: 0 };
    }
    if (this.#open === undefined || this.#at + bytes > this.#open.byteLength) {
      const fit = this.#free.findIndex(({ byteLength }) => byteLength >= bytes);
      this.#open = fit < 0 ? undefined : this.#free.splice(fit, 1)[0];
      this.#at = 0;
      if (this.#open === undefined) {
        this.#open = new SharedArrayBuffer(Math.max(SLAB_BYTES, (bytes + 0xfffff) & ~0xfffff));
        this.slabs.push(this.#open);
      }
    }
    const start = this.#at;
    this.#at += bytes;
    return { memory: this.#open, start };
  }
}

/** The rows of a lot in memory that is theirs alone, so that its slab can be used again. */
export function takeOver({ parts, start, bytes }: Lot): readonly RowsPart[] {
  const memory = memoryOf(parts);
  if (!(memory instanceof SharedArrayBuffer)) return parts;
  // Not zeroed: every byte that a column shows is copied.
  const own = Buffer.allocUnsafeSlow(bytes);
  own.set(new Uint8Array(memory, start, bytes));
  return parts.map((part) => moveViews(part, own.buffer, (view) => view.byteOffset - start));
}

const kept = new WeakMap<Pool, SharedArrayBuffer[]>();

/** Up to `count` slabs that nobody uses. */
export function takeSlabs(pool: Pool, count: number): SharedArrayBuffer[] {
  return kept.get(pool)?.splice(0, count) ?? [];
}

/** Gives slabs back; no thread may use them any more. */
export function giveSlabs(pool: Pool, slabs: readonly SharedArrayBuffer[]): void {
  const all = [...(kept.get(pool) ?? []), ...slabs];
  // The larger serve more files.
  all.sort((a, b) => b.byteLength - a.byteLength);
  kept.set(pool, all.slice(0, KEPT_SLABS));
}

/** Columns in one block of memory of their own, which is not zeroed first. */
export function ownColumns(columns: readonly ColumnData[]): readonly ColumnData[] {
  const block = (bytes: number) => ({ memory: Buffer.allocUnsafeSlow(bytes).buffer, start: 0 });
  return moveParts([{ columns, rows: 0 }], block).moved[0]!.columns;
}

interface Room {
  readonly memory: SharedArrayBuffer | ArrayBuffer;
  readonly start: number;
}

/** Copies parts to a place of as many bytes as they need; what they share, they share afterwards. */
function moveParts(
  parts: readonly RowsPart[],
  find: (bytes: number) => Room,
): { moved: RowsPart[]; start: number; bytes: number } {
  const places = new Map<ArrayBufferView, number>();
  let bytes = 0;
  const plan = (view: ArrayBufferView): void => {
    if (places.has(view)) return;
    places.set(view, bytes);
    bytes += aligned(view.byteLength);
  };
  for (const { columns } of parts) for (const column of columns) eachView(column, plan);
  const { memory, start } = find(bytes);
  for (const [view, place] of places) {
    const from = new Uint8Array(view.buffer, view.byteOffset, view.byteLength);
    new Uint8Array(memory, start + place, view.byteLength).set(from);
  }
  const moved = parts.map((part) => moveViews(part, memory, (view) => start + places.get(view)!));
  return { moved, start, bytes };
}

/** The blocks that columns stand in. */
export function blocksOf(columns: readonly ColumnData[]): Set<ArrayBufferLike> {
  const blocks = new Set<ArrayBufferLike>();
  for (const column of columns) eachView(column, ({ buffer }) => blocks.add(buffer));
  return blocks;
}

function eachView(column: ColumnData, visit: (view: ArrayBufferView) => void): void {
  for (const view of [column.validity, column.values, column.offsets]) if (view) visit(view);
  for (const child of column.children ?? []) eachView(child, visit);
}

function memoryOf(parts: readonly RowsPart[]): ArrayBufferLike | undefined {
  let memory: ArrayBufferLike | undefined;
  for (const { columns } of parts) {
    for (const column of columns) {
      eachView(column, ({ buffer }) => {
        memory = buffer;
      });
      if (memory) return memory;
    }
  }
  return undefined;
}

function moveViews(
  part: RowsPart,
  memory: ArrayBufferLike,
  placeOf: (view: ArrayBufferView) => number,
): RowsPart {
  const bytes = (view: Uint8Array | undefined) =>
    view && new Uint8Array(memory as ArrayBuffer, placeOf(view), view.length);
  const move = (column: ColumnData): ColumnData => {
    const { length, nullCount, validity, values, offsets, children } = column;
    return {
      length,
      nullCount,
      validity: bytes(validity),
      values: bytes(values),
      offsets: offsets && new Int32Array(memory as ArrayBuffer, placeOf(offsets), offsets.length),
      children: children?.map(move),
    };
  };
  return { rows: part.rows, columns: part.columns.map(move) };
}

function aligned(bytes: number): number {
  return (bytes + ALIGNMENT - 1) & -ALIGNMENT;
}
