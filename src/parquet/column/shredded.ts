import type { Data } from 'apache-arrow';
import { toArrowType } from '../../schema/arrow.js';
import type { DataType, StructField, StructType } from '../../schema/types.js';
import { unshredVariants } from '../../schema/unshred.js';
import { toArrowData } from '../arrow-data.js';
import { unsupported } from '../flat/fault.js';
import type { SchemaNode } from '../flat/footer.js';
import type { ColumnData } from './assemble.js';

/**
 * The type in which a shredded variant stands in a file (Parquet: Variant Shredding): `metadata`, `value` and `typed_value`, which holds such groups again;
 * undefined for a variant that is not shredded. Throws `FlatFault` for a type of a column that this library does not take as a variant.
 */
export function shreddedType(node: SchemaNode): StructType | undefined {
  if (!node.children.some(({ name }) => name === 'typed_value')) return undefined;
  return groupType(node);
}

/** Puts shredded variants together: from a column of `shreddedType` to one of variants. */
export function unshredColumn(type: StructType, column: ColumnData): ColumnData {
  const data = unshredVariants(
    toArrowData(toArrowType(type), column) as Parameters<typeof unshredVariants>[0],
  );
  return { ...plainData(data), children: data.children.map(plainData) };
}

function plainData(data: Data): ColumnData {
  const { length, nullCount } = data;
  const validity = nullCount > 0 ? (data.nullBitmap as Uint8Array) : undefined;
  return {
    length,
    nullCount,
    validity,
    values: data.values ?? undefined,
    offsets: data.valueOffsets ?? undefined,
  };
}

function groupType(node: SchemaNode): StructType {
  const fields: StructField[] = [];
  for (const child of node.children) {
    if (child.name === 'metadata' || child.name === 'value')
      fields.push(field(child.name, { type: 'binary' }));
    else if (child.name === 'typed_value') fields.push(field(child.name, typedType(child)));
  }
  return { type: 'struct', fields };
}

function field(name: string, dataType: DataType): StructField {
  return { name, dataType, nullable: true, metadata: {} };
}

function typedType(node: SchemaNode): DataType {
  if (node.leaf !== undefined) return leafType(node);
  if (node.group !== 'list') {
    return { type: 'struct', fields: node.children.map((child) => field(child.name, groupType(child))) };
  }
  const element = node.children[0]?.children[0];
  if (element === undefined) throw unsupported('a shredded list of another form');
  return { type: 'array', elementType: groupType(element), containsNull: true };
}

function leafType(node: SchemaNode): DataType {
  const { physical, meaning } = node.leaf!;
  if (meaning.kind === 'decimal')
    return { type: 'decimal', precision: meaning.precision, scale: meaning.scale };
  if (meaning.kind === 'timestamp' && meaning.unit === 'micros') {
    return { type: meaning.utc ? 'timestamp' : 'timestamp_ntz' };
  }
  if (meaning.kind === 'date') return { type: 'date' };
  if (meaning.kind === 'string') return { type: 'string' };
  const isPlain = meaning.kind === 'none' || (meaning.kind === 'integer' && meaning.signed);
  const bits = meaning.kind === 'integer' ? meaning.bits : 32;
  if (isPlain && physical === 'INT32')
    return { type: bits === 8 ? 'byte' : bits === 16 ? 'short' : 'integer' };
  const type = isPlain ? PLAIN[physical] : undefined;
  if (type === undefined)
    throw unsupported(`a variant shredded into ${physical} of the kind ${meaning.kind}`);
  return { type };
}

const PLAIN: Readonly<Record<string, 'boolean' | 'long' | 'float' | 'double' | 'binary'>> = {
  BOOLEAN: 'boolean',
  INT64: 'long',
  FLOAT: 'float',
  DOUBLE: 'double',
  BYTE_ARRAY: 'binary',
};
