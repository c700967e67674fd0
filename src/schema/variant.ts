import { dateText, timestampText } from './calendar-text.js';
import { decimalText, doubleText, floatText } from './number-text.js';

/** How deep the values of a variant may nest. */
const MAX_DEPTH = 500;

const UTF8 = new TextDecoder();

/**
 * The JSON text of a variant (Parquet: Variant Binary Encoding), as Spark's `to_json` writes it: decimals without trailing zeros, dates and times as
 * strings, binary as base64. Throws `RangeError` for bytes that are none.
 */
export function variantText(metadata: Uint8Array, value: Uint8Array): string {
  return valueText(new Reader(value), 0, readNames(metadata), 0);
}

/** Little-endian numbers, read within bounds. */
class Reader {
  readonly bytes: Uint8Array;
  readonly #view: DataView;

  constructor(bytes: Uint8Array) {
    this.bytes = bytes;
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  unsigned(at: number, width: number): number {
    if (at + width > this.bytes.length) throw new RangeError('variant past the end of its bytes');
    let value = 0;
    for (let i = width - 1; i >= 0; i--) value = value * 256 + this.bytes[at + i]!;
    return value;
  }

  signed(at: number, width: 1 | 2 | 4): number {
    const value = this.unsigned(at, width);
    return value >= 2 ** (8 * width - 1) ? value - 2 ** (8 * width) : value;
  }

  long(at: number): bigint {
    return this.#view.getBigInt64(at, true);
  }

  long128(at: number): bigint {
    return (this.#view.getBigInt64(at + 8, true) << 64n) | this.#view.getBigUint64(at, true);
  }

  float(at: number): number {
    return this.#view.getFloat32(at, true);
  }

  double(at: number): number {
    return this.#view.getFloat64(at, true);
  }

  slice(at: number, length: number): Uint8Array {
    if (at + length > this.bytes.length) throw new RangeError('variant past the end of its bytes');
    return this.bytes.subarray(at, at + length);
  }

  text(at: number, length: number): string {
    return UTF8.decode(this.slice(at, length));
  }
}

/** The dictionary of field names. */
function readNames(metadata: Uint8Array): string[] {
  const reader = new Reader(metadata);
  const header = reader.unsigned(0, 1);
  if ((header & 15) !== 1) throw new RangeError(`variant metadata of version ${header & 15}`);
  const width = (header >> 6) + 1;
  const size = reader.unsigned(1, width);
  if (size > metadata.length) throw new RangeError('variant with more names than bytes');
  const start = 1 + width * (size + 2);
  return Array.from({ length: size }, (_, i) => {
    const from = reader.unsigned(1 + width * (i + 1), width);
    const to = reader.unsigned(1 + width * (i + 2), width);
    if (to < from) throw new RangeError('variant names out of order');
    return reader.text(start + from, to - from);
  });
}

function valueText(reader: Reader, at: number, names: readonly string[], depth: number): string {
  if (depth > MAX_DEPTH) throw new RangeError('variant nested too deeply');
  const first = reader.unsigned(at, 1);
  const header = first >> 2;
  switch (first & 3) {
    case 0:
      return primitiveText(reader, header, at + 1);
    case 1:
      return JSON.stringify(reader.text(at + 1, header));
    case 2:
      return objectText(reader, at, header, names, depth);
    default:
      return arrayText(reader, at, header, names, depth);
  }
}

function objectText(
  reader: Reader,
  at: number,
  header: number,
  names: readonly string[],
  depth: number,
): string {
  const offsetWidth = (header & 3) + 1;
  const idWidth = ((header >> 2) & 3) + 1;
  const sizeWidth = (header >> 4) & 1 ? 4 : 1;
  const size = reader.unsigned(at + 1, sizeWidth);
  const ids = at + 1 + sizeWidth;
  const offsets = ids + size * idWidth;
  const values = offsets + (size + 1) * offsetWidth;
  if (values > reader.bytes.length) throw new RangeError('variant past the end of its bytes');
  const members: string[] = [];
  for (let i = 0; i < size; i++) {
    const name = names[reader.unsigned(ids + i * idWidth, idWidth)];
    if (name === undefined) throw new RangeError('variant field without a name');
    const from = values + reader.unsigned(offsets + i * offsetWidth, offsetWidth);
    members.push(`${JSON.stringify(name)}:${valueText(reader, from, names, depth + 1)}`);
  }
  return `{${members.join(',')}}`;
}

function arrayText(
  reader: Reader,
  at: number,
  header: number,
  names: readonly string[],
  depth: number,
): string {
  const offsetWidth = (header & 3) + 1;
  const sizeWidth = (header >> 2) & 1 ? 4 : 1;
  const size = reader.unsigned(at + 1, sizeWidth);
  const offsets = at + 1 + sizeWidth;
  const values = offsets + (size + 1) * offsetWidth;
  if (values > reader.bytes.length) throw new RangeError('variant past the end of its bytes');
  const elements: string[] = [];
  for (let i = 0; i < size; i++) {
    const from = values + reader.unsigned(offsets + i * offsetWidth, offsetWidth);
    elements.push(valueText(reader, from, names, depth + 1));
  }
  return `[${elements.join(',')}]`;
}

function primitiveText(reader: Reader, type: number, at: number): string {
  switch (type) {
    case 0:
      return 'null';
    case 1:
      return 'true';
    case 2:
      return 'false';
    case 3:
      return String(reader.signed(at, 1));
    case 4:
      return String(reader.signed(at, 2));
    case 5:
      return String(reader.signed(at, 4));
    case 6:
      return String(reader.long(at));
    case 7:
      return doubleText(reader.double(at));
    case 8:
      return shortDecimal(BigInt(reader.signed(at + 1, 4)), reader.unsigned(at, 1));
    case 9:
      return shortDecimal(reader.long(at + 1), reader.unsigned(at, 1));
    case 10:
      return shortDecimal(reader.long128(at + 1), reader.unsigned(at, 1));
    case 11:
      return `"${dateText(reader.signed(at, 4))}"`;
    case 12:
      return `"${timeText(reader.long(at))}+00:00"`;
    case 13:
      return `"${timeText(reader.long(at))}"`;
    case 14:
      return floatText(reader.float(at));
    case 15:
      return `"${Buffer.from(reader.slice(at + 4, reader.unsigned(at, 4))).toString('base64')}"`;
    case 16:
      return JSON.stringify(reader.text(at + 4, reader.unsigned(at, 4)));
    case 20:
      return `"${uuidText(reader.slice(at, 16))}"`;
    default:
      throw new RangeError(`variant of the unknown type ${type}`);
  }
}

function shortDecimal(unscaled: bigint, scale: number): string {
  const text = decimalText(unscaled, scale);
  return text.includes('.') ? text.replace(/\.?0+$/, '') : text;
}

function timeText(micros: bigint): string {
  const text = timestampText(micros, ' ', 'needed');
  return text.includes('.') ? text.replace(/0+$/, '') : text;
}

function uuidText(bytes: Uint8Array): string {
  return Buffer.from(bytes)
    .toString('hex')
    .replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
}
