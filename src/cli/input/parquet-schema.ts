import { TableError } from '../../errors.js';
import type { Leaf, SchemaNode } from '../../parquet/flat/footer.js';
import type { DataType, StructField, StructType } from '../../schema/types.js';

/**
 * The tree with unsigned integers of 8 and 16 bits as plain ones: Parquet holds them in 32 bits, which a signed integer reads alike.
 * Wider ones are left, and refused.
 */
export function withSmallUnsigned(node: SchemaNode): SchemaNode {
  const { leaf, children } = node;
  if (leaf === undefined) return { ...node, children: children.map(withSmallUnsigned) };
  const { meaning } = leaf;
  const isSmall = meaning.kind === 'integer' && !meaning.signed && meaning.bits < 32;
  return isSmall ? { ...node, leaf: { ...leaf, meaning: { kind: 'none' } } } : node;
}

/** The Delta schema that holds a Parquet file's columns. Throws `INVALID_INPUT` for a column of a type that Delta has not, naming it. */
export function schemaOfParquet(root: SchemaNode, file: string): StructType {
  return structOf(root, [], file);
}

function structOf(node: SchemaNode, path: readonly string[], file: string): StructType {
  return { type: 'struct', fields: node.children.map((child) => fieldOf(child, path, file)) };
}

function fieldOf(node: SchemaNode, parents: readonly string[], file: string): StructField {
  const path = [...parents, node.name];
  const dataType: DataType =
    node.repetition === 'repeated'
      ? { type: 'array', elementType: typeOf(node, path, file), containsNull: false }
      : typeOf(node, path, file);
  return { name: node.name, dataType, nullable: node.repetition === 'optional', metadata: {} };
}

function typeOf(node: SchemaNode, path: readonly string[], file: string): DataType {
  if (node.leaf !== undefined) return leafType(node.leaf, path, file);
  if (node.group === 'map') {
    const [key, value] = node.children[0]?.children ?? [];
    if (key === undefined || value === undefined) throw noType(path, 'a map without keys or values', file);
    return {
      type: 'map',
      keyType: typeOf(key, [...path, 'key'], file),
      valueType: typeOf(value, [...path, 'value'], file),
      valueContainsNull: value.repetition === 'optional',
    };
  }
  if (node.group === 'list') {
    const repeated = node.children[0];
    if (repeated === undefined) throw noType(path, 'a list without elements', file);
    // The rules for lists of older writers (Parquet: LogicalTypes, backward-compatibility rules).
    const isElement =
      repeated.leaf !== undefined ||
      repeated.children.length !== 1 ||
      repeated.name === 'array' ||
      repeated.name === `${node.name}_tuple`;
    const element = isElement ? repeated : repeated.children[0]!;
    return {
      type: 'array',
      elementType: typeOf(element, [...path, 'element'], file),
      containsNull: element.repetition === 'optional',
    };
  }
  return structOf(node, path, file);
}

function leafType({ physical, meaning }: Leaf, path: readonly string[], file: string): DataType {
  if (meaning.kind === 'decimal')
    return { type: 'decimal', precision: meaning.precision, scale: meaning.scale };
  if (meaning.kind === 'timestamp') return { type: meaning.utc ? 'timestamp' : 'timestamp_ntz' };
  if (meaning.kind === 'date') return { type: 'date' };
  if (meaning.kind === 'string' || meaning.kind === 'json') return { type: 'string' };
  if (meaning.kind === 'integer') {
    if (!meaning.signed) throw noType(path, `an unsigned integer of ${meaning.bits} bits`, file);
    return { type: ({ 8: 'byte', 16: 'short', 32: 'integer' } as const)[meaning.bits] ?? 'long' };
  }
  if (meaning.kind !== 'none')
    throw noType(path, `${physical} with a meaning that Delta has no type for`, file);
  switch (physical) {
    case 'BOOLEAN':
      return { type: 'boolean' };
    case 'INT32':
      return { type: 'integer' };
    case 'INT64':
      return { type: 'long' };
    case 'INT96':
      return { type: 'timestamp' };
    case 'FLOAT':
      return { type: 'float' };
    case 'DOUBLE':
      return { type: 'double' };
    default:
      return { type: 'binary' };
  }
}

function noType(path: readonly string[], type: string, file: string): TableError {
  const column = path.join('.');
  return new TableError(
    'INVALID_INPUT',
    `${file}: column '${column}' is ${type}, which cannot be imported; cast it in the file first.`,
    { file, column, type },
  );
}
