import {
  type Allocate,
  type Column,
  concatenate,
  measure,
  padded,
  type Range,
  type Shape,
} from '../parquet/encode-columns.js';
import { gather } from './gather.js';

/**
 * Rows as one stretch of memory that describes itself: a head of 32-bit words (rows, then for each column and its children in order: length, nulls,
 * where its bitmap, values and offsets start, and how long the values are; -1 for none), then the buffers. Positions count from the chunk's start,
 * so that a chunk may be sent to a thread, written to a file and read back elsewhere.
 */
export interface Chunk {
  readonly memory: ArrayBufferLike;
  readonly at: number;
  readonly bytes: number;
  readonly rows: number;
}

const HEAD_WORDS = 1;
const NODE_WORDS = 6;

/** Bytes that a chunk of these columns takes at most. */
export function measureChunk(shapes: readonly Shape[], ranges: readonly (readonly Range[])[]): number {
  return headBytes(shapes) + shapes.reduce((sum, shape, i) => sum + measure(shape, ranges[i]!), 0);
}

/** Copies ranges of rows, one list of ranges a column, into `memory` at `at`, which must have room as measured. */
export function packChunk(
  shapes: readonly Shape[],
  ranges: readonly (readonly Range[])[],
  rows: number,
  memory: ArrayBufferLike,
  at: number,
): Chunk {
  return layChunk(shapes, rows, memory, at, (allocate) =>
    shapes.map((shape, i) => concatenate(shape, ranges[i]!, allocate)),
  );
}

/** Copies the rows of columns in the order given into `memory` at `at`. */
export function orderChunk(
  columns: readonly Column[],
  order: Int32Array,
  memory: ArrayBufferLike,
  at: number,
): Chunk {
  const shapes = columns.map((column) => column.shape);
  return layChunk(shapes, order.length, memory, at, (allocate) =>
    columns.map((column) => gather(column, order, allocate)),
  );
}

/** The columns of a chunk, as views of its memory. */
export function openChunk(shapes: readonly Shape[], memory: ArrayBufferLike, at: number): Column[] {
  const head = new Int32Array(memory, at, headBytes(shapes) >> 2);
  let word = HEAD_WORDS;
  const open = (shape: Shape): Column => {
    const [length, nulls, valid, values, size, offsets] = head.subarray(
      word,
      word + NODE_WORDS,
    ) as unknown as number[];
    word += NODE_WORDS;
    return {
      shape,
      length: length!,
      nulls: nulls!,
      bit: 0,
      valid: valid! < 0 ? null : new Uint8Array(memory, at + valid!, (length! + 7) >> 3),
      values: values! < 0 ? null : new Uint8Array(memory, at + values!, size!),
      offsets: offsets! < 0 ? null : new Int32Array(memory, at + offsets!, length! + 1),
      children: 'children' in shape ? shape.children.map(open) : [],
    };
  };
  return shapes.map(open);
}

function layChunk(
  shapes: readonly Shape[],
  rows: number,
  memory: ArrayBufferLike,
  at: number,
  fill: (allocate: Allocate) => Column[],
): Chunk {
  let end = at + headBytes(shapes);
  const columns = fill((bytes) => {
    const start = end;
    end += padded(bytes);
    return new Uint8Array(memory, start, bytes);
  });
  const head = new Int32Array(memory, at, headBytes(shapes) >> 2);
  let word = HEAD_WORDS;
  head[0] = rows;
  const position = (view: ArrayBufferView | null): number => (view ? view.byteOffset - at : -1);
  const write = (column: Column): void => {
    const { length, nulls, valid, values, offsets } = column;
    head.set(
      [length, nulls, position(valid), position(values), values?.byteLength ?? 0, position(offsets)],
      word,
    );
    word += NODE_WORDS;
    for (const child of column.children) write(child);
  };
  for (const column of columns) write(column);
  return { memory, at, bytes: end - at, rows };
}

function headBytes(shapes: readonly Shape[]): number {
  const nodes = (shape: Shape): number =>
    'children' in shape ? shape.children.reduce((sum, child) => sum + nodes(child), 1) : 1;
  return padded((HEAD_WORDS + NODE_WORDS * shapes.reduce((sum, shape) => sum + nodes(shape), 0)) * 4);
}
