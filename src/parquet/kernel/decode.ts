import type { ColumnData } from '../column/assemble.js';
import type { ReadNode } from '../column/read-tree.js';
import { FlatFault } from '../flat/fault.js';
import type { Leaf } from '../flat/footer.js';
import { type Page, readPages } from '../flat/page.js';
import type { DecodeTask, FetchedChunk } from '../read.js';
import { isWasmTrap } from '../wasm.js';
import { ensureMemory, type Kernel, kernelBytes, openKernel } from './engine.js';
import { readLevels, type Validity } from './levels.js';
import { placePage, roomFor, roomForPage, type Scratch } from './place.js';
import {
  type Dictionary,
  nextSlot,
  readDictionary,
  readValues,
  roomForDictionary,
  roomForValues,
  type Target,
} from './values.js';

/** How a column is decoded, and the bytes of a number in the end: 16 for decimals, 1 or 2 for small integers. */
interface Form {
  readonly slots: Target['form'];
  readonly width: number;
}

interface Part {
  readonly chunk: FetchedChunk;
  readonly pages: readonly Page[];
}

/** One column of some row groups that follow one another. */
interface Column extends Form {
  readonly parts: readonly Part[];
  readonly rows: number;
}

/** Where a decoded column is in the kernel's memory. `bytes` are those of its values. */
interface Placed extends Column {
  readonly target: Target;
  readonly validity: Validity;
  readonly bytes: number;
}

/** Pages of more values or bytes are left to the exact decoder. */
const MOST_VALUES = 1 << 24;
const MOST_PAGE = 1 << 27;

/** True where the kernel has a way to decode a column: not nested, whole, of a type that needs no conversion of each value. */
export function isForKernel(node: ReadNode, task: DecodeTask): boolean {
  return formOf(node, task) !== undefined;
}

function formOf(node: ReadNode, { chunks }: DecodeTask): Form | undefined {
  if (node.kind !== 'leaf' || node.repetition !== 0) return undefined;
  const chunk = chunks.find(({ leaf }) => leaf.index === node.column);
  if (chunk === undefined || chunk.part !== undefined) return undefined;
  const { physical, path, maxDefinition, maxRepetition } = chunk.leaf;
  if (path.length !== 1 || maxRepetition > 0 || maxDefinition > 1) return undefined;
  const width = { INT32: 4, FLOAT: 4, INT64: 8, DOUBLE: 8 }[physical as 'INT32'] as 4 | 8 | undefined;
  const { conversion } = node;
  switch (conversion.kind) {
    case 'same':
      if (physical === 'BYTE_ARRAY') return { slots: 'text', width: 0 };
      return width && { slots: width, width };
    case 'boolean':
      return { slots: 'bits', width: 0 };
    case 'toByte':
      return { slots: 4, width: 1 };
    case 'toShort':
      return { slots: 4, width: 2 };
    case 'decimal':
      return width && conversion.from === 'integers' && conversion.scaleUp === 0
        ? { slots: width, width: 16 }
        : undefined;
    default:
      return undefined;
  }
}

/**
 * Decodes columns of row groups of one file that follow one another, as one column each. `nodes` are such that `isForKernel` holds for each task. The columns
 * stand in the kernel's memory and are good until the next call in this thread. Undefined where it cannot: the exact decoder then does the work, or says
 * what is wrong.
 */
export function decodeByKernel(
  tasks: readonly DecodeTask[],
  nodes: readonly ReadNode[],
): ColumnData[] | undefined {
  const kernel = openKernel();
  if (kernel === undefined) return undefined;
  try {
    const columns = nodes.map((node) => columnOf(node, tasks));
    const scratch = columns.reduce((most, column) => Math.max(most, roomForColumn(column)), 0);
    let at = scratch;
    const placed = columns.map((column) => {
      const done = decodeColumn(kernel, column, at, scratch);
      at = done.target.values + roomFor(done.bytes);
      return done;
    });
    // Only now: the memory may have moved while it grew.
    return placed.map(dataOf);
  } catch (error) {
    if (error instanceof FlatFault || error instanceof RangeError || isWasmTrap(error)) return undefined;
    throw error;
  }
}

function columnOf(node: ReadNode, tasks: readonly DecodeTask[]): Column {
  const form = formOf(node, tasks[0]!)!;
  let rows = 0;
  const parts = tasks.map((task): Part => {
    const column = node.kind === 'leaf' ? node.column : -1;
    const chunk = task.chunks.find(({ leaf }) => leaf.index === column)!;
    if (chunk.meta.values !== task.rows) throw new FlatFault('unsupported', 'a column of other rows');
    const pages = readPages(chunk.bytes, task.rows);
    if (pages.some(({ values, uncompressed }) => values > MOST_VALUES || uncompressed > MOST_PAGE))
      throw new FlatFault('limit', 'a large page');
    rows += task.rows;
    return { chunk, pages };
  });
  return { ...form, parts, rows };
}

/** The scratch that decoding a column takes. */
function roomForColumn({ parts }: Column): number {
  let most = 0;
  for (const { pages, chunk } of parts) {
    let kept = 0;
    for (const page of pages) {
      const own = roomForPage(page);
      if (page.kind === 'dictionary') kept += own + roomForDictionary(page.values);
      else {
        const levels = chunk.leaf.maxDefinition > 0 ? roomFor(page.values * 4) : 0;
        most = Math.max(most, kept + own + levels + roomForValues(page.values));
      }
    }
    most = Math.max(most, kept);
  }
  return most;
}

function decodeColumn(kernel: Kernel, column: Column, start: number, scratchEnd: number): Placed {
  const { parts, rows, slots, width } = column;
  const bitmap = roomFor((rows + 7) >> 3);
  const isText = slots === 'text';
  const validity: Validity = { map: start, rows, nulls: 0, isOpen: false };
  const offsets = start + bitmap;
  const values = isText ? offsets + roomFor(4 * (rows + 1)) : offsets;
  const stored = slots === 'bits' ? (rows + 7) >> 3 : isText ? 0 : rows * Math.max(slots, width);
  ensureMemory(values + stored);
  const target: Target = { form: slots, values, offsets, row: 0, size: 0 };
  if (isText) kernelBytes().fill(0, offsets, offsets + 4);
  if (slots === 'bits') kernelBytes().fill(0, values, values + stored);
  for (const part of parts) decodePart(kernel, part, target, validity, scratchEnd);
  if (width === 16) kernel.widen(values, rows, slots as 4 | 8);
  else if (width === 1 || width === 2) kernel.narrow(values, rows, width);
  const bytes = slots === 'bits' ? stored : isText ? target.size : rows * width;
  return { ...column, target, validity, bytes };
}

function decodePart(
  kernel: Kernel,
  { chunk, pages }: Part,
  target: Target,
  validity: Validity,
  scratchEnd: number,
): void {
  const { leaf, meta, bytes } = chunk;
  const scratch: Scratch = { at: 0, end: scratchEnd };
  let dictionary: Dictionary | undefined;
  let kept = 0;
  for (const page of pages) {
    scratch.at = kept;
    const body = placePage(kernel, bytes, page, meta.codec, scratch);
    if (page.kind === 'dictionary') {
      dictionary = readDictionary(kernel, target.form, body, page.values, scratch);
      kept = scratch.at;
      continue;
    }
    decodePage(kernel, leaf, page, body, target, validity, dictionary, scratch);
    target.row += page.values;
  }
}

function decodePage(
  kernel: Kernel,
  leaf: Leaf,
  page: Page,
  body: { readonly start: number; readonly end: number },
  target: Target,
  validity: Validity,
  dictionary: Dictionary | undefined,
  scratch: Scratch,
): void {
  const count = page.values;
  const levels = readLevels(kernel, leaf, page, body, target.row, validity, scratch);
  const span = { start: levels.at, end: body.end };
  const slot = nextSlot(target);
  const flags = readValues(kernel, target, page.encoding, span, levels.present, dictionary, scratch);
  const isSparse = levels.present < count;
  if (target.form === 'bits') {
    if (isSparse) kernel.spread4(levels.flags, count, levels.present, flags);
    kernel.bits(flags, count, target.values, target.row);
  } else if (isSparse) {
    const spread = { 4: kernel.spread4, 8: kernel.spread8, text: kernel.spreadEnds }[target.form];
    spread(levels.flags, count, levels.present, slot);
  }
}

function dataOf({ rows, slots, target, validity, bytes }: Placed): ColumnData {
  const memory = kernelBytes();
  const { nulls, map } = validity;
  return {
    length: rows,
    nullCount: nulls,
    validity: nulls > 0 ? memory.subarray(map, map + ((rows + 7) >> 3)) : undefined,
    offsets:
      slots === 'text' ? new Int32Array(memory.buffer as ArrayBuffer, target.offsets, rows + 1) : undefined,
    values: memory.subarray(target.values, target.values + bytes),
  };
}
