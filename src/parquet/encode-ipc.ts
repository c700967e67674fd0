import * as arrow from 'apache-arrow';
import { type Column, concatenate, measure, padded, type Range, type Shape } from './encode-columns.js';

/** Scratch memory above this is not kept for the next message. */
const KEPT_BYTES = 64 * 2 ** 20;

/** Positions in the flatbuffer of a record batch message (Arrow IPC: Message.fbs), which differs only in its counts. */
const ROOT = 16;
const BATCH = 56;
const NODES = 80;
const STRUCT_BYTES = 16;
const VERSION_5 = 4;
const RECORD_BATCH = 3;

let scratch = new Uint8Array(0);

/** What every message of a schema begins with. */
export function schemaMessage(schema: arrow.Schema): Uint8Array {
  const writer = new arrow.RecordBatchStreamWriter().reset(undefined, schema);
  writer.finish();
  const stream = writer.toUint8Array(true);
  // Without the mark of the end, which comes behind the rows.
  return stream.subarray(0, stream.length - 8);
}

/** A stream of one record batch and its columns as they lie in it. Both are memory of this thread, overwritten by the next call. */
export interface IpcStream {
  readonly bytes: Uint8Array;
  readonly columns: readonly Column[];
}

/**
 * The rows of the ranges, one list a column, as an Arrow IPC stream. Rows are copied once, straight to where the message has them; the memory is used
 * again, because fresh memory would cost more than the copy.
 */
export function writeIpc(
  head: Uint8Array,
  shapes: readonly Shape[],
  ranges: readonly (readonly Range[])[],
  rows: number,
): IpcStream {
  const counts = shapes.map(countOf);
  const nodes = counts.reduce((sum, count) => sum + count.nodes, 0);
  const buffers = counts.reduce((sum, count) => sum + count.buffers, 0);
  const metadata = NODES + 8 + STRUCT_BYTES * (nodes + buffers);
  const start = padded(head.length) + 8 + metadata;
  const size = start + shapes.reduce((sum, shape, i) => sum + measure(shape, ranges[i]!), 0) + 8;
  const memory = scratchOf(size);
  memory.set(head, padded(head.length) - head.length);
  let end = start;
  const columns = shapes.map((shape, i) =>
    concatenate(shape, ranges[i]!, (bytes) => {
      const at = end;
      end += padded(bytes);
      return new Uint8Array(memory.buffer, at, bytes);
    }),
  );
  const view = new DataView(memory.buffer, start - metadata - 8, metadata + 8);
  view.setUint32(0, 0xffffffff, true);
  view.setUint32(4, metadata, true);
  writeMessage(
    new DataView(memory.buffer, start - metadata, metadata),
    columns,
    rows,
    nodes,
    buffers,
    start,
    end - start,
  );
  new DataView(memory.buffer, end, 8).setBigUint64(0, 0xffffffffn, true);
  return { bytes: memory.subarray(padded(head.length) - head.length, end + 8), columns };
}

function scratchOf(size: number): Uint8Array {
  if (size > KEPT_BYTES) return new Uint8Array(size);
  if (scratch.length < size) scratch = new Uint8Array(Math.min(KEPT_BYTES, Math.ceil(size * 1.25)));
  return scratch;
}

function writeMessage(
  view: DataView,
  columns: readonly Column[],
  rows: number,
  nodes: number,
  buffers: number,
  bodyStart: number,
  bodyBytes: number,
): void {
  new Uint8Array(view.buffer, view.byteOffset, view.byteLength).fill(0);
  const shorts = (at: number, ...values: number[]): void => {
    values.forEach((value, i) => {
      view.setUint16(at + i * 2, value, true);
    });
  };
  view.setUint32(0, ROOT, true);
  // Message: version, type of the header, header, length of the body.
  shorts(4, 12, 20, 16, 18, 4, 8);
  view.setInt32(ROOT, ROOT - 4, true);
  view.setUint32(ROOT + 4, BATCH - ROOT - 4, true);
  view.setBigInt64(ROOT + 8, BigInt(bodyBytes), true);
  view.setUint16(ROOT + 16, VERSION_5, true);
  view.setUint8(ROOT + 18, RECORD_BATCH);
  // RecordBatch: length, nodes, buffers.
  shorts(40, 10, 20, 8, 4, 16);
  view.setInt32(BATCH, BATCH - 40, true);
  view.setUint32(BATCH + 4, NODES - 4 - (BATCH + 4), true);
  view.setBigInt64(BATCH + 8, BigInt(rows), true);
  const bufferCount = NODES + STRUCT_BYTES * nodes + 4;
  view.setUint32(BATCH + 16, bufferCount - (BATCH + 16), true);
  view.setUint32(NODES - 4, nodes, true);
  view.setUint32(bufferCount, buffers, true);
  let node = NODES;
  let buffer = bufferCount + 4;
  const addBuffer = (bytes: ArrayBufferView | null): void => {
    if (bytes) {
      view.setBigInt64(buffer, BigInt(bytes.byteOffset - bodyStart), true);
      view.setBigInt64(buffer + 8, BigInt(bytes.byteLength), true);
    }
    buffer += STRUCT_BYTES;
  };
  const addColumn = (column: Column): void => {
    view.setBigInt64(node, BigInt(column.length), true);
    view.setBigInt64(node + 8, BigInt(column.nulls), true);
    node += STRUCT_BYTES;
    const { kind } = column.shape;
    if (kind !== 'void') addBuffer(column.valid);
    if (kind === 'bytes' || kind === 'list') addBuffer(column.offsets);
    if (kind === 'bytes' || kind === 'fixed' || kind === 'bits') addBuffer(column.values);
    for (const child of column.children) addColumn(child);
  };
  for (const column of columns) addColumn(column);
}

function countOf(shape: Shape): { nodes: number; buffers: number } {
  const own = { fixed: 2, bits: 2, bytes: 3, list: 2, struct: 1, void: 0 }[shape.kind];
  const children = 'children' in shape ? shape.children.map(countOf) : [];
  return {
    nodes: children.reduce((sum, child) => sum + child.nodes, 1),
    buffers: children.reduce((sum, child) => sum + child.buffers, own),
  };
}
