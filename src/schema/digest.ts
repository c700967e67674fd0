import type { Data, RecordBatch } from 'apache-arrow';
import { type Column, columnOf, shapeOf } from '../parquet/encode-columns.js';
import { finish, hashBytes, mixBlock } from './hash.js';
import type { DataType, StructType } from './types.js';

/** What is kept of the rows of a run, whatever their order: how many, and a sum that differs where they do. */
export interface RowsDigest {
  readonly rows: number;
  /** 32 hexadecimal digits. */
  readonly digest: string;
}

const MASK = (1n << 128n) - 1n;

/**
 * Sums a 128-bit hash of each row modulo 2^128. A row's hash is MurmurHash3 over the blocks of its cells in schema order, NULLs left out, so that a column
 * that is added and holds NULL changes nothing; each cell has the column's number with it. The rules are in spec/FORMAT.md.
 */
export class Digester {
  readonly #schema: StructType;
  readonly #ignored: ReadonlySet<string>;
  #rows = 0;
  #sum = 0n;
  #lanes = new Int32Array(0);
  #blocks = new Uint32Array(0);

  /** `ignore` names columns that are left out. */
  constructor(schema: StructType, ignore: readonly string[] = []) {
    this.#schema = schema;
    this.#ignored = new Set(ignore.map((name) => name.toLowerCase()));
  }

  /** Takes the rows of a batch that has the schema's Arrow types. */
  add(batch: RecordBatch): void {
    const hashes = this.hash(batch);
    const sums = [0, 0, 0, 0];
    for (let row = 0; row < batch.numRows; row++)
      for (let lane = 0; lane < 4; lane++) sums[lane]! += hashes[row * 4 + lane]! >>> 0;
    const total = sums.reduceRight((high, sum) => (high << 32n) + BigInt(sum), 0n);
    this.#sum = (this.#sum + total) & MASK;
    this.#rows += batch.numRows;
  }

  /** The hashes of a batch's rows, four words each; good until the next call. */
  hash(batch: RecordBatch): Int32Array {
    const rows = batch.numRows;
    if (this.#blocks.length < rows) {
      this.#blocks = new Uint32Array(rows);
      this.#lanes = new Int32Array(rows * 4);
    }
    const [lanes, blocks] = [this.#lanes, this.#blocks];
    lanes.fill(0, 0, rows * 4);
    blocks.fill(0, 0, rows);
    this.#schema.fields.forEach(({ name, dataType }, i) => {
      if (this.#ignored.has(name.toLowerCase())) return;
      const column = columnOf(batch.data.children[i] as Data, shapeOf(dataType));
      absorb(column, dataType, i + 1, rows, lanes, blocks);
    });
    for (let row = 0; row < rows; row++) finish(lanes, row * 4, blocks[row]! * 16);
    return lanes.subarray(0, rows * 4);
  }

  result(): RowsDigest {
    return { rows: this.#rows, digest: this.#sum.toString(16).padStart(32, '0') };
  }
}

function absorb(
  column: Column,
  type: DataType,
  number: number,
  rows: number,
  lanes: Int32Array,
  blocks: Uint32Array,
): void {
  const { shape, values } = column;
  if (shape.kind === 'void' || column.nulls === rows) return;
  if (shape.kind === 'fixed' && shape.width <= 8) {
    const pairs = pairsOf(column, type);
    for (let row = 0; row < rows; row++) {
      if (isNull(column, row)) continue;
      mixBlock(lanes, row * 4, pairs[row * 2]!, pairs[row * 2 + 1]!, number, 0);
      blocks[row]!++;
    }
    return;
  }
  const scratch = new Int32Array(4);
  const writer = new ByteWriter();
  const view = shape.kind === 'bytes' ? viewOf(values!) : undefined;
  for (let row = 0; row < rows; row++) {
    if (isNull(column, row)) continue;
    let length: number;
    if (shape.kind === 'bytes') {
      const [start, end] = [column.offsets![row]!, column.offsets![row + 1]!];
      hashBytes(view!, start, end, scratch, 0);
      length = end - start;
    } else {
      writer.length = 0;
      writeValue(writer, column, type, row);
      hashBytes(writer.view, 0, writer.length, scratch, 0);
      length = writer.length;
    }
    mixBlock(lanes, row * 4, scratch[0]!, scratch[1]!, scratch[2]!, scratch[3]!);
    mixBlock(lanes, row * 4, 0, 0, number, length);
    blocks[row]! += 2;
  }
}

function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

const knownPairs = new WeakMap<Column, Uint32Array>();

/** Values of up to eight bytes as two words each. Whole numbers are 64 bits wide, so that a column which is widened keeps its digests; all NaN are one. */
function pairsOf(column: Column, type: DataType): Uint32Array {
  let pairs = knownPairs.get(column);
  if (!pairs) {
    pairs = makePairs(column, type);
    knownPairs.set(column, pairs);
  }
  return pairs;
}

function makePairs({ values, shape, length }: Column, type: DataType): Uint32Array {
  const { width } = shape as { width: number };
  const bytes = values!.byteOffset % 8 === 0 ? values! : values!.slice();
  if (width === 8) {
    const words = new Uint32Array(bytes.buffer, bytes.byteOffset, length * 2);
    return type.type === 'double' ? withOneNaN(words) : words;
  }
  const pairs = new Uint32Array(length * 2);
  if (type.type === 'float') {
    const words = new Uint32Array(bytes.buffer, bytes.byteOffset, length);
    for (let row = 0; row < length; row++) {
      const isNoNumber = (words[row]! & 0x7fffffff) > 0x7f800000;
      pairs[row * 2] = isNoNumber ? 0x7fc00000 : words[row]!;
    }
    return pairs;
  }
  const numbers =
    width === 4
      ? new Int32Array(bytes.buffer, bytes.byteOffset, length)
      : width === 2
        ? new Int16Array(bytes.buffer, bytes.byteOffset, length)
        : new Int8Array(bytes.buffer, bytes.byteOffset, length);
  for (let row = 0; row < length; row++) {
    const value = numbers[row]!;
    pairs[row * 2] = value;
    pairs[row * 2 + 1] = value < 0 ? -1 : 0;
  }
  return pairs;
}

function withOneNaN(words: Uint32Array): Uint32Array {
  let pairs = words;
  for (let i = 0; i < words.length; i += 2) {
    const high = words[i + 1]! & 0x7fffffff;
    if (high < 0x7ff00000 || (high === 0x7ff00000 && words[i] === 0)) continue;
    if (pairs === words) pairs = words.slice();
    pairs[i] = 0;
    pairs[i + 1] = 0x7ff80000;
  }
  return pairs;
}

function isNull({ valid, bit }: Column, row: number): boolean {
  if (valid === null) return false;
  const at = bit + row;
  return (valid[at >> 3]! & (1 << (at & 7))) === 0;
}

/** The bytes of a value that has no hash of its own: wide decimals, booleans, and what is nested. Inside, a byte says whether a value is there. */
function writeValue(to: ByteWriter, column: Column, type: DataType, row: number): void {
  const { shape, values } = column;
  switch (shape.kind) {
    case 'fixed':
      if (shape.width > 8) to.append(values!, row * shape.width, (row + 1) * shape.width);
      else {
        const pairs = pairsOf(column, type);
        to.word(pairs[row * 2]!);
        to.word(pairs[row * 2 + 1]!);
      }
      return;
    case 'bits': {
      const at = column.bit + row;
      to.byte((values![at >> 3]! >> (at & 7)) & 1);
      return;
    }
    case 'bytes': {
      const [start, end] = [column.offsets![row]!, column.offsets![row + 1]!];
      to.word(end - start);
      to.append(values!, start, end);
      return;
    }
    case 'list': {
      const [start, end] = [column.offsets![row]!, column.offsets![row + 1]!];
      to.word(end - start);
      for (let i = start; i < end; i++) writeCell(to, column.children[0]!, elementType(type), i);
      return;
    }
    case 'struct': {
      const types = fieldTypes(type);
      let last = column.children.length;
      while (last > 0 && isAbsent(column.children[last - 1]!, row)) last--;
      to.word(last);
      for (let i = 0; i < last; i++) writeCell(to, column.children[i]!, types[i]!, row);
      return;
    }
    case 'void':
      return;
  }
}

function writeCell(to: ByteWriter, column: Column, type: DataType, row: number): void {
  if (isAbsent(column, row)) to.byte(0);
  else {
    to.byte(1);
    writeValue(to, column, type, row);
  }
}

function isAbsent(column: Column, row: number): boolean {
  return column.shape.kind === 'void' || isNull(column, row);
}

function elementType(type: DataType): DataType {
  if (type.type === 'array') return type.elementType;
  if (type.type !== 'map') return type;
  const field = (name: string, dataType: DataType) => ({ name, dataType, nullable: true, metadata: {} });
  return { type: 'struct', fields: [field('key', type.keyType), field('value', type.valueType)] };
}

const BINARY: DataType = { type: 'binary' };

function fieldTypes(type: DataType): readonly DataType[] {
  return type.type === 'struct' ? type.fields.map(({ dataType }) => dataType) : [BINARY, BINARY];
}

/** Bytes that grow. */
class ByteWriter {
  bytes = new Uint8Array(64);
  view = viewOf(this.bytes);
  length = 0;

  byte(value: number): void {
    this.#reserve(1);
    this.bytes[this.length++] = value;
  }

  word(value: number): void {
    for (let shift = 0; shift < 32; shift += 8) this.byte((value >>> shift) & 255);
  }

  append(from: Uint8Array, start: number, end: number): void {
    this.#reserve(end - start);
    this.bytes.set(from.subarray(start, end), this.length);
    this.length += end - start;
  }

  #reserve(more: number): void {
    if (this.length + more <= this.bytes.length) return;
    const larger = new Uint8Array(Math.max(this.bytes.length * 2, this.length + more));
    larger.set(this.bytes);
    this.bytes = larger;
    this.view = viewOf(larger);
  }
}
