/**
 * Arrow data by its shape. Callers hold their own copy of `apache-arrow`, whose classes are not ours, so nothing here asks `instanceof`.
 * Numbers are those of the Arrow format (`Type`, `TimeUnit`, `DateUnit`).
 */
export interface ArrowTypeLike {
  readonly typeId: number;
  readonly children?: readonly ArrowFieldLike[] | null;
  readonly bitWidth?: number;
  readonly isSigned?: boolean;
  readonly precision?: number;
  readonly scale?: number;
  readonly unit?: number;
  readonly timezone?: string | null;
  readonly byteWidth?: number;
  readonly listSize?: number;
  readonly indices?: ArrowTypeLike;
  readonly dictionary?: ArrowTypeLike;
}

export interface ArrowFieldLike {
  readonly name: string;
  readonly type: ArrowTypeLike;
  readonly nullable: boolean;
}

export interface ArrowVectorLike {
  readonly data: readonly ArrowDataLike[];
}

/**
 * One column of one batch. `values` and `valueOffsets` start at the first row; the bits of `nullBitmap`, and those of a boolean's `values`, at `offset`.
 */
export interface ArrowDataLike {
  readonly type: ArrowTypeLike;
  readonly length: number;
  readonly offset: number;
  readonly nullCount: number;
  readonly nullBitmap?: Uint8Array | null;
  readonly values?: unknown;
  readonly valueOffsets?: Int32Array | BigInt64Array | null;
  readonly children: readonly ArrowDataLike[];
  readonly dictionary?: ArrowVectorLike | null;
  readonly variadicBuffers?: readonly Uint8Array[];
}

export interface ArrowSchemaLike {
  readonly fields: readonly ArrowFieldLike[];
}

export interface ArrowRecordBatchLike {
  readonly schema: ArrowSchemaLike;
  readonly numRows: number;
  readonly data: ArrowDataLike;
}

/** `Type` of the Arrow format, with apache-arrow's -1 for dictionaries. */
export const ARROW = {
  dictionary: -1,
  null: 1,
  int: 2,
  float: 3,
  binary: 4,
  utf8: 5,
  bool: 6,
  decimal: 7,
  date: 8,
  timestamp: 10,
  list: 12,
  struct: 13,
  fixedSizeBinary: 15,
  fixedSizeList: 16,
  map: 17,
  largeBinary: 19,
  largeUtf8: 20,
  largeList: 21,
  binaryView: 23,
  utf8View: 24,
} as const;

const NAMES: Readonly<Record<number, string>> = {
  9: 'Time',
  11: 'Interval',
  14: 'Union',
  18: 'Duration',
  22: 'RunEndEncoded',
  25: 'ListView',
  26: 'LargeListView',
};
const UNITS = ['s', 'ms', 'us', 'ns'];

/** An Arrow type as messages name it: `Int32`, `Timestamp(us, UTC)`, `Dictionary<Utf8>`. */
export function arrowTypeText(type: ArrowTypeLike): string {
  const children = type.children ?? [];
  switch (type.typeId) {
    case ARROW.dictionary:
      return `Dictionary<${type.dictionary ? arrowTypeText(type.dictionary) : '?'}>`;
    case ARROW.null:
      return 'Null';
    case ARROW.int:
      return `${type.isSigned === false ? 'Uint' : 'Int'}${type.bitWidth ?? '?'}`;
    case ARROW.float:
      return `Float${[16, 32, 64][type.precision ?? 3] ?? '?'}`;
    case ARROW.binary:
      return 'Binary';
    case ARROW.utf8:
      return 'Utf8';
    case ARROW.bool:
      return 'Bool';
    case ARROW.decimal:
      return `Decimal${type.bitWidth ?? 128}(${type.precision}, ${type.scale})`;
    case ARROW.date:
      return type.unit === 0 ? 'Date32' : 'Date64';
    case ARROW.timestamp:
      return `Timestamp(${UNITS[type.unit ?? 4] ?? '?'}${type.timezone ? `, ${type.timezone}` : ''})`;
    case ARROW.list:
    case ARROW.largeList:
    case ARROW.fixedSizeList: {
      const name =
        type.typeId === ARROW.list ? 'List' : type.typeId === ARROW.largeList ? 'LargeList' : 'FixedSizeList';
      return `${name}<${children[0] ? arrowTypeText(children[0].type) : '?'}>`;
    }
    case ARROW.struct:
      return `Struct<${children.map((child) => `${child.name}: ${arrowTypeText(child.type)}`).join(', ')}>`;
    case ARROW.fixedSizeBinary:
      return `FixedSizeBinary(${type.byteWidth})`;
    case ARROW.map: {
      const [key, value] = children[0]?.type.children ?? [];
      return `Map<${key ? arrowTypeText(key.type) : '?'}, ${value ? arrowTypeText(value.type) : '?'}>`;
    }
    case ARROW.largeBinary:
      return 'LargeBinary';
    case ARROW.largeUtf8:
      return 'LargeUtf8';
    case ARROW.binaryView:
      return 'BinaryView';
    case ARROW.utf8View:
      return 'Utf8View';
    default:
      return NAMES[type.typeId] ?? `Arrow type ${type.typeId}`;
  }
}

/** True when row `i` is not NULL. */
export function isValid(data: ArrowDataLike, i: number): boolean {
  const bitmap = data.nullBitmap;
  if (bitmap === undefined || bitmap === null || bitmap.length === 0) return data.type.typeId !== ARROW.null;
  const bit = data.offset + i;
  return ((bitmap[bit >> 3]! >> (bit & 7)) & 1) === 1;
}

/** How many rows are NULL. */
export function nullsIn(data: ArrowDataLike): number {
  if (data.type.typeId === ARROW.null) return data.length;
  const bitmap = data.nullBitmap;
  if (bitmap === undefined || bitmap === null || bitmap.length === 0) return 0;
  return data.nullCount;
}
