import { type DataType as ArrowType, Data } from 'apache-arrow';
import { ARROW, type ArrowDataLike, isValid } from './arrow-shape.js';
import { bitsFrom, bitsOf, nullBits } from './cast-bits.js';
import { CellFault } from './cell-fault.js';
import { packBytes } from './text-column.js';

/** Where each byte string of a column is: any of the Arrow layouts for strings and binary; undefined for another type. */
export function bytesReader(data: ArrowDataLike): ((i: number) => Uint8Array) | undefined {
  const values = data.values as Uint8Array | undefined;
  switch (data.type.typeId) {
    case ARROW.utf8:
    case ARROW.binary:
    case ARROW.largeUtf8:
    case ARROW.largeBinary: {
      const offsets = data.valueOffsets as ArrayLike<number | bigint>;
      return (i) => (values ?? EMPTY).subarray(Number(offsets[i]), Number(offsets[i + 1]));
    }
    case ARROW.fixedSizeBinary: {
      const width = data.type.byteWidth ?? 0;
      return (i) => values!.subarray(i * width, (i + 1) * width);
    }
    case ARROW.utf8View:
    case ARROW.binaryView:
      return viewReader(data);
    default:
      return undefined;
  }
}

const EMPTY = new Uint8Array(0);

/** Views of 16 bytes: a length, then the bytes themselves up to 12, else four bytes of prefix, a buffer's number and an offset in it. */
function viewReader(data: ArrowDataLike): (i: number) => Uint8Array {
  const raw = data.values as ArrayBufferView;
  const bytes = new Uint8Array(raw.buffer, raw.byteOffset, raw.byteLength);
  const view = new DataView(raw.buffer, raw.byteOffset, raw.byteLength);
  const buffers = data.variadicBuffers ?? [];
  return (i) => {
    const length = view.getInt32(i * 16, true);
    if (length <= 12) return bytes.subarray(i * 16 + 4, i * 16 + 4 + length);
    const offset = view.getInt32(i * 16 + 12, true);
    return buffers[view.getInt32(i * 16 + 8, true)]!.subarray(offset, offset + length);
  };
}

const TEXT: ReadonlySet<number> = new Set([ARROW.utf8, ARROW.largeUtf8, ARROW.utf8View]);

/** Rewrites strings for a string column, binary for a binary column, in 32-bit offsets; undefined where the types do not match. */
export function castBytes(
  data: ArrowDataLike,
  type: 'string' | 'binary',
  arrowType: ArrowType,
): Data | undefined {
  if (TEXT.has(data.type.typeId) !== (type === 'string')) return undefined;
  const read = bytesReader(data);
  if (read === undefined) return undefined;
  const parts = new Array<Uint8Array | undefined>(data.length);
  for (let i = 0; i < data.length; i++) if (isValid(data, i)) parts[i] = read(i);
  const { bitmap, nulls } = nullBits(data);
  const { offsets, bytes } = pack(parts, type);
  return new Data(arrowType, 0, data.length, nulls, [offsets, bytes, bitmap]);
}

function pack(
  parts: readonly (Uint8Array | undefined)[],
  type: 'string' | 'binary',
): { offsets: Int32Array; bytes: Uint8Array } {
  let row = 0;
  try {
    return packBytes(parts, (i) => {
      row = i;
    });
  } catch {
    throw new CellFault({
      index: row,
      expected: type,
      got: 'more than 2 GiB in this column',
      hint: 'Give smaller batches.',
    });
  }
}

/** The values of `dictionary`, already in the table's type, by the indices of `data`; undefined for a nested dictionary. */
export function gather(data: ArrowDataLike, dictionary: Data, arrowType: ArrowType): Data | undefined {
  const indices = data.values as ArrayLike<number | bigint>;
  const { length } = data;
  const source = dictionary as unknown as ArrowDataLike;
  const at = (i: number): number => Number(indices[i]);
  const valid = (i: number): boolean => isValid(data, i) && isValid(source, at(i));
  const { bitmap, nulls } = bitsOf(length, valid);
  const live = (i: number): boolean => nulls === 0 || ((bitmap![i >> 3]! >> (i & 7)) & 1) === 1;
  const read = bytesReader(source);
  if (read !== undefined) {
    const distinct = Array.from({ length: dictionary.length }, (_, k) => read(k));
    const parts = Array.from({ length }, (_, i) => (live(i) ? distinct[at(i)] : undefined));
    const { offsets, bytes } = pack(parts, source.type.typeId === ARROW.utf8 ? 'string' : 'binary');
    return new Data(arrowType, 0, length, nulls, [offsets, bytes, bitmap]);
  }
  if (source.type.typeId === ARROW.bool) {
    const bits = bitsFrom(dictionary.values as unknown as Uint8Array, dictionary.offset, dictionary.length);
    const moved = new Uint8Array(((length + 63) >> 6) << 3);
    for (let i = 0; i < length; i++) {
      if (live(i) && (bits[at(i) >> 3]! >> (at(i) & 7)) & 1) moved[i >> 3]! |= 1 << (i & 7);
    }
    return new Data(arrowType, 0, length, nulls, [undefined, moved, bitmap]);
  }
  if (!ArrayBuffer.isView(dictionary.values)) return undefined;
  const values = dictionary.values as Uint32Array;
  const { stride } = dictionary;
  const buffer = new (values.constructor as Uint32ArrayConstructor)(length * stride);
  for (let i = 0; i < length; i++) {
    if (!live(i)) continue;
    for (let k = 0; k < stride; k++) buffer[i * stride + k] = values[at(i) * stride + k]!;
  }
  return new Data(arrowType, 0, length, nulls, [undefined, buffer, bitmap] as never);
}
