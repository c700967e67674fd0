import { Refusal } from './cell-fault.js';
import { isWellFormed } from './partition-value.js';

/** The bytes of a column of strings with the offset of each, as Arrow holds them. */
export interface PackedBytes {
  readonly offsets: Int32Array;
  readonly bytes: Uint8Array;
}

const LONGEST = 2 ** 31 - 1;
const TOO_LONG = 'The batch holds more than 2 GiB in this column; give fewer rows at a time.';

/**
 * Encodes strings as UTF-8, '' standing where a row is NULL. All at once when they are ASCII, which most columns are. `onRow` is told the row being
 * looked at, so that a refusal (a lone surrogate, more than 2 GiB) can be placed.
 */
export function packStrings(texts: readonly string[], onRow: (row: number) => void): PackedBytes {
  const rows = texts.length;
  const offsets = new Int32Array(rows + 1);
  let units = 0;
  for (let i = 0; i < rows; i++) {
    units += texts[i]!.length;
    if (units > LONGEST) {
      onRow(i);
      throw new Refusal('string', TOO_LONG);
    }
    offsets[i + 1] = units;
  }
  // Beyond this the joined string itself would be refused by the engine.
  if (units < 2 ** 28) {
    const joined = texts.join('');
    if (Buffer.byteLength(joined) === units) return { offsets, bytes: latin1(joined, units) };
  }
  return packWide(texts, offsets, onRow);
}

function latin1(joined: string, length: number): Uint8Array {
  const bytes = new Uint8Array(length);
  Buffer.from(bytes.buffer).write(joined, 'latin1');
  return bytes;
}

function packWide(texts: readonly string[], offsets: Int32Array, onRow: (row: number) => void): PackedBytes {
  let size = 0;
  for (let i = 0; i < texts.length; i++) {
    const text = texts[i]!;
    const length = Buffer.byteLength(text);
    if (length !== text.length && !isWellFormed(text)) {
      onRow(i);
      throw new Refusal('string', 'It has a lone surrogate, which UTF-8 cannot hold.');
    }
    size += length;
    if (size > LONGEST) {
      onRow(i);
      throw new Refusal('string', TOO_LONG);
    }
    offsets[i + 1] = size;
  }
  const bytes = new Uint8Array(size);
  const buffer = Buffer.from(bytes.buffer);
  for (let i = 0; i < texts.length; i++) {
    if (texts[i]!.length > 0) buffer.write(texts[i]!, offsets[i]!, 'utf8');
  }
  return { offsets, bytes };
}

/** Puts byte strings one behind the other; undefined where a row is NULL. */
export function packBytes(
  values: readonly (Uint8Array | undefined)[],
  onRow: (row: number) => void,
): PackedBytes {
  const offsets = new Int32Array(values.length + 1);
  let size = 0;
  for (let i = 0; i < values.length; i++) {
    size += values[i]?.length ?? 0;
    if (size > LONGEST) {
      onRow(i);
      throw new Refusal('binary', TOO_LONG);
    }
    offsets[i + 1] = size;
  }
  const bytes = new Uint8Array(size);
  for (let i = 0; i < values.length; i++) {
    const value = values[i];
    if (value !== undefined) bytes.set(value, offsets[i]!);
  }
  return { offsets, bytes };
}
