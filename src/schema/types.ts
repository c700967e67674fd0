/** JSON as the log holds it. Integers beyond 2^53 are bigint; other numbers that a double would change are `RawNumber` (log/json.ts). */
export type Json =
  | null
  | boolean
  | number
  | bigint
  | string
  | { readonly raw: string }
  | readonly Json[]
  | JsonObject;
export interface JsonObject {
  readonly [key: string]: Json;
}

/** The primitive types of Delta (protocol: Schema Serialization Format) but decimal. */
export type PrimitiveName =
  | 'string'
  | 'long'
  | 'integer'
  | 'short'
  | 'byte'
  | 'float'
  | 'double'
  | 'boolean'
  | 'binary'
  | 'date'
  | 'timestamp'
  | 'timestamp_ntz'
  | 'void'
  | 'variant'
  /** Spark's intervals, which the protocol does not have: months, and microseconds. Read only. */
  | 'interval year to month'
  | 'interval day to second';

export interface PrimitiveType {
  readonly type: PrimitiveName;
}
export interface DecimalType {
  readonly type: 'decimal';
  /** 1 to 38. */
  readonly precision: number;
  /** 0 to precision. */
  readonly scale: number;
}
export interface StructType {
  readonly type: 'struct';
  readonly fields: readonly StructField[];
}
export interface ArrayType {
  readonly type: 'array';
  readonly elementType: DataType;
  readonly containsNull: boolean;
}
export interface MapType {
  readonly type: 'map';
  readonly keyType: DataType;
  readonly valueType: DataType;
  readonly valueContainsNull: boolean;
}
export type DataType = PrimitiveType | DecimalType | StructType | ArrayType | MapType;

export interface StructField {
  readonly name: string;
  readonly dataType: DataType;
  readonly nullable: boolean;
  /** Kept as found: column mapping, comments, generation expressions, type changes, char and varchar lengths. */
  readonly metadata: JsonObject;
}

/**
 * A value as predicates, statistics and partition values compare it; null is SQL NULL. By type: boolean -> boolean; byte, short, integer -> number;
 * long -> bigint; float, double -> number; decimal -> bigint, unscaled at the type's scale; string -> string; binary -> Uint8Array;
 * date -> number, days since 1970-01-01; timestamp and timestamp_ntz -> bigint, microseconds since 1970-01-01T00:00:00 (UTC or wall clock).
 */
export type Datum = null | boolean | number | bigint | string | Uint8Array;
