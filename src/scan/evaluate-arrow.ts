import { TableError } from '../errors.js';
import { powerOfTen } from '../schema/number-text.js';
import type { DataType, Datum } from '../schema/types.js';
import type { BoundColumn } from './bind-tree.js';
import type { ColumnReader } from './evaluate-row.js';
import { rescaleHalfUp } from './functions-cast.js';
import { dayOfMicros, floorDiv, microsOfDate } from './functions-time.js';

/** Arrow's type codes, for batches of any copy of apache-arrow. */
export const ARROW = {
  null: 1,
  int: 2,
  float: 3,
  binary: 4,
  utf8: 5,
  bool: 6,
  decimal: 7,
  date: 8,
  timestamp: 10,
  struct: 13,
  fixedBinary: 15,
  largeBinary: 19,
  largeUtf8: 20,
  binaryView: 23,
  utf8View: 24,
  dictionary: -1,
} as const;

/** The parts of an Arrow `Data` used here. */
export interface ArrowData {
  readonly type: {
    readonly typeId: number;
    readonly bitWidth?: number;
    readonly precision?: number;
    readonly scale?: number;
    readonly unit?: number;
    readonly byteWidth?: number;
    readonly children?: readonly { readonly name: string }[] | null;
  };
  readonly length: number;
  readonly offset: number;
  readonly nullCount: number;
  readonly nullBitmap?: Uint8Array | null;
  readonly values: unknown;
  readonly valueOffsets?: unknown;
  readonly variadicBuffers?: readonly Uint8Array[];
  readonly children: readonly ArrowData[];
  readonly dictionary?: { readonly length: number; readonly data: readonly ArrowData[] } | undefined;
}

/** The parts of an Arrow `RecordBatch` used here. */
export interface ArrowBatch {
  readonly numRows: number;
  readonly schema: { readonly fields: readonly { readonly name: string }[] };
  readonly data: { readonly children: readonly ArrowData[] };
}

/** A column's leaf with the structs around it, whose NULLs are NULLs of the leaf. */
export interface ArrowColumn {
  readonly data: ArrowData;
  readonly outer: readonly ArrowData[];
}

/** Finds a column in a batch whose fields have the schema's names. */
export function arrowColumn(batch: ArrowBatch, column: BoundColumn): ArrowColumn {
  const outer: ArrowData[] = [];
  let names: readonly { readonly name: string }[] = batch.schema.fields;
  let children = batch.data.children;
  for (const [depth, name] of column.path.entries()) {
    const at = names.findIndex((field) => field.name === name);
    const data = children[at];
    if (data === undefined) {
      throw new TableError('INVALID_INPUT', `The batch has no column ${column.path.join('.')}.`, {
        column: column.path.join('.'),
      });
    }
    if (depth === column.path.length - 1) return { data, outer };
    outer.push(data);
    names = data.type.children ?? [];
    children = data.children;
  }
  throw new TableError('INTERNAL', 'a column has no name', {});
}

/** Whether a row is not NULL, or undefined when none is. */
export function validityOf({ data, outer }: ArrowColumn): ((row: number) => boolean) | undefined {
  const bitmaps = [data, ...outer].filter((each) => each.nullCount > 0 && each.type.typeId !== ARROW.null);
  if (data.type.typeId === ARROW.null) return () => false;
  if (bitmaps.length === 0) return undefined;
  const tests = bitmaps.map((each) => {
    const bits = each.nullBitmap as Uint8Array;
    const { offset } = each;
    return (row: number) => ((bits[(offset + row) >> 3]! >> ((offset + row) & 7)) & 1) === 1;
  });
  return tests.length === 1 ? tests[0] : (row) => tests.every((test) => test(row));
}

/** Reads a column's values as Datum of its Delta type, whatever Arrow type holds them. */
export function arrowReader(column: ArrowColumn, type: DataType): ColumnReader {
  const valid = validityOf(column);
  const read = valueReader(column.data, type);
  return valid === undefined ? read : (row) => (valid(row) ? read(row) : null);
}

function valueReader(data: ArrowData, type: DataType): ColumnReader {
  const { typeId, bitWidth = 0 } = data.type;
  switch (typeId) {
    case ARROW.bool: {
      const bits = data.values as Uint8Array;
      const { offset } = data;
      return (row) => ((bits[(offset + row) >> 3]! >> ((offset + row) & 7)) & 1) === 1;
    }
    case ARROW.int: {
      const convert = wholeNumber(type, data);
      if (bitWidth !== 64) return mapped(data.values as Int32Array, convert);
      return mapped(data.values as BigInt64Array, convert);
    }
    case ARROW.float:
      if (type.type !== 'float' && type.type !== 'double') throw unreadable(data, type);
      return mapped(data.values as Float64Array);
    case ARROW.utf8:
    case ARROW.largeUtf8:
    case ARROW.binary:
    case ARROW.largeBinary:
    case ARROW.fixedBinary:
    case ARROW.binaryView:
    case ARROW.utf8View:
      return textReader(data, type);
    case ARROW.decimal:
      return decimalReader(data, type);
    case ARROW.date:
    case ARROW.timestamp:
      return temporalReader(data, type);
    case ARROW.dictionary:
      return dictionaryReader(data, type);
    case ARROW.null:
      return () => null;
    default:
      // Only whether a nested value is NULL can be asked.
      return () => true;
  }
}

function unreadable(data: ArrowData, type: DataType): TableError {
  return new TableError(
    'INVALID_INPUT',
    `An Arrow column of type ${String(data.type)} cannot be read as ${type.type}.`,
    {
      type: type.type,
    },
  );
}

function mapped(
  values: ArrayLike<number | bigint>,
  convert?: (value: number | bigint) => Datum,
): ColumnReader {
  return convert === undefined ? (row) => values[row]! : (row) => convert(values[row]!);
}

/** Undefined when the value is a Datum of the type as it is. */
function wholeNumber(type: DataType, data: ArrowData): ((value: number | bigint) => Datum) | undefined {
  const wide = data.type.bitWidth === 64;
  switch (type.type) {
    case 'byte':
    case 'short':
    case 'integer':
    case 'float':
    case 'double':
      return wide ? Number : undefined;
    case 'long':
      return wide ? undefined : BigInt;
    case 'decimal': {
      const unit = powerOfTen(type.scale);
      return (value) => BigInt(value) * unit;
    }
    default:
      throw unreadable(data, type);
  }
}

/** The bytes of a row in any of Arrow's layouts of text and binary. */
function byteReader(data: ArrowData): (row: number) => Uint8Array {
  const values = data.values as Uint8Array;
  const width = data.type.byteWidth;
  if (data.type.typeId === ARROW.fixedBinary)
    return (row) => values.subarray(row * width!, (row + 1) * width!);
  if (data.type.typeId === ARROW.binaryView || data.type.typeId === ARROW.utf8View) {
    const view = new DataView(values.buffer, values.byteOffset, values.byteLength);
    return (row) => {
      const at = row * 16;
      const length = view.getInt32(at, true);
      if (length <= 12) return values.subarray(at + 4, at + 4 + length);
      const start = view.getInt32(at + 12, true);
      return data.variadicBuffers![view.getInt32(at + 8, true)]!.subarray(start, start + length);
    };
  }
  const offsets = data.valueOffsets as ArrayLike<number | bigint>;
  return (row) => values.subarray(Number(offsets[row]), Number(offsets[row + 1]));
}

function textReader(data: ArrowData, type: DataType): ColumnReader {
  const bytes = byteReader(data);
  if (type.type === 'binary') return bytes;
  if (type.type !== 'string') throw unreadable(data, type);
  return (row) => {
    const { buffer, byteOffset, byteLength } = bytes(row);
    return Buffer.from(buffer, byteOffset, byteLength).toString('utf8');
  };
}

function decimalReader(data: ArrowData, type: DataType): ColumnReader {
  if (type.type !== 'decimal') throw unreadable(data, type);
  const words = data.values as Uint32Array;
  const stride = (data.type.bitWidth ?? 128) / 32;
  const scale = data.type.scale ?? 0;
  const top = stride - 1;
  return (row) => {
    const at = row * stride;
    let value = BigInt(words[at + top]! | 0);
    for (let i = top - 1; i >= 0; i--) value = (value << 32n) | BigInt(words[at + i]!);
    return scale === type.scale ? value : rescaleHalfUp(value, scale, type.scale);
  };
}

const SECOND = 0;
const MILLISECOND = 1;
const NANOSECOND = 3;

/** To microseconds or days, towards the past. */
function temporalReader(data: ArrowData, type: DataType): ColumnReader {
  const days = type.type === 'date';
  if (!days && type.type !== 'timestamp' && type.type !== 'timestamp_ntz') throw unreadable(data, type);
  const unit = data.type.unit ?? 0;
  if (data.type.typeId === ARROW.date && unit === 0) {
    const values = data.values as Int32Array;
    return days ? mapped(values) : (row) => microsOfDate(values[row]!);
  }
  const values = data.values as BigInt64Array;
  const micros =
    unit === SECOND
      ? (row: number) => values[row]! * 1_000_000n
      : unit === MILLISECOND
        ? (row: number) => values[row]! * 1000n
        : unit === NANOSECOND
          ? (row: number) => floorDiv(values[row]!, 1000n)
          : (row: number) => values[row]!;
  return days ? (row) => dayOfMicros(micros(row)) : micros;
}

function dictionaryReader(data: ArrowData, type: DataType): ColumnReader {
  const codes = data.values as Int32Array;
  const chunks = data.dictionary?.data ?? [];
  const readers = chunks.map((chunk) => arrowReader({ data: chunk, outer: [] }, type));
  // Each distinct value is decoded once.
  const known: Datum[] = [];
  for (const [i, chunk] of chunks.entries()) {
    for (let row = 0; row < chunk.length; row++) known.push(readers[i]!(row));
  }
  return (row) => known[Number(codes[row])] ?? null;
}
