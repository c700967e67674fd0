import type { Leaf } from '../parquet/flat/footer.js';
import { powerOfTen } from '../schema/number-text.js';
import type { DataType, Datum } from '../schema/types.js';
import { floorDiv, microsOfDate } from './functions-time.js';

/**
 * A bound from a Parquet file as a value of the table's type, or undefined where it cannot be relied on: INT96, unsigned numbers, NaN, text cut within a
 * character, deprecated fields of types whose order they had wrong, and bytes of another length than the type has.
 */
export function decodeBound(
  type: DataType,
  leaf: Leaf,
  bytes: Uint8Array,
  bound: 'min' | 'max',
  legacy: boolean,
): Datum | undefined {
  if (leaf.meaning.kind === 'integer' && !leaf.meaning.signed) return undefined;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  switch (leaf.physical) {
    case 'INT32':
      return bytes.length === 4 ? fromInteger(type, leaf, BigInt(view.getInt32(0, true))) : undefined;
    case 'INT64':
      return bytes.length === 8 ? fromInteger(type, leaf, view.getBigInt64(0, true)) : undefined;
    case 'FLOAT':
      return bytes.length === 4 ? fromFloat(type, view.getFloat32(0, true)) : undefined;
    case 'DOUBLE':
      return bytes.length === 8 ? fromFloat(type, view.getFloat64(0, true)) : undefined;
    case 'BOOLEAN':
      return type.type === 'boolean' && bytes.length === 1 ? bytes[0] !== 0 : undefined;
    case 'INT96':
      return undefined;
    default:
      return legacy ? undefined : fromBytes(type, leaf, bytes, bound);
  }
}

function fromInteger(type: DataType, leaf: Leaf, value: bigint): Datum | undefined {
  const { meaning } = leaf;
  switch (type.type) {
    case 'byte':
    case 'short':
    case 'integer':
      return isPlain(leaf) ? Number(value) : undefined;
    case 'long':
      return isPlain(leaf) ? value : undefined;
    case 'double':
      return isPlain(leaf) ? Number(value) : undefined;
    case 'date':
      return meaning.kind === 'date' ? Number(value) : undefined;
    case 'timestamp':
    case 'timestamp_ntz':
      if (meaning.kind === 'date') return microsOfDate(Number(value));
      if (meaning.kind !== 'timestamp') return undefined;
      if (meaning.unit === 'millis') return value * 1000n;
      return meaning.unit === 'nanos' ? floorDiv(value, 1000n) : value;
    case 'decimal':
      if (meaning.kind === 'decimal') return rescaled(value, meaning.scale, type.scale);
      return isPlain(leaf) ? rescaled(value, 0, type.scale) : undefined;
    default:
      return undefined;
  }
}

const isPlain = (leaf: Leaf): boolean => leaf.meaning.kind === 'none' || leaf.meaning.kind === 'integer';

function rescaled(value: bigint, from: number, to: number): bigint | undefined {
  return from <= to ? value * powerOfTen(to - from) : undefined;
}

function fromFloat(type: DataType, value: number): Datum | undefined {
  return Number.isNaN(value) || (type.type !== 'double' && type.type !== 'float') ? undefined : value;
}

function fromBytes(type: DataType, leaf: Leaf, bytes: Uint8Array, bound: 'min' | 'max'): Datum | undefined {
  if (type.type === 'binary') return bytes;
  if (type.type === 'string') return leaf.meaning.kind === 'decimal' ? undefined : textBound(bytes, bound);
  if (type.type !== 'decimal' || leaf.meaning.kind !== 'decimal' || bytes.length === 0) return undefined;
  const unsigned = BigInt(`0x${Buffer.from(bytes).toString('hex')}`);
  return rescaled(BigInt.asIntN(bytes.length * 8, unsigned), leaf.meaning.scale, type.scale);
}

/** A maximum cut within a character was counted up there and is no text; a minimum still is one up to the cut. */
function textBound(bytes: Uint8Array, bound: 'min' | 'max'): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    if (bound === 'max') return undefined;
  }
  for (let cut = 1; cut <= 3 && cut < bytes.length; cut++) {
    try {
      return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes.subarray(0, -cut));
    } catch {}
  }
  return undefined;
}
