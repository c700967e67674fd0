import { dateText, timestampText } from './calendar-text.js';
import { decimalText, doubleText, floatText } from './number-text.js';
import {
  corruptVariant,
  PRIMITIVE_SIZES,
  readContainer,
  readNames,
  readUnsigned,
  readUtf8,
} from './variant-bytes.js';

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
    if (depth > MAX_DEPTH) throw corruptVariant(`it is nested deeper than ${MAX_DEPTH} levels`);
    if (--this.#left < 0) throw corruptVariant('its values overlap');
    const first = this.#bytes[at];
    if (first === undefined) throw corruptVariant('it ends too early');
    const header = first >> 2;
    switch (first & 3) {
      case 0:
        return this.#primitive(header, at + 1);
      case 1:
        return quoted(readUtf8(this.#bytes, at + 1, at + 1 + header));
      case 2:
        return this.#object(at, depth);
      default:
        return this.#array(at, depth);
    }
  }

  #object(at: number, depth: number): string {
    const { ids, starts } = readContainer(this.#bytes, at);
    const members = ids.map((id, i) => {
      const name = this.#names[id];
      if (name === undefined) throw corruptVariant('it has a member that its dictionary does not name');
      return `${quoted(name)}:${this.#value(starts[i]!, depth + 1)}`;
    });
    return `{${members.join(',')}}`;
  }

  #array(at: number, depth: number): string {
    const { starts } = readContainer(this.#bytes, at);
    return `[${starts.map((start) => this.#value(start, depth + 1)).join(',')}]`;
  }

  #reaches(end: number): void {
    if (end > this.#bytes.length) throw corruptVariant('it ends too early');
  }

  #primitive(id: number, at: number): string {
    const view = this.#view;
    this.#reaches(at + (PRIMITIVE_SIZES[id] ?? 0));
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
        throw corruptVariant(`it has the primitive type ${id}, which is unknown`);
    }
  }

  /** Bytes behind a length of four bytes. */
  #sized(at: number): Buffer {
    const length = readUnsigned(this.#bytes, at, 4);
    this.#reaches(at + 4 + length);
    return Buffer.from(this.#bytes.buffer, this.#bytes.byteOffset + at + 4, length);
  }
}

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
  if (scale > 38) throw corruptVariant(`it has a decimal of scale ${scale}`);
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
