import { TableError } from '../errors.js';

/** Encodes the parts of a variant value (Parquet: Variant Binary Encoding). */

/** One primitive value: its type's number in the header, then its bytes. */
export function primitive(id: number, size: number, write: (view: DataView) => void): Uint8Array {
  const bytes = new Uint8Array(1 + size);
  bytes[0] = id << 2;
  write(new DataView(bytes.buffer, 1));
  return bytes;
}

export const NULL_VALUE = Uint8Array.of(0);

export function booleanValue(value: boolean): Uint8Array {
  return Uint8Array.of((value ? 1 : 2) << 2);
}

/** Up to 63 bytes of UTF-8 take the short form. */
export function stringValue(utf8: Uint8Array): Uint8Array {
  if (utf8.length > 63) return sizedValue(16, utf8);
  const bytes = new Uint8Array(1 + utf8.length);
  bytes[0] = (utf8.length << 2) | 1;
  bytes.set(utf8, 1);
  return bytes;
}

/** A string or binary behind its length. */
export function sizedValue(id: number, content: Uint8Array): Uint8Array {
  const bytes = new Uint8Array(5 + content.length);
  bytes[0] = id << 2;
  new DataView(bytes.buffer).setUint32(1, content.length, true);
  bytes.set(content, 5);
  return bytes;
}

/** A decimal in the least of the three sizes that hold its precision. */
export function decimalValue(unscaled: bigint, precision: number, scale: number): Uint8Array {
  if (precision <= 9)
    return primitive(8, 5, (view) => {
      view.setUint8(0, scale);
      view.setInt32(1, Number(unscaled), true);
    });
  if (precision <= 18)
    return primitive(9, 9, (view) => {
      view.setUint8(0, scale);
      view.setBigInt64(1, unscaled, true);
    });
  return primitive(10, 17, (view) => {
    view.setUint8(0, scale);
    view.setBigInt64(1, BigInt.asIntN(64, unscaled), true);
    view.setBigInt64(9, unscaled >> 64n, true);
  });
}

export function arrayValue(elements: readonly Uint8Array[]): Uint8Array {
  const large = elements.length > 255;
  const size = elements.reduce((sum, element) => sum + element.length, 0);
  const width = widthOf(size);
  const start = 1 + (large ? 4 : 1);
  const bytes = new Uint8Array(start + (elements.length + 1) * width + size);
  bytes[0] = (((large ? 4 : 0) | (width - 1)) << 2) | 3;
  writeUnsigned(bytes, 1, elements.length, large ? 4 : 1);
  writeParts(bytes, start, elements, width);
  return bytes;
}

/** An object from its members, in the order of the bytes of their names. */
export function objectValue(
  members: readonly { readonly id: number; readonly value: Uint8Array }[],
): Uint8Array {
  const large = members.length > 255;
  const size = members.reduce((sum, member) => sum + member.value.length, 0);
  const width = widthOf(size);
  const idWidth = widthOf(members.reduce((most, member) => Math.max(most, member.id), 0));
  const ids = 1 + (large ? 4 : 1);
  const offsets = ids + members.length * idWidth;
  const bytes = new Uint8Array(offsets + (members.length + 1) * width + size);
  bytes[0] = (((large ? 16 : 0) | ((idWidth - 1) << 2) | (width - 1)) << 2) | 2;
  writeUnsigned(bytes, 1, members.length, large ? 4 : 1);
  members.forEach((member, i) => {
    writeUnsigned(bytes, ids + i * idWidth, member.id, idWidth);
  });
  writeParts(
    bytes,
    offsets,
    members.map((member) => member.value),
    width,
  );
  return bytes;
}

function writeParts(bytes: Uint8Array, offsets: number, parts: readonly Uint8Array[], width: number): void {
  const start = offsets + (parts.length + 1) * width;
  let at = 0;
  parts.forEach((part, i) => {
    writeUnsigned(bytes, offsets + i * width, at, width);
    bytes.set(part, start + at);
    at += part.length;
  });
  writeUnsigned(bytes, offsets + parts.length * width, at, width);
}

function widthOf(value: number): number {
  return value < 0x100 ? 1 : value < 0x1_0000 ? 2 : value < 0x100_0000 ? 3 : 4;
}

function writeUnsigned(bytes: Uint8Array, at: number, value: number, size: number): void {
  let rest = value;
  for (let i = 0; i < size; i++) {
    bytes[at + i] = rest % 256;
    rest = Math.floor(rest / 256);
  }
}

/** The dictionary of member names in a variant's metadata. Errors: `CORRUPT_DATA_FILE`. */
export function readNames(metadata: Uint8Array): readonly string[] {
  const header = metadata[0];
  if (header === undefined || (header & 15) !== 1)
    throw corruptVariant(`its metadata is of version ${header === undefined ? 'none' : header & 15}`);
  const size = (header >> 6) + 1;
  const count = readUnsigned(metadata, 1, size);
  const start = 1 + size * (count + 2);
  if (start > metadata.length) throw corruptVariant('its dictionary is longer than its metadata');
  return Array.from({ length: count }, (_, i) => {
    const from = start + readUnsigned(metadata, 1 + size * (i + 1), size);
    const to = start + readUnsigned(metadata, 1 + size * (i + 2), size);
    return readUtf8(metadata, from, to);
  });
}

export function readUnsigned(bytes: Uint8Array, at: number, size: number): number {
  if (at + size > bytes.length) throw corruptVariant('it ends too early');
  let value = 0;
  for (let i = size - 1; i >= 0; i--) value = value * 256 + bytes[at + i]!;
  return value;
}

export function readUtf8(bytes: Uint8Array, from: number, to: number): string {
  if (from > to || to > bytes.length) throw corruptVariant('a string reaches over its end');
  return Buffer.from(bytes.buffer, bytes.byteOffset + from, to - from).toString('utf8');
}

/** Where the members or elements of a container are: `ids` are empty for an array. */
export interface ContainerParts {
  readonly ids: readonly number[];
  /** The first byte of each value. */
  readonly starts: readonly number[];
}

/** Reads the head of an object (2) or array (3) whose header byte is at `at`. Errors: `CORRUPT_DATA_FILE`. */
export function readContainer(bytes: Uint8Array, at: number): ContainerParts {
  const header = bytes[at]! >> 2;
  const isObject = (bytes[at]! & 3) === 2;
  const width = (header & 3) + 1;
  const idWidth = isObject ? ((header >> 2) & 3) + 1 : 0;
  const countWidth = header & (isObject ? 16 : 4) ? 4 : 1;
  const count = readUnsigned(bytes, at + 1, countWidth);
  const idsAt = at + 1 + countWidth;
  const offsetsAt = idsAt + count * idWidth;
  const valuesAt = offsetsAt + (count + 1) * width;
  if (valuesAt > bytes.length) throw corruptVariant('it has fewer bytes than elements');
  const each = <T>(read: (i: number) => T): T[] => Array.from({ length: count }, (_, i) => read(i));
  return {
    ids: isObject ? each((i) => readUnsigned(bytes, idsAt + i * idWidth, idWidth)) : [],
    starts: each((i) => valuesAt + readUnsigned(bytes, offsetsAt + i * width, width)),
  };
}

/** How many bytes the value at `at` takes, inner values included. Errors: `CORRUPT_DATA_FILE`. */
export function valueLength(bytes: Uint8Array, at: number): number {
  const first = bytes[at];
  if (first === undefined) throw corruptVariant('it ends too early');
  const header = first >> 2;
  switch (first & 3) {
    case 0:
      return header === 15 || header === 16
        ? 5 + readUnsigned(bytes, at + 1, 4)
        : 1 + (PRIMITIVE_SIZES[header] ?? 0);
    case 1:
      return 1 + header;
    default: {
      const width = (header & 3) + 1;
      const isObject = (first & 3) === 2;
      const countWidth = header & (isObject ? 16 : 4) ? 4 : 1;
      const count = readUnsigned(bytes, at + 1, countWidth);
      const idWidth = isObject ? ((header >> 2) & 3) + 1 : 0;
      const offsetsAt = at + 1 + countWidth + count * idWidth;
      return offsetsAt + (count + 1) * width + readUnsigned(bytes, offsetsAt + count * width, width) - at;
    }
  }
}

/** Bytes of each primitive type that has a fixed number of them. */
export const PRIMITIVE_SIZES: Readonly<Record<number, number>> = {
  3: 1,
  4: 2,
  5: 4,
  6: 8,
  7: 8,
  8: 5,
  9: 9,
  10: 17,
  11: 4,
  12: 8,
  13: 8,
  14: 4,
  17: 8,
  18: 8,
  19: 8,
  20: 16,
};

export function corruptVariant(what: string): TableError {
  return new TableError('CORRUPT_DATA_FILE', `A variant value cannot be read: ${what}.`, { what });
}
