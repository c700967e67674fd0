import {
  Binary,
  type Data,
  type DataType,
  DateMillisecond,
  Decimal,
  Dictionary,
  Field,
  FixedSizeBinary,
  FixedSizeList,
  Float32,
  Float64,
  Int8,
  Int16,
  Int32,
  Int64,
  LargeBinary,
  LargeUtf8,
  List,
  makeData,
  Null,
  RecordBatch,
  Schema,
  Struct,
  Time,
  Timestamp,
  TimeUnit,
  Uint8,
  Uint16,
  Uint32,
  Uint64,
  Utf8,
  Utf8View,
  Vector,
} from 'apache-arrow';

const PLAIN: Record<string, () => DataType> = {
  Null: () => new Null(),
  Int8: () => new Int8(),
  Int16: () => new Int16(),
  Int32: () => new Int32(),
  Int64: () => new Int64(),
  Uint8: () => new Uint8(),
  Uint16: () => new Uint16(),
  Uint32: () => new Uint32(),
  Uint64: () => new Uint64(),
  Float32: () => new Float32(),
  Float64: () => new Float64(),
  Utf8: () => new Utf8(),
  Binary: () => new Binary(),
  LargeUtf8: () => new LargeUtf8(),
  LargeBinary: () => new LargeBinary(),
  Utf8View: () => new Utf8View(),
  Date64: () => new DateMillisecond(),
};
const UNITS: Record<string, TimeUnit> = {
  s: TimeUnit.SECOND,
  ms: TimeUnit.MILLISECOND,
  us: TimeUnit.MICROSECOND,
  ns: TimeUnit.NANOSECOND,
};

/** The Arrow type of a name such as `Int32`, `Timestamp(ms, UTC)`, `List<Utf8>`, `Struct<x: Int32>`. */
export function arrowType(name: string): DataType {
  const plain = PLAIN[name];
  if (plain !== undefined) return plain();
  const [, kind, , inner] = /^(\w+)([(<])(.*)[)>]$/.exec(name)!;
  const parts = inner!.split(/,\s*/);
  switch (kind) {
    case 'Timestamp':
      return new Timestamp(UNITS[parts[0]!]!, parts[1]);
    case 'Time':
      return new Time(UNITS[parts[0]!]!, 64);
    case 'Decimal':
      return new Decimal(Number(parts[1]), Number(parts[0]), 128);
    case 'FixedSizeBinary':
      return new FixedSizeBinary(Number(inner));
    case 'Dictionary':
      return new Dictionary(arrowType(inner!), new Int32());
    case 'List':
      return new List(new Field('item', arrowType(inner!), true));
    case 'FixedSizeList':
      return new FixedSizeList(Number(parts[1]), new Field('item', arrowType(parts[0]!), true));
    case 'Struct':
      return new Struct(
        parts.map((part) => {
          const [field, type] = part.split(': ') as [string, string];
          return new Field(field, arrowType(type), true);
        }),
      );
    default:
      throw new TypeError(name);
  }
}

/** A column of that type, written buffer by buffer, so that no builder is between the test and the layout. */
export function arrowColumn(type: DataType, values: readonly unknown[]): Data {
  const length = values.length;
  const nullBitmap = new Uint8Array((length + 7) >> 3);
  let nullCount = 0;
  values.forEach((value, i) => {
    if (value === null) nullCount++;
    else nullBitmap[i >> 3]! |= 1 << (i & 7);
  });
  const props = { type, length, nullCount, ...(nullCount > 0 ? { nullBitmap } : {}) };
  const make = (more: object): Data => makeData({ ...props, ...more } as never);
  const name = String(type);
  if (type instanceof Null) return makeData({ type, length });
  if (type instanceof Dictionary) {
    const distinct = [...new Set(values.filter((value) => value !== null))];
    const indices = Int32Array.from(values, (value) => Math.max(0, distinct.indexOf(value as never)));
    return make({ data: indices, dictionary: new Vector([arrowColumn(type.dictionary, distinct)]) });
  }
  if (type instanceof Utf8View) return make(views(values));
  if (/^(Large)?(Utf8|Binary)$/.test(name)) {
    const bytes = values.map((value) => (value === null ? new Uint8Array(0) : Buffer.from(value as string)));
    let size = 0;
    const offsets = [0, ...bytes.map((part) => (size += part.length))];
    const valueOffsets = name.startsWith('Large')
      ? BigInt64Array.from(offsets, BigInt)
      : Int32Array.from(offsets);
    return make({ data: new Uint8Array(Buffer.concat(bytes)), valueOffsets });
  }
  if (type instanceof FixedSizeBinary) {
    const parts = values.map((value) =>
      value === null ? new Uint8Array(type.byteWidth) : (value as Uint8Array),
    );
    return make({ data: new Uint8Array(Buffer.concat(parts)) });
  }
  if (type instanceof Decimal) {
    const words = new BigInt64Array(length * 2);
    values.forEach((value, i) => {
      words[2 * i] = BigInt.asIntN(64, (value as bigint) ?? 0n);
      words[2 * i + 1] = ((value as bigint) ?? 0n) >> 64n;
    });
    return make({ data: new Uint32Array(words.buffer) });
  }
  if (type instanceof List) {
    let size = 0;
    const valueOffsets = Int32Array.from([
      0,
      ...values.map((value) => (size += ((value as unknown[]) ?? []).length)),
    ]);
    return make({
      valueOffsets,
      child: arrowColumn(
        type.valueType,
        values.flatMap((value) => (value as unknown[]) ?? []),
      ),
    });
  }
  if (type instanceof FixedSizeList) {
    const slots = values.flatMap((value) => (value as unknown[]) ?? new Array(type.listSize).fill(null));
    return make({ child: arrowColumn(type.valueType, slots) });
  }
  if (type instanceof Struct) {
    const children = type.children.map((field: Field) =>
      arrowColumn(
        field.type,
        values.map((value) => (value as Record<string, unknown> | null)?.[field.name] ?? null),
      ),
    );
    return make({ children });
  }
  const Values = type.ArrayType as BigInt64ArrayConstructor | Int32ArrayConstructor;
  const data = new Values(length);
  values.forEach((value, i) => {
    const wide = data instanceof BigInt64Array || data instanceof BigUint64Array;
    data[i] = (wide ? BigInt((value as number) ?? 0) : Number(value)) as never;
  });
  return make({ data });
}

function views(values: readonly unknown[]): object {
  const bytes = new Uint8Array(values.length * 16);
  const view = new DataView(bytes.buffer);
  const long: Uint8Array[] = [];
  let size = 0;
  values.forEach((value, i) => {
    const text = Buffer.from((value as string) ?? '');
    view.setInt32(i * 16, text.length, true);
    if (text.length <= 12) bytes.set(text, i * 16 + 4);
    else {
      bytes.set(text.subarray(0, 4), i * 16 + 4);
      view.setInt32(i * 16 + 8, 0, true);
      view.setInt32(i * 16 + 12, size, true);
      long.push(text);
      size += text.length;
    }
  });
  return { views: bytes, variadicBuffers: [new Uint8Array(Buffer.concat(long))] };
}

/** A batch of such columns, all nullable. */
export function arrowBatch(
  columns: readonly { name: string; type: string; values: readonly unknown[] }[],
): RecordBatch {
  const fields = columns.map(({ name, type }) => new Field(name, arrowType(type), true));
  const children = columns.map(({ values }, i) => arrowColumn(fields[i]!.type, values));
  const length = columns[0]?.values.length ?? 0;
  return new RecordBatch(
    new Schema(fields),
    makeData({ type: new Struct(fields), length, nullCount: 0, children }),
  );
}
