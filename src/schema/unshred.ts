import { Data } from 'apache-arrow';
import { toArrowType } from './arrow.js';
import { ARROW, type ArrowDataLike, arrowTypeText, isValid } from './arrow-shape.js';
import { bitsOf, signed64 } from './cast-bits.js';
import { bytesReader } from './cast-bytes.js';
import { unscaledReader } from './cast-number.js';
import { packBytes } from './text-column.js';
import { compareUtf8 } from './value.js';
import {
  arrayValue,
  booleanValue,
  corruptVariant,
  decimalValue,
  NULL_VALUE,
  objectValue,
  primitive,
  readContainer,
  readNames,
  sizedValue,
  stringValue,
  valueLength,
} from './variant-bytes.js';

/**
 * Puts shredded variants together again (Parquet: Variant Shredding): from a struct of `metadata`, `value` and `typed_value` as a Parquet reader gives it, the
 * struct of `value` and `metadata` in which this library holds variants. A file may shred or not; without `typed_value` the bytes are taken as they are.
 * Errors: `CORRUPT_DATA_FILE` for values that contradict each other or their metadata.
 */
export function unshredVariants(data: ArrowDataLike): Data {
  const metadata = bytesOf(child(data, 'metadata'));
  if (metadata === undefined) throw corruptVariant('it has no metadata');
  const value = valueReader(data);
  const values = new Array<Uint8Array | undefined>(data.length);
  const metadatas = new Array<Uint8Array | undefined>(data.length);
  let last: { bytes: Uint8Array; names: Names } | undefined;
  for (let i = 0; i < data.length; i++) {
    if (!isValid(data, i)) continue;
    const bytes = metadata(i);
    if (bytes === undefined) throw corruptVariant('it has no metadata');
    if (last === undefined || Buffer.compare(last.bytes, bytes) !== 0)
      last = { bytes, names: namesOf(bytes) };
    metadatas[i] = bytes;
    values[i] = value(i, last.names) ?? NULL_VALUE;
  }
  return structOf(data, values, metadatas);
}

/** Ids of member names, and names of ids. */
interface Names {
  readonly list: readonly string[];
  readonly ids: ReadonlyMap<string, number>;
}

function namesOf(metadata: Uint8Array): Names {
  const list = readNames(metadata);
  return { list, ids: new Map(list.map((name, id) => [name, id])) };
}

/** Gives the bytes of a value, or undefined where the field is missing. */
type Reader = (i: number, names: Names) => Uint8Array | undefined;

function child(data: ArrowDataLike, name: string): ArrowDataLike | undefined {
  const i = (data.type.children ?? []).findIndex((field) => field.name === name);
  return i < 0 ? undefined : data.children[i];
}

function bytesOf(data: ArrowDataLike | undefined): ((i: number) => Uint8Array | undefined) | undefined {
  if (data === undefined || data.type.typeId === ARROW.null) return undefined;
  const read = bytesReader(data);
  if (read === undefined) throw corruptVariant(`a part of it is of the type ${arrowTypeText(data.type)}`);
  return (i) => (isValid(data, i) ? read(i) : undefined);
}

/** A group of `value` and `typed_value`: at the top, in an element, in a field. */
function valueReader(data: ArrowDataLike): Reader {
  const raw = bytesOf(child(data, 'value'));
  const typedData = child(data, 'typed_value');
  if (typedData === undefined) return (i) => raw?.(i);
  if (typedData.type.typeId === ARROW.struct) return objectReader(typedData, raw);
  const typed = typedReader(typedData);
  return (i, names) => (isValid(typedData, i) ? typed(i, names) : raw?.(i));
}

/** Objects of which some fields have columns; what has none stands in `value`, an object too. */
function objectReader(
  typed: ArrowDataLike,
  raw: ((i: number) => Uint8Array | undefined) | undefined,
): Reader {
  const fields = (typed.type.children ?? []).map((field, k) => ({
    name: field.name,
    data: typed.children[k]!,
    read: valueReader(typed.children[k]!),
  }));
  return (i, names) => {
    const rest = raw?.(i);
    if (!isValid(typed, i)) return rest;
    const members = new Map<string, { id: number; value: Uint8Array }>();
    if (rest !== undefined) readMembers(rest, names, members);
    for (const { name, data, read } of fields) {
      const value = isValid(data, i) ? read(i, names) : undefined;
      if (value === undefined) continue;
      const id = names.ids.get(name);
      if (id === undefined) throw corruptVariant(`its metadata does not name the field '${name}'`);
      if (members.has(name)) throw corruptVariant(`it has the field '${name}' twice`);
      members.set(name, { id, value });
    }
    const sorted = [...members].sort(([a], [b]) => compareUtf8(a, b));
    return objectValue(sorted.map(([, member]) => member));
  };
}

function readMembers(
  bytes: Uint8Array,
  names: Names,
  members: Map<string, { id: number; value: Uint8Array }>,
): void {
  if ((bytes[0]! & 3) !== 2) throw corruptVariant('it has fields and is no object');
  const { ids, starts } = readContainer(bytes, 0);
  ids.forEach((id, k) => {
    const name = names.list[id];
    if (name === undefined) throw corruptVariant('it has a member that its dictionary does not name');
    const start = starts[k]!;
    const end = start + valueLength(bytes, start);
    if (end > bytes.length) throw corruptVariant('it ends too early');
    members.set(name, { id, value: bytes.subarray(start, end) });
  });
}

/** Values of a column of one type, not NULL, as variant bytes. */
function typedReader(data: ArrowDataLike): Reader {
  const { type } = data;
  const view =
    (id: number, size: number, write: (view: DataView, i: number) => void): Reader =>
    (i) =>
      primitive(id, size, (into) => write(into, i));
  switch (type.typeId) {
    case ARROW.bool: {
      const bits = data.values as Uint8Array;
      return (i) => booleanValue(((bits[(data.offset + i) >> 3]! >> ((data.offset + i) & 7)) & 1) === 1);
    }
    case ARROW.int: {
      const values = data.values as ArrayLike<number>;
      if (type.bitWidth === 8) return view(3, 1, (into, i) => into.setInt8(0, values[i]!));
      if (type.bitWidth === 16) return view(4, 2, (into, i) => into.setInt16(0, values[i]!, true));
      if (type.bitWidth === 32) return view(5, 4, (into, i) => into.setInt32(0, values[i]!, true));
      return wide(6, data);
    }
    case ARROW.float: {
      const values = data.values as ArrayLike<number>;
      if (type.precision === 1) return view(14, 4, (into, i) => into.setFloat32(0, values[i]!, true));
      return view(7, 8, (into, i) => into.setFloat64(0, values[i]!, true));
    }
    case ARROW.decimal: {
      const unscaled = unscaledReader(data)!;
      return (i) => decimalValue(unscaled(i), type.precision ?? 38, type.scale ?? 0);
    }
    case ARROW.date: {
      const days = data.values as Int32Array;
      return view(11, 4, (into, i) => into.setInt32(0, days[i]!, true));
    }
    case ARROW.timestamp:
      // Only microseconds (2) and nanoseconds (3) are variants.
      if (type.unit !== 2 && type.unit !== 3) break;
      return wide((type.unit === 2 ? 12 : 18) + (type.timezone ? 0 : 1), data);
    case TIME:
      if (type.unit !== 2) break;
      return wide(17, data);
    case ARROW.fixedSizeBinary: {
      const bytes = bytesReader(data)!;
      if (type.byteWidth !== 16) break;
      return view(20, 16, (into, i) => new Uint8Array(into.buffer, into.byteOffset, 16).set(bytes(i)));
    }
    case ARROW.utf8:
    case ARROW.largeUtf8:
    case ARROW.utf8View: {
      const bytes = bytesReader(data)!;
      return (i) => stringValue(bytes(i));
    }
    case ARROW.binary:
    case ARROW.largeBinary:
    case ARROW.binaryView: {
      const bytes = bytesReader(data)!;
      return (i) => sizedValue(15, bytes(i));
    }
    case ARROW.list:
    case ARROW.largeList:
      return listReader(data);
    default:
      break;
  }
  throw corruptVariant(`it is shredded into ${arrowTypeText(type)}, which is no type of a variant`);
}

/** `Type.Time` of the Arrow format. */
const TIME = 9;

function wide(id: number, data: ArrowDataLike): Reader {
  const values = signed64(data.values);
  return (i) => primitive(id, 8, (view) => view.setBigInt64(0, values[i]!, true));
}

function listReader(data: ArrowDataLike): Reader {
  const offsets = data.valueOffsets as ArrayLike<number | bigint>;
  const elements = data.children[0]!;
  const element = valueReader(elements);
  return (i, names) => {
    const values: Uint8Array[] = [];
    for (let k = Number(offsets[i]); k < Number(offsets[i + 1]); k++)
      values.push(element(k, names) ?? NULL_VALUE);
    return arrayValue(values);
  };
}

function structOf(
  data: ArrowDataLike,
  values: readonly (Uint8Array | undefined)[],
  metadatas: readonly (Uint8Array | undefined)[],
): Data {
  const type = toArrowType({ type: 'variant' });
  const { bitmap, nulls } = bitsOf(data.length, (i) => isValid(data, i));
  const children = [values, metadatas].map((parts) => {
    const { offsets, bytes } = packBytes(parts, () => {});
    return new Data(type.children[0]!.type, 0, data.length, nulls, [offsets, bytes, bitmap]);
  });
  return new Data(type, 0, data.length, nulls, [undefined, undefined, bitmap] as never, children);
}
