import { bitAt, type Column } from '../../src/parquet/encode-columns.js';
import { datumAt } from '../../src/parquet/encode-value.js';
import type { DataType } from '../../src/schema/types.js';

/** The values of a raw column, read one by one. */
export function cellsOf(type: DataType, column: Column, start = 0, end = column.length): unknown[] {
  return Array.from({ length: end - start }, (_, i) => cell(type, column, start + i));
}

function cell(type: DataType, column: Column, row: number): unknown {
  if (column.valid && !bitAt(column.valid, column.bit + row)) return null;
  const items = (item: DataType): unknown[] =>
    cellsOf(item, column.children[0]!, column.offsets![row]!, column.offsets![row + 1]!);
  switch (type.type) {
    case 'array':
      return items(type.elementType);
    case 'map': {
      const field = (name: string, dataType: DataType) => ({ name, dataType, nullable: true, metadata: {} });
      return items({ type: 'struct', fields: [field('key', type.keyType), field('value', type.valueType)] });
    }
    case 'struct':
      return type.fields.map((field, i) => cell(field.dataType, column.children[i]!, row));
    default:
      return datumAt(type, column, row);
  }
}
