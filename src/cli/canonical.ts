import type { Data, RecordBatch } from 'apache-arrow';
import { dateText, timestampText } from '../schema/calendar-text.js';
import { decimalText } from '../schema/number-text.js';
import type { DataType, StructType } from '../schema/types.js';
import { variantText } from '../schema/variant.js';

/** The JSON text of one cell. */
type Cell = (row: number) => string;

const UTF8 = new TextDecoder();

/**
 * The rows of a batch as canonical lines: one compact JSON object a row, in which every value has exactly one text, so that two readers of one table can be
 * compared. Longs are strings of digits, decimals strings with all fraction digits, times ISO 8601 in microseconds, binary base64, maps sorted pairs;
 * columns of type void are left out. `schema` is that of the batch.
 */
export function canonicalLines(batch: RecordBatch, schema: StructType): string[] {
  const row = structCell(schema, batch.data.children, undefined);
  return Array.from({ length: batch.numRows }, (_, i) => row(i + batch.data.offset));
}

function structCell(schema: StructType, children: readonly Data[], own: Data | undefined): Cell {
  const members = schema.fields.flatMap((field, i) => {
    if (field.dataType.type === 'void') return [];
    return [{ name: `${JSON.stringify(field.name)}:`, cell: cellOf(field.dataType, children[i]!) }];
  });
  // The children of a sliced struct are sliced along with it.
  const shift = own?.offset ?? 0;
  return (row) => `{${members.map(({ name, cell }) => name + cell(row - shift)).join(',')}}`;
}

function cellOf(type: DataType, data: Data): Cell {
  const cell = presentCell(type, data);
  if (data.nullCount === 0) return cell;
  const bits = data.nullBitmap;
  return (row) => {
    const at = row + data.offset;
    const isNull = bits !== undefined && bits.length > 0 && (bits[at >> 3]! & (1 << (at & 7))) === 0;
    return isNull ? 'null' : cell(row);
  };
}

function presentCell(type: DataType, data: Data): Cell {
  const values = data.values;
  switch (type.type) {
    case 'boolean':
      return (row) => String((values[(row + data.offset) >> 3] & (1 << ((row + data.offset) & 7))) !== 0);
    case 'byte':
    case 'short':
    case 'integer':
    case 'interval year to month':
      return (row) => String(values[row]);
    case 'long':
    case 'interval day to second':
      return (row) => `"${values[row]}"`;
    case 'float':
      return (row) => doubleJson(values[row], shortestFloat);
    case 'double':
      return (row) => doubleJson(values[row], (value) => value);
    case 'decimal':
      return (row) => `"${decimalText(decimalAt(values, row), type.scale)}"`;
    case 'date':
      return (row) => `"${dateText(values[row])}"`;
    case 'timestamp':
      return (row) => `"${timestampText(values[row], 'T', 'micros')}Z"`;
    case 'timestamp_ntz':
      return (row) => `"${timestampText(values[row], 'T', 'micros')}"`;
    case 'string':
      return (row) => JSON.stringify(UTF8.decode(bytesAt(data, row)));
    case 'binary':
      return (row) => `"${Buffer.from(bytesAt(data, row)).toString('base64')}"`;
    case 'struct':
      return structCell(type, data.children, undefined);
    case 'variant': {
      const [value, metadata] = data.children as [Data, Data];
      return (row) => JSON.stringify(variantText(bytesAt(metadata, row), bytesAt(value, row)));
    }
    case 'array': {
      const element = cellOf(type.elementType, data.children[0]!);
      return (row) => `[${spanOf(data, row).map(element).join(',')}]`;
    }
    case 'map': {
      const [keys, items] = data.children[0]!.children as [Data, Data];
      const key = cellOf(type.keyType, keys);
      const item = cellOf(type.valueType, items);
      return (row) => `[${sortedPairs(spanOf(data, row).map((i) => [key(i), item(i)] as const))}]`;
    }
    default:
      return () => 'null';
  }
}

function spanOf(data: Data, row: number): number[] {
  const start = data.valueOffsets[row] as number;
  return Array.from({ length: (data.valueOffsets[row + 1] as number) - start }, (_, i) => start + i);
}

function bytesAt(data: Data, row: number): Uint8Array {
  return (data.values as Uint8Array).subarray(data.valueOffsets[row], data.valueOffsets[row + 1]);
}

function sortedPairs(pairs: (readonly [key: string, value: string])[]): string {
  return pairs
    .sort(([a], [b]) => Buffer.compare(Buffer.from(a), Buffer.from(b)))
    .map(([key, value]) => `[${key},${value}]`)
    .join(',');
}

function decimalAt(words: Uint32Array, row: number): bigint {
  let value = BigInt(words[row * 4 + 3]! | 0);
  for (let i = 2; i >= 0; i--) value = (value << 32n) | BigInt(words[row * 4 + i]!);
  return value;
}

function doubleJson(value: number, shortest: (value: number) => number): string {
  if (Number.isNaN(value)) return '"NaN"';
  if (!Number.isFinite(value)) return value > 0 ? '"Infinity"' : '"-Infinity"';
  if (Object.is(value, -0)) return '"-0"';
  return String(shortest(value));
}

/** The number of the fewest significant digits that is the same float. */
function shortestFloat(value: number): number {
  for (let digits = 1; digits < 9; digits++) {
    const candidate = Number(value.toPrecision(digits));
    if (Math.fround(candidate) === value) return candidate;
  }
  return value;
}
