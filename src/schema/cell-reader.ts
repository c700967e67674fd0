import { isAscii } from 'node:buffer';
import { type ArrowDataLike, isValid, nullsIn } from './arrow-shape.js';
import { signed64 } from './cast-bits.js';
import { unscaledReader } from './cast-number.js';
import { dateToJs, longToJs, type RowOptions, timestampToJs } from './js-value.js';
import { VARIANT } from './nested-builder.js';
import { decimalText } from './number-text.js';
import type { DataType, StructType } from './types.js';

/** Gives the JavaScript value of a row of one column. */
export type CellReader = (i: number) => unknown;

/** The reader of a column that is in exactly the Arrow type of the Delta type; made once a batch, so that rows pay for nothing but their values. */
export function cellReader(data: ArrowDataLike, type: DataType, options: RowOptions): CellReader {
  if (type.type === 'void') return () => null;
  const read = valueReader(data, type, options);
  return nullsIn(data) === 0 ? read : (i) => (isValid(data, i) ? read(i) : null);
}

function valueReader(data: ArrowDataLike, type: DataType, options: RowOptions): CellReader {
  switch (type.type) {
    case 'byte':
    case 'short':
    case 'integer':
    case 'interval year to month':
    case 'float':
    case 'double': {
      const values = data.values as ArrayLike<number>;
      return (i) => values[i];
    }
    case 'long':
    case 'interval day to second': {
      const values = signed64(data.values);
      return options.int64 === undefined || options.int64 === 'bigint'
        ? (i) => values[i]
        : (i) => longToJs(values[i]!, options.int64);
    }
    case 'boolean': {
      const bits = data.values as Uint8Array;
      const { offset } = data;
      return (i) => ((bits[(offset + i) >> 3]! >> ((offset + i) & 7)) & 1) === 1;
    }
    case 'string':
      return stringReader(data);
    case 'binary':
      return binaryReader(data);
    case 'decimal': {
      const unscaled = unscaledReader(data)!;
      return (i) => decimalText(unscaled(i), type.scale);
    }
    case 'date': {
      const days = data.values as Int32Array;
      return remembered(
        (i) => days[i]!,
        (day) => dateToJs(day, options.timestamp),
        options,
      );
    }
    case 'timestamp':
    case 'timestamp_ntz': {
      const micros = signed64(data.values);
      const zoned = type.type === 'timestamp';
      return (i) => timestampToJs(micros[i]!, zoned, options.timestamp);
    }
    case 'struct':
      return structReader(data, type, options);
    case 'variant':
      return structReader(data, VARIANT, options);
    case 'array': {
      const offsets = data.valueOffsets as Int32Array;
      const element = cellReader(data.children[0]!, type.elementType, options);
      return (i) => {
        const from = offsets[i]!;
        return Array.from({ length: offsets[i + 1]! - from }, (_, k) => element(from + k));
      };
    }
    case 'map': {
      const offsets = data.valueOffsets as Int32Array;
      const [keys, values] = data.children[0]!.children;
      const key = cellReader(keys!, type.keyType, options);
      const value = cellReader(values!, type.valueType, options);
      const byIdentity = KEYS.has(type.keyType.type);
      return (i) => {
        const entries: [unknown, unknown][] = [];
        for (let k = offsets[i]!; k < offsets[i + 1]!; k++) entries.push([key(k), value(k)]);
        return byIdentity ? new Map(entries) : entries;
      };
    }
    default:
      return () => null;
  }
}

/** Key types whose values a `Map` finds again: those that become JavaScript primitives. */
const KEYS: ReadonlySet<string> = new Set([
  'byte',
  'short',
  'integer',
  'long',
  'float',
  'double',
  'boolean',
  'string',
  'decimal',
]);

/** Dates come again and again in a batch and are immutable (but for Date objects): each is made once. */
function remembered(
  day: (i: number) => number,
  make: (day: number) => unknown,
  options: RowOptions,
): CellReader {
  if (options.timestamp === 'micros') return day;
  if (options.timestamp === 'date') return (i) => make(day(i));
  const made = new Map<number, unknown>();
  return (i) => {
    const key = day(i);
    let value = made.get(key);
    if (value === undefined) {
      value = make(key);
      made.set(key, value);
    }
    return value;
  };
}

function structReader(data: ArrowDataLike, type: StructType, options: RowOptions): CellReader {
  const names = type.fields.map((field) => field.name);
  const readers = type.fields.map((field, k) => cellReader(data.children[k]!, field.dataType, options));
  return (i) => {
    const object: Record<string, unknown> = {};
    for (let k = 0; k < names.length; k++) {
      const name = names[k]!;
      if (name === '__proto__')
        Object.defineProperty(object, name, {
          value: readers[k]!(i),
          writable: true,
          enumerable: true,
          configurable: true,
        });
      else object[name] = readers[k]!(i);
    }
    return object;
  };
}

function stringReader(data: ArrowDataLike): CellReader {
  const offsets = data.valueOffsets as Int32Array;
  const values = (data.values ?? new Uint8Array(0)) as Uint8Array;
  const buffer = Buffer.from(values.buffer, values.byteOffset, values.byteLength);
  const start = offsets[0]!;
  const ascii = isAscii(buffer.subarray(start, offsets[data.length]!));
  if (!ascii) return (i) => buffer.toString('utf8', offsets[i]!, offsets[i + 1]!);
  const all = buffer.toString('latin1', start, offsets[data.length]!);
  return (i) => {
    const from = offsets[i]!;
    const to = offsets[i + 1]!;
    // Engines copy short slices; a long one would keep the text of the whole column alive.
    return to - from < COPIED_SLICE
      ? all.slice(from - start, to - start)
      : buffer.toString('latin1', from, to);
  };
}

const COPIED_SLICE = 13;

function binaryReader(data: ArrowDataLike): CellReader {
  const offsets = data.valueOffsets as Int32Array;
  const values = (data.values ?? new Uint8Array(0)) as Uint8Array;
  return (i) => values.slice(offsets[i]!, offsets[i + 1]!);
}
