import { type Data, DataType, DateUnit, Precision, type Struct, TimeUnit } from 'apache-arrow';
import { parseRecordBatch } from 'arrow-js-ffi';
import type { ColumnData } from './column/assemble.js';
import type { ReadNode } from './column/read-tree.js';
import type { Leaf } from './flat/footer.js';
import type { DecodeTask } from './read.js';
import { isWasmTrap, loadParquetWasm, type ParquetWasm, parquetWasmMemory } from './wasm.js';

/** Below this the engine's own cost outweighs what it saves. */
const LEAST_BYTES = 1 << 20;
/** It decodes every column of the file: worth it where most are wanted. */
const LEAST_SHARE = 0.7;

/** Row groups of a file up to this size are decoded together: each call copies the file into the engine's memory. */
const LARGEST_AT_ONCE = 16 << 20;

let isBroken = false;

/**
 * True where the WebAssembly engine gives the same columns as the exact decoder, and faster: row groups of one file, wanted nearly whole, of flat columns
 * that need no conversion. `bytes` are those of the whole file.
 */
export function isBulk(tasks: readonly DecodeTask[], bytes: Uint8Array): boolean {
  if (isBroken || bytes.length < LEAST_BYTES) return false;
  let wanted = 0;
  for (const { chunks } of tasks) {
    for (const chunk of chunks) {
      if (chunk.part) return false;
      wanted += chunk.bytes.length;
    }
  }
  if (wanted < bytes.length * LEAST_SHARE) return false;
  return tasks.every((task) => task.nodes.every((node) => isPlain(node, task)));
}

/** To load the engine takes as long as it saves on this many bytes of files. */
const LOAD_AFTER = 12 << 20;
let seen = 0;

/** For a thread that does not decode all the time: whether the engine is loaded, or would have paid by now. `bytes` are those of the file at hand. */
export function bulkPays(bytes: number): boolean {
  if (parquetWasmMemory() > 0) return true;
  seen += bytes;
  return seen > LOAD_AFTER;
}

function isPlain(node: ReadNode, { chunks }: DecodeTask): boolean {
  if (node.kind !== 'leaf' || node.repetition !== 0) return false;
  const leaf = chunks.find((chunk) => chunk.leaf.index === node.column)?.leaf;
  if (leaf === undefined || leaf.path.length !== 1) return false;
  const { conversion } = node;
  if (conversion.kind === 'decimal') return conversion.scaleUp === 0 && leaf.meaning.kind === 'decimal';
  return ['same', 'boolean', 'toByte', 'toShort'].includes(conversion.kind);
}

/** Takes the columns of row groups `tasks[from, to)` together. They stand in the engine's memory and are good until it returns. */
export type TakeColumns = (columns: readonly ColumnData[], from: number, to: number) => void;

/**
 * Decodes row groups of a file by the WebAssembly engine, several at once where the file is not too large. False where it cannot, or gives another layout
 * than the exact decoder would: what was taken is then to be forgotten, and that decoder says what is so or what is wrong. After a trap the engine is not
 * used again in this thread.
 */
export async function decodeBulk(
  tasks: readonly DecodeTask[],
  bytes: Uint8Array,
  take: TakeColumns,
): Promise<boolean> {
  const engine = await loadParquetWasm().catch((error: unknown) => {
    // It is given no memory.
    if (!(error instanceof RangeError)) throw error;
    isBroken = true;
  });
  if (!engine) return false;
  for (let from = 0; from < tasks.length; ) {
    let to = from + 1;
    if (bytes.length <= LARGEST_AT_ONCE) {
      while (to < tasks.length && tasks[to]!.group === tasks[to - 1]!.group + 1) to++;
    }
    const columns = readColumns(engine, tasks.slice(from, to), bytes, (found) => take(found, from, to));
    if (!columns) return false;
    from = to;
  }
  return true;
}

function readColumns(
  engine: typeof ParquetWasm,
  tasks: readonly DecodeTask[],
  bytes: Uint8Array,
  take: (columns: readonly ColumnData[]) => void,
): boolean {
  const rows = tasks.reduce((sum, task) => sum + task.rows, 0);
  const columns: ColumnData[] = [];
  let release: () => void = () => undefined;
  try {
    const table = engine.readParquet(bytes, {
      rowGroups: tasks.map(({ group }) => group),
      batchSize: Math.max(1, rows),
    });
    release = () => table.free();
    const batches = table.recordBatches();
    const [batch] = batches;
    if (batches.length !== 1 || batch === undefined || batch.numRows !== rows) return false;
    const ffi = batch.intoFFI();
    release = () => {
      ffi.free();
      table.free();
    };
    const memory = (engine.wasmMemory() as unknown as { readonly buffer: ArrayBuffer }).buffer;
    const { data } = parseRecordBatch(memory, ffi.arrayAddr(), ffi.schemaAddr(), false);
    for (const node of tasks[0]!.nodes) {
      const column = node.kind === 'leaf' ? columnOf(data, node, tasks[0]!, rows) : undefined;
      if (column === undefined) return false;
      columns.push(column);
    }
  } catch (error) {
    if (isWasmTrap(error)) isBroken = true;
    return false;
  } finally {
    if (columns.length < tasks[0]!.nodes.length && !isBroken) release();
  }
  try {
    take(columns);
  } finally {
    release();
  }
  return true;
}

type LeafNode = ReadNode & { readonly kind: 'leaf' };

function columnOf(batch: Data, node: LeafNode, task: DecodeTask, rows: number): ColumnData | undefined {
  const leaf = task.chunks.find((chunk) => chunk.leaf.index === node.column)!.leaf;
  const index = (batch.type as Struct).children.findIndex(({ name }) => name === leaf.path[0]);
  const data = batch.children[index];
  if (
    data === undefined ||
    data.offset !== 0 ||
    data.length !== rows ||
    !isSameLayout(data.type, node, leaf)
  ) {
    return undefined;
  }
  const { length, nullCount } = data;
  const validity = nullCount > 0 ? data.nullBitmap : undefined;
  if (DataType.isUtf8(data.type) || DataType.isBinary(data.type)) {
    const offsets = data.valueOffsets as Int32Array;
    return {
      length,
      nullCount,
      validity,
      offsets,
      values: (data.values as Uint8Array).subarray(0, offsets[length]!),
    };
  }
  // How long the view is says nothing: it comes with one item a row, whatever their width.
  const { buffer, byteOffset, BYTES_PER_ELEMENT } = data.values as Uint8Array;
  const bytes = DataType.isBool(data.type)
    ? (length + 7) >> 3
    : length * BYTES_PER_ELEMENT * (DataType.isDecimal(data.type) ? 4 : 1);
  return { length, nullCount, validity, values: new Uint8Array(buffer, byteOffset, bytes) };
}

/** True when the engine chose the Arrow type that the exact decoder's bytes have. A hint in the file may have it choose another. */
function isSameLayout(type: DataType, { conversion }: LeafNode, leaf: Leaf): boolean {
  if (conversion.kind === 'decimal') return DataType.isDecimal(type) && type.bitWidth === 128;
  if (conversion.kind === 'boolean') return DataType.isBool(type);
  if (DataType.isInt(type)) {
    const bits = { toByte: 8, toShort: 16, same: leaf.physical === 'INT64' ? 64 : 32 }[
      conversion.kind as 'same'
    ];
    return (
      type.isSigned && type.bitWidth === bits && (leaf.physical === 'INT32' || leaf.physical === 'INT64')
    );
  }
  if (conversion.kind !== 'same') return false;
  switch (leaf.physical) {
    case 'INT32':
      return DataType.isDate(type) && type.unit === DateUnit.DAY;
    case 'INT64':
      return DataType.isTimestamp(type) && type.unit === TimeUnit.MICROSECOND;
    case 'FLOAT':
      return DataType.isFloat(type) && type.precision === Precision.SINGLE;
    case 'DOUBLE':
      return DataType.isFloat(type) && type.precision === Precision.DOUBLE;
    default:
      return leaf.physical === 'BYTE_ARRAY' && (DataType.isUtf8(type) || DataType.isBinary(type));
  }
}
