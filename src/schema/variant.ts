import { TableError } from '../errors.js';
import { dateText, timestampText } from './calendar-text.js';
import { decimalText, doubleText, floatText } from './number-text.js';

/** Values nested deeper than this are refused: the reader is recursive. */
const MAX_DEPTH = 500;

/**
 * The JSON text of a variant as Spark's `to_json` writes it (Parquet: Variant Binary Encoding): members in the order of the object, numbers without trailing
 * zeros of decimals, dates and timestamps as quoted text in UTC, binary in base64, NaN and infinities quoted.
 * Errors: `CORRUPT_DATA_FILE` for bytes that are no variant, in time and space bounded by their length.
 */
export function variantText(metadata: Uint8Array, value: Uint8Array): string {
  const names = readNames(metadata);
  return new VariantReader(value, names).text();
}

/** The dictionary of member names. */
function readNames(metadata: Uint8Array): readonly string[] {
  const header = metadata[0];
  if (header === undefined || (header & 15) !== 1)
    throw corrupt(`its metadata is of version ${header === undefined ? 'none' : header & 15}`);
  const size = (header >> 6) + 1;
  const count = unsigned(metadata, 1, size);
  const start = 1 + size * (count + 2);
  if (start > metadata.length) throw corrupt('its dictionary is longer than its metadata');
  return Array.from({ length: count }, (_, i) => {
    const from = start + unsigned(metadata, 1 + size * (i + 1), size);
    const to = start + unsigned(metadata, 1 + size * (i + 2), size);
    return utf8(metadata, from, to);
  });
}

function unsigned(bytes: Uint8Array, at: number, size: number): number {
  if (at + size > bytes.length) throw corrupt('it ends too early');
  let value = 0;
  for (let i = size - 1; i >= 0; i--) value = value * 256 + bytes[at + i]!;
  return value;
}

function utf8(bytes: Uint8Array, from: number, to: number): string {
  if (from > to || to > bytes.length) throw corrupt('a string reaches over its end');
  return Buffer.from(bytes.buffer, bytes.byteOffset + from, to - from).toString('utf8');
}

function corrupt(what: string): TableError {
  return new TableError('CORRUPT_DATA_FILE', `A variant value cannot be read: ${what}.`, { what });
}

/** Reads one value and those inside it. */
class VariantReader {
  readonly #bytes: Uint8Array;
  readonly #view: DataView;
  readonly #names: readonly string[];
  /** Each value takes a byte of its own, so more values than bytes mean that they overlap, which could go on for ever. */
  #left: number;

  constructor(bytes: Uint8Array, names: readonly string[]) {
    this.#bytes = bytes;
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.#names = names;
    this.#left = bytes.length;
  }

  text(): string {
    return this.#value(0, 0);
  }

  #value(at: number, depth: number): string {
    if (depth > MAX_DEPTH) throw corrupt(`it is nested deeper than ${MAX_DEPTH} levels`);
    if (--this.#left < 0) throw corrupt('its values overlap');
    const first = this.#bytes[at];
    if (first === undefined) throw corrupt('it ends too early');
    const header = first >> 2;
    switch (first & 3) {
      case 0:
        return this.#primitive(header, at + 1);
      case 1:
        return quoted(utf8(this.#bytes, at + 1, at + 1 + header));
      case 2:
        return this.#object(header, at + 1, depth);
      default:
        return this.#array(header, at + 1, depth);
    }
  }

  #object(header: number, at: number, depth: number): string {
    const offsetSize = (header & 3) + 1;
    const idSize = ((header >> 2) & 3) + 1;
    const countSize = header & 16 ? 4 : 1;
    const count = unsigned(this.#bytes, at, countSize);
    const ids = at + countSize;
    const offsets = ids + count * idSize;
    const values = offsets + (count + 1) * offsetSize;
    this.#reaches(values);
    const members: string[] = [];
    for (let i = 0; i < count; i++) {
      const name = this.#names[unsigned(this.#bytes, ids + i * idSize, idSize)];
      if (name === undefined) throw corrupt('it has a member that its dictionary does not name');
      const value = this.#value(
        values + unsigned(this.#bytes, offsets + i * offsetSize, offsetSize),
        depth + 1,
      );
      members.push(`${quoted(name)}:${value}`);
    }
    return `{${members.join(',')}}`;
  }

  #array(header: number, at: number, depth: number): string {
    const offsetSize = (header & 3) + 1;
    const countSize = header & 4 ? 4 : 1;
    const count = unsigned(this.#bytes, at, countSize);
    const offsets = at + countSize;
    const values = offsets + (count + 1) * offsetSize;
    this.#reaches(values);
    const elements: string[] = [];
    for (let i = 0; i < count; i++) {
      elements.push(
        this.#value(values + unsigned(this.#bytes, offsets + i * offsetSize, offsetSize), depth + 1),
      );
    }
    return `[${elements.join(',')}]`;
  }

  #reaches(end: number): void {
    if (end > this.#bytes.length) throw corrupt('it has fewer bytes than elements');
  }

  #primitive(id: number, at: number): string {
    const view = this.#view;
    this.#reaches(at + (SIZES[id] ?? 0));
    switch (id) {
      case 0:
        return 'null';
      case 1:
        return 'true';
      case 2:
        return 'false';
      case 3:
        return String(view.getInt8(at));
      case 4:
        return String(view.getInt16(at, true));
      case 5:
        return String(view.getInt32(at, true));
      case 6:
        return String(view.getBigInt64(at, true));
      case 7:
        return floating(view.getFloat64(at, true), doubleText);
      case 8:
        return decimal(BigInt(view.getInt32(at + 1, true)), view.getUint8(at));
      case 9:
        return decimal(view.getBigInt64(at + 1, true), view.getUint8(at));
      case 10:
        return decimal(
          (view.getBigInt64(at + 9, true) << 64n) | view.getBigUint64(at + 1, true),
          view.getUint8(at),
        );
      case 11:
        return `"${dateText(view.getInt32(at, true))}"`;
      case 12:
        return `"${trimmed(view.getBigInt64(at, true))}+00:00"`;
      case 13:
        return `"${trimmed(view.getBigInt64(at, true))}"`;
      case 14:
        return floating(view.getFloat32(at, true), floatText);
      case 15:
        return `"${this.#sized(at).toString('base64')}"`;
      case 16:
        return quoted(this.#sized(at).toString('utf8'));
      case 17:
        return `"${trimmed(view.getBigInt64(at, true)).slice('1970-01-01 '.length)}"`;
      case 18:
        return `"${nanos(view.getBigInt64(at, true))}+00:00"`;
      case 19:
        return `"${nanos(view.getBigInt64(at, true))}"`;
      case 20:
        return `"${uuid(this.#bytes.subarray(at, at + 16))}"`;
      default:
        throw corrupt(`it has the primitive type ${id}, which is unknown`);
    }
  }

  /** Bytes behind a length of four bytes. */
  #sized(at: number): Buffer {
    const length = unsigned(this.#bytes, at, 4);
    this.#reaches(at + 4 + length);
    return Buffer.from(this.#bytes.buffer, this.#bytes.byteOffset + at + 4, length);
  }
}

/** Bytes of each primitive type that has a fixed number of them. */
const SIZES: Readonly<Record<number, number>> = {
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

/** A JSON string with control characters as Spark writes them: `\u001F`, hexadecimal digits in upper case. */
function quoted(text: string): string {
  const json = JSON.stringify(text);
  return json.includes('\\u')
    ? json.replace(/\\(?:\\|u(00..))/g, (whole, code?: string) =>
        code === undefined ? whole : `\\u${code.toUpperCase()}`,
      )
    : json;
}

function floating(value: number, text: (value: number) => string): string {
  return Number.isFinite(value) ? text(value) : `"${value}"`;
}

function decimal(unscaled: bigint, scale: number): string {
  if (scale > 38) throw corrupt(`it has a decimal of scale ${scale}`);
  const text = decimalText(unscaled, scale);
  return scale === 0 ? text : text.replace(/\.?0+$/, '');
}

/** A timestamp without the zeros at the end of its fraction. */
function trimmed(micros: bigint): string {
  return timestampText(micros, ' ', 'needed')
    .replace(/(\.\d*?)0+$/, '$1')
    .replace(/\.$/, '');
}

function nanos(value: bigint): string {
  const below = ((value % 1000n) + 1000n) % 1000n;
  if (below === 0n) return trimmed(value / 1000n);
  return `${timestampText((value - below) / 1000n, ' ', 'micros')}${String(below).padStart(3, '0')}`.replace(
    /0+$/,
    '',
  );
}

function uuid(bytes: Uint8Array): string {
  const hex = Buffer.from(bytes).toString('hex');
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
}
