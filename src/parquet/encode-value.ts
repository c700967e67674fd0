import type { DataType, Datum } from '../schema/types.js';
import { bitAt, type Column } from './encode-columns.js';
import { decimalWidth } from './flat/write/schema.js';

/** A value of a primitive column. */
export function datumAt(type: DataType, column: Column, row: number): Datum {
  if (type.type === 'void' || (column.valid && !bitAt(column.valid, column.bit + row))) return null;
  const values = column.values!;
  if (type.type === 'boolean') return bitAt(values, column.bit + row) === 1;
  if (column.offsets) {
    const bytes = values.slice(column.offsets[row]!, column.offsets[row + 1]!);
    return type.type === 'string'
      ? Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('utf8')
      : bytes;
  }
  const view = new DataView(values.buffer, values.byteOffset, values.byteLength);
  switch (type.type) {
    case 'byte':
      return view.getInt8(row);
    case 'short':
      return view.getInt16(row * 2, true);
    case 'integer':
    case 'date':
      return view.getInt32(row * 4, true);
    case 'float':
      return view.getFloat32(row * 4, true);
    case 'double':
      return view.getFloat64(row * 8, true);
    case 'decimal':
      return (view.getBigInt64(row * 16 + 8, true) << 64n) | view.getBigUint64(row * 16, true);
    default:
      return view.getBigInt64(row * 8, true);
  }
}

/** A value as Parquet's PLAIN encoding and its footers have it. */
export function plainDatum(type: DataType, bytes: Uint8Array): Datum {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  switch (type.type) {
    case 'string':
      return new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes);
    case 'byte':
    case 'short':
    case 'integer':
    case 'date':
      return view.getInt32(0, true);
    case 'float':
      return view.getFloat32(0, true);
    case 'double':
      return view.getFloat64(0, true);
    case 'decimal':
      if (type.precision <= 9) return BigInt(view.getInt32(0, true));
      return type.precision <= 18 ? view.getBigInt64(0, true) : bigEndian(bytes);
    default:
      return view.getBigInt64(0, true);
  }
}

function bigEndian(bytes: Uint8Array): bigint {
  let value = 0n;
  for (const byte of bytes) value = (value << 8n) | BigInt(byte);
  return BigInt.asIntN(bytes.length * 8, value);
}

/** The PLAIN bytes of a number, a date or a timestamp. */
export function plainBytes(type: DataType, value: number | bigint): Uint8Array {
  const bytes = new Uint8Array(8);
  const view = new DataView(bytes.buffer);
  switch (type.type) {
    case 'float':
      view.setFloat32(0, value as number, true);
      return bytes.subarray(0, 4);
    case 'double':
      view.setFloat64(0, value as number, true);
      return bytes;
    case 'decimal':
      if (type.precision > 18) return bigEndianBytes(value as bigint, decimalWidth(type.precision));
      view.setBigInt64(0, value as bigint, true);
      return bytes.subarray(0, type.precision <= 9 ? 4 : 8);
    case 'long':
    case 'timestamp':
    case 'timestamp_ntz':
      view.setBigInt64(0, value as bigint, true);
      return bytes;
    default:
      view.setInt32(0, value as number, true);
      return bytes.subarray(0, 4);
  }
}

function bigEndianBytes(value: bigint, width: number): Uint8Array {
  const bytes = new Uint8Array(width);
  let rest = value;
  for (let i = width - 1; i >= 0; i--, rest >>= 8n) bytes[i] = Number(rest & 255n);
  return bytes;
}
