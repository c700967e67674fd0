import type { Data, RecordBatch } from 'apache-arrow';
import { columnOf, type Range, type Shape, shapeOf } from '../parquet/encode-columns.js';
import type { Context } from '../runtime/context.js';
import type { StructType } from '../schema/types.js';
import { measureChunk, openChunk, packChunk } from '../stage/chunk.js';
import { SpillFile } from '../stage/spill.js';
import { joinBatches, plainColumn, type Table } from './columns.js';

/** Rows of a part on the disk, about. */
const PART_ROWS = 65_536;
/** Parts read back from the disk that are kept. */
const KEPT_PARTS = 8;

interface Part {
  /** Number of its first row. */
  readonly start: number;
  readonly rows: number;
  readonly held: Table | { readonly at: number; readonly bytes: number };
}

/**
 * The rows of a source that is read more than once: in memory, as one part, when they fit into `memory` bytes, else in parts on the local disk. Close it
 * when done; a process that ends before leaves nothing behind.
 */
export class Spool {
  readonly schema: StructType;
  readonly #ctx: Context;
  readonly #memory: number;
  readonly #shapes: readonly Shape[];
  readonly #parts: Part[] = [];
  readonly #kept = new Map<number, Promise<Table>>();
  #pending: RecordBatch[] = [];
  #pendingRows = 0;
  #pendingBytes = 0;
  #file: SpillFile | undefined;
  #rows = 0;

  constructor(schema: StructType, ctx: Context, memory: number) {
    this.schema = schema;
    this.#ctx = ctx;
    this.#memory = memory;
    this.#shapes = schema.fields.map((field) => shapeOf(field.dataType));
  }

  /** Rows taken so far. */
  get rows(): number {
    return this.#rows + this.#pendingRows;
  }

  /** The number of parts; known after `end`. */
  get parts(): number {
    return this.#parts.length;
  }

  /** The number of a part's first row. */
  startOf(part: number): number {
    return this.#parts[part]!.start;
  }

  /** The part that a row is in. */
  partOf(row: number): number {
    let low = 0;
    let high = this.#parts.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (this.#parts[middle]!.start <= row) low = middle;
      else high = middle - 1;
    }
    return low;
  }

  /** Takes the rows of a batch of the schema's Arrow types. */
  async add(batch: RecordBatch): Promise<void> {
    this.#pending.push(batch);
    this.#pendingRows += batch.numRows;
    this.#pendingBytes += measureChunk(this.#shapes, this.#rangesOf([batch]));
    if (this.#file ? this.#pendingRows >= PART_ROWS : this.#pendingBytes > this.#memory) await this.#spill();
  }

  /** No more rows come. */
  async end(): Promise<void> {
    if (this.#pendingRows === 0) return;
    if (this.#file) return this.#spill();
    const held = joinBatches(this.#pending, this.schema);
    this.#parts.push({ start: 0, rows: held.rows, held });
    this.#rows = held.rows;
    this.#forgetPending();
  }

  /** The rows of one part. */
  part(index: number): Promise<Table> {
    const { held, rows } = this.#parts[index]!;
    if ('columns' in held) return Promise.resolve(held);
    const known = this.#kept.get(index);
    if (known) return known;
    const read = this.#file!.read(held.at, held.bytes).then((bytes) => ({
      rows,
      columns: openChunk(this.#shapes, bytes.buffer, bytes.byteOffset).map(plainColumn),
    }));
    this.#kept.set(index, read);
    if (this.#kept.size > KEPT_PARTS) this.#kept.delete(this.#kept.keys().next().value!);
    return read;
  }

  async close(): Promise<void> {
    this.#kept.clear();
    this.#forgetPending();
    await this.#file?.close();
  }

  #forgetPending(): void {
    this.#pending = [];
    this.#pendingRows = 0;
    this.#pendingBytes = 0;
  }

  /** Moves what is pending to the disk, in parts of a bounded number of rows. */
  async #spill(): Promise<void> {
    this.#file ??= await SpillFile.create();
    let part: RecordBatch[] = [];
    let rows = 0;
    const write = async (): Promise<void> => {
      const ranges = this.#rangesOf(part);
      const memory = new ArrayBuffer(measureChunk(this.#shapes, ranges));
      const { bytes } = packChunk(this.#shapes, ranges, rows, memory, 0);
      const at = await this.#file!.write(new Uint8Array(memory, 0, bytes));
      this.#ctx.emit({ type: 'spilled', bytes });
      this.#parts.push({ start: this.#rows, rows, held: { at, bytes } });
      this.#rows += rows;
      part = [];
      rows = 0;
    };
    const pending = this.#pending;
    this.#forgetPending();
    for (const batch of pending) {
      part.push(batch);
      rows += batch.numRows;
      if (rows >= PART_ROWS) await write();
    }
    if (rows > 0) await write();
  }

  #rangesOf(batches: readonly RecordBatch[]): Range[][] {
    return this.#shapes.map((shape, i) =>
      batches.map((batch) => ({
        column: columnOf(batch.data.children[i] as Data, shape),
        start: 0,
        length: batch.numRows,
      })),
    );
  }
}
