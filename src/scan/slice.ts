import { type ColumnData, fixedWidth } from '../parquet/column/assemble.js';
import type { DataType } from '../schema/types.js';

/** Rows of one column from `start` on, on the same memory. `start` is a multiple of 8, so that bitmaps can be cut between bytes. */
export function sliceRows(type: DataType, column: ColumnData, start: number, length: number): ColumnData {
  if (start === 0 && length === column.length) return column;
  const bits = column.validity?.subarray(start >> 3, (start + length + 7) >> 3);
  const nullCount = type.type === 'void' ? length : bits === undefined ? 0 : length - countBits(bits, length);
  const base = { length, nullCount, validity: nullCount === 0 ? undefined : bits };
  switch (type.type) {
    case 'void':
      return { length, nullCount };
    case 'struct':
      return {
        ...base,
        children: type.fields.map(({ dataType }, i) =>
          sliceRows(dataType, column.children![i]!, start, length),
        ),
      };
    case 'variant':
      return {
        ...base,
        children: column.children!.map((child) => sliceRows({ type: 'binary' }, child, start, length)),
      };
    case 'array':
    case 'map':
    case 'string':
    case 'binary': {
      // The offsets keep pointing into the whole of the values or children.
      const offsets = column.offsets!.subarray(start, start + length + 1);
      return { ...base, offsets, values: column.values, children: column.children };
    }
    case 'boolean':
      return { ...base, values: column.values!.subarray(start >> 3, (start + length + 7) >> 3) };
    default: {
      const width = fixedWidth(type);
      return { ...base, values: column.values!.subarray(start * width, (start + length) * width) };
    }
  }
}

function countBits(bytes: Uint8Array, length: number): number {
  let count = 0;
  for (let i = 0; i < length >> 3; i++) for (let bits = bytes[i]!; bits !== 0; bits &= bits - 1) count++;
  for (let i = length & ~7; i < length; i++) if (bytes[i >> 3]! & (1 << (i & 7))) count++;
  return count;
}
