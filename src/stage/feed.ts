import type * as arrow from 'apache-arrow';
import { TableError } from '../errors.js';
import { columnOf, type Range, type Shape, shapeOf } from '../parquet/encode-columns.js';
import type { DataType } from '../schema/types.js';
import { type Chunk, measureChunk, packChunk } from './chunk.js';
import { SLAB_BYTES } from './memory.js';

export type BatchSource = AsyncIterable<arrow.RecordBatch> | Iterable<arrow.RecordBatch>;

/** Rows gathered from batches until they are worth a slab, not copied yet. */
export class Gathering {
  readonly #shapes: readonly Shape[];
  #ranges: Range[][];
  rows = 0;
  bytes = 0;

  constructor(types: readonly DataType[]) {
    this.#shapes = types.map(shapeOf);
    this.#ranges = types.map(() => []);
  }

  /** Adds rows of a batch and yields whenever a slab is full: then the caller takes what is here before it goes on. */
  *add(batch: arrow.RecordBatch): Generator<void> {
    const data = batch.data.children;
    if (data.length !== this.#shapes.length) {
      throw new TableError(
        'INTERNAL',
        `A batch has ${data.length} columns where the schema has ${this.#shapes.length}.`,
      );
    }
    const columns = this.#shapes.map((shape, i) => columnOf(data[i]!, shape));
    const rangesAt = (start: number, length: number): Range[][] =>
      columns.map((column) => [{ column, start, length }]);
    for (let start = 0; start < batch.numRows; ) {
      const room = SLAB_BYTES - this.bytes;
      let length = batch.numRows - start;
      let bytes = measureChunk(this.#shapes, rangesAt(start, length));
      if (bytes > room && this.rows > 0 && room < SLAB_BYTES / 8) {
        yield;
        continue;
      }
      while (bytes > room && length > 1) {
        length = Math.max(1, Math.min(length - 1, Math.floor((length * room * 0.98) / bytes)));
        bytes = measureChunk(this.#shapes, rangesAt(start, length));
      }
      if (bytes > room && this.rows > 0) {
        yield;
        continue;
      }
      this.#ranges.forEach((ranges, i) => {
        ranges.push({ column: columns[i]!, start, length });
      });
      this.rows += length;
      this.bytes += bytes;
      start += length;
    }
  }

  /** Copies what was gathered into memory of at least `bytes`, and begins anew. */
  take(memory: ArrayBufferLike): Chunk {
    const chunk = packChunk(this.#shapes, this.#ranges, this.rows, memory, 0);
    this.#ranges = this.#shapes.map(() => []);
    this.rows = 0;
    this.bytes = 0;
    return chunk;
  }
}
