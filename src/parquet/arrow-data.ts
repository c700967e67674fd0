import {
  type Data,
  DataType,
  type Field,
  makeData,
  RecordBatch,
  type Schema,
  Struct,
  type TypeMap,
} from 'apache-arrow';

import type { ColumnData } from './column/assemble.js';

/** A record batch over decoded columns, without copying them. `columns` are in the order of the schema's fields. */
export function toRecordBatch(schema: Schema, columns: readonly ColumnData[], rows: number): RecordBatch {
  const children = schema.fields.map((field, i) => toArrowData(field.type, columns[i]!));
  const data = makeData({ type: new Struct(schema.fields), length: rows, nullCount: 0, children });
  return new RecordBatch(schema, data as Data<Struct<TypeMap>>);
}

/** One column as Arrow's own data, sharing its buffers. */
export function toArrowData(type: DataType, column: ColumnData): Data {
  const { length, nullCount, validity, offsets } = column;
  if (DataType.isNull(type)) return makeData({ type, length });
  const base = { length, nullCount, nullBitmap: validity };
  if (DataType.isList(type)) {
    return makeData({
      ...base,
      type,
      valueOffsets: offsets!,
      child: toArrowData(type.valueField.type, column.children![0]!),
    });
  }
  if (DataType.isMap(type)) {
    const entries = type.children[0] as Field<Struct>;
    return makeData({
      ...base,
      type,
      valueOffsets: offsets!,
      child: toArrowData(entries.type, column.children![0]!) as never,
    });
  }
  if (DataType.isStruct(type)) {
    const children = type.children.map((field, i) => toArrowData(field.type, column.children![i]!));
    return makeData({ ...base, type, children });
  }
  if (DataType.isUtf8(type) || DataType.isBinary(type)) {
    return makeData({ ...base, type: type as never, valueOffsets: offsets!, data: column.values! }) as Data;
  }
  return makeData({ ...base, type: type as never, data: typedView(type, column.values!) as never }) as Data;
}

/** The raw bytes of a fixed-width column as the typed array that Arrow expects of its type. They start at an aligned offset. */
function typedView(type: DataType, bytes: Uint8Array): ArrayBufferView {
  const { buffer, byteOffset, length } = bytes;
  if (DataType.isBool(type)) return bytes;
  if (DataType.isInt(type)) {
    if (type.bitWidth === 8) return new Int8Array(buffer, byteOffset, length);
    if (type.bitWidth === 16) return new Int16Array(buffer, byteOffset, length / 2);
    if (type.bitWidth === 32) return new Int32Array(buffer, byteOffset, length / 4);
    return new BigInt64Array(buffer, byteOffset, length / 8);
  }
  if (DataType.isFloat(type)) {
    return type.precision === 1
      ? new Float32Array(buffer, byteOffset, length / 4)
      : new Float64Array(buffer, byteOffset, length / 8);
  }
  if (DataType.isDecimal(type)) return new Uint32Array(buffer, byteOffset, length / 4);
  if (DataType.isDate(type)) return new Int32Array(buffer, byteOffset, length / 4);
  return new BigInt64Array(buffer, byteOffset, length / 8);
}
