import {
  type DataType as ArrowType,
  Binary,
  Bool,
  DateDay,
  Decimal,
  Field,
  Float32,
  Float64,
  Int8,
  Int16,
  Int32,
  Int64,
  List,
  Map_,
  Null,
  Schema,
  Struct,
  Timestamp,
  TimeUnit,
  Utf8,
} from 'apache-arrow';
import { TableError } from '../errors.js';
import {
  ARROW,
  type ArrowFieldLike,
  type ArrowSchemaLike,
  type ArrowTypeLike,
  arrowTypeText,
} from './arrow-shape.js';
import type { DataType, StructField, StructType } from './types.js';

/** Metadata key under which Parquet writers and readers look for a field id. */
export const FIELD_ID_KEY = 'PARQUET:field_id';

/** The JSON member of a field's metadata that holds its column mapping id. */
const COLUMN_ID = 'delta.columnMapping.id';

export interface ArrowSchemaOptions {
  /** Writes the column mapping ids of fields that have one as Parquet field ids. */
  readonly fieldIds?: boolean;
}

const PLAIN: Readonly<Record<string, ArrowType>> = {
  string: new Utf8(),
  long: new Int64(),
  integer: new Int32(),
  short: new Int16(),
  byte: new Int8(),
  float: new Float32(),
  double: new Float64(),
  boolean: new Bool(),
  binary: new Binary(),
  date: new DateDay(),
  timestamp: new Timestamp(TimeUnit.MICROSECOND, 'UTC'),
  timestamp_ntz: new Timestamp(TimeUnit.MICROSECOND),
  void: new Null(),
  'interval year to month': new Int32(),
  'interval day to second': new Int64(),
  // The Parquet form of an unshredded variant (protocol: Variant data in Parquet).
  variant: new Struct([new Field('value', new Binary(), false), new Field('metadata', new Binary(), false)]),
};

const types = new WeakMap<DataType, ArrowType>();

/** The Arrow type in which this library holds a Delta type; one Arrow type for each, the same object for the same type while `options` are absent. */
export function toArrowType(type: DataType, options?: ArrowSchemaOptions): ArrowType {
  if (options !== undefined) return makeArrowType(type, options);
  let made = types.get(type);
  if (made === undefined) {
    made = makeArrowType(type, undefined);
    types.set(type, made);
  }
  return made;
}

function makeArrowType(type: DataType, options: ArrowSchemaOptions | undefined): ArrowType {
  switch (type.type) {
    case 'decimal':
      return new Decimal(type.scale, type.precision, 128);
    case 'struct':
      return new Struct(type.fields.map((field) => toArrowField(field, options)));
    case 'array':
      return new List(new Field('element', toArrowType(type.elementType, options), type.containsNull));
    case 'map': {
      const key = new Field('key', toArrowType(type.keyType, options), false);
      const value = new Field('value', toArrowType(type.valueType, options), type.valueContainsNull);
      return new Map_(
        new Field('key_value', new Struct<{ key: ArrowType; value: ArrowType }>([key, value]), false),
      );
    }
    default:
      return PLAIN[type.type]!;
  }
}

/** The Arrow field of a Delta column. */
export function toArrowField(field: StructField, options?: ArrowSchemaOptions): Field {
  const id =
    options?.fieldIds && Object.hasOwn(field.metadata, COLUMN_ID) ? field.metadata[COLUMN_ID] : undefined;
  const metadata = id === undefined ? undefined : new Map([[FIELD_ID_KEY, String(id)]]);
  return new Field(field.name, toArrowType(field.dataType, options), field.nullable, metadata);
}

const schemas = new WeakMap<StructType, Schema>();

/** The Arrow schema of a Delta schema; the same object for the same schema while `options` are absent. Field metadata other than ids is not carried over. */
export function toArrowSchema(schema: StructType, options?: ArrowSchemaOptions): Schema {
  const kept = options === undefined ? schemas.get(schema) : undefined;
  if (kept !== undefined) return kept;
  const made = new Schema(schema.fields.map((field) => toArrowField(field, options)));
  if (options === undefined) schemas.set(schema, made);
  return made;
}

/**
 * The Delta schema that holds what an Arrow schema describes, for creating tables from files: unsigned integers become the next wider signed type (Uint64
 * decimal(20,0)), timestamps with any zone `timestamp`, those without `timestamp_ntz`, dictionaries their values. Takes any copy's objects.
 * Errors: `INVALID_SCHEMA` for a type that Delta does not have, naming the column.
 */
export function fromArrowSchema(schema: ArrowSchemaLike): StructType {
  return { type: 'struct', fields: schema.fields.map((field) => fromArrowField(field, [])) };
}

function fromArrowField(field: ArrowFieldLike, parents: readonly string[]): StructField {
  const path = [...parents, field.name];
  return {
    name: field.name,
    dataType: fromArrowType(field.type, path),
    nullable: field.nullable,
    metadata: {},
  };
}

function fromArrowType(type: ArrowTypeLike, path: readonly string[]): DataType {
  const child = (i: number): ArrowFieldLike => {
    const found = type.children?.[i];
    if (found === undefined) throw noDeltaType(type, path);
    return found;
  };
  switch (type.typeId) {
    case ARROW.dictionary:
      if (!type.dictionary) throw noDeltaType(type, path);
      return fromArrowType(type.dictionary, path);
    case ARROW.null:
      return { type: 'void' };
    case ARROW.int:
      return integerType(type);
    case ARROW.float:
      return { type: type.precision === 2 ? 'double' : 'float' };
    case ARROW.binary:
    case ARROW.largeBinary:
    case ARROW.binaryView:
    case ARROW.fixedSizeBinary:
      return { type: 'binary' };
    case ARROW.utf8:
    case ARROW.largeUtf8:
    case ARROW.utf8View:
      return { type: 'string' };
    case ARROW.bool:
      return { type: 'boolean' };
    case ARROW.decimal: {
      const { precision = 0, scale = 0 } = type;
      if (precision < 1 || precision > 38 || scale < 0 || scale > precision) throw noDeltaType(type, path);
      return { type: 'decimal', precision, scale };
    }
    case ARROW.date:
      return { type: 'date' };
    case ARROW.timestamp:
      return { type: type.timezone ? 'timestamp' : 'timestamp_ntz' };
    case ARROW.list:
    case ARROW.largeList:
    case ARROW.fixedSizeList: {
      const element = child(0);
      return {
        type: 'array',
        elementType: fromArrowType(element.type, [...path, 'element']),
        containsNull: element.nullable,
      };
    }
    case ARROW.struct:
      return { type: 'struct', fields: (type.children ?? []).map((field) => fromArrowField(field, path)) };
    case ARROW.map: {
      const [key, value] = child(0).type.children ?? [];
      if (key === undefined || value === undefined) throw noDeltaType(type, path);
      return {
        type: 'map',
        keyType: fromArrowType(key.type, [...path, 'key']),
        valueType: fromArrowType(value.type, [...path, 'value']),
        valueContainsNull: value.nullable,
      };
    }
    default:
      throw noDeltaType(type, path);
  }
}

function integerType(type: ArrowTypeLike): DataType {
  const bits = (type.bitWidth ?? 64) * (type.isSigned === false ? 2 : 1);
  if (bits === 128) return { type: 'decimal', precision: 20, scale: 0 };
  return { type: bits === 8 ? 'byte' : bits === 16 ? 'short' : bits === 32 ? 'integer' : 'long' };
}

function noDeltaType(type: ArrowTypeLike, path: readonly string[]): TableError {
  const column = path.join('.');
  return new TableError(
    'INVALID_SCHEMA',
    `Column '${column}' is of the Arrow type ${arrowTypeText(type)}, for which Delta has no type.`,
    {
      column,
      type: arrowTypeText(type),
    },
  );
}
