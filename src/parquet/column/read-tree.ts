import { TableError } from '../../errors.js';
import type { ArrayType, DataType, MapType, StructField, StructType } from '../../schema/types.js';
import type { SchemaNode } from '../flat/footer.js';
import { type Conversion, conversionOf } from './conversion.js';
import { shreddedType } from './shredded.js';

/** How the columns of a file are found: by name (of the table's schema), by physical name, or by field id (protocol: Column Mapping). */
export type MatchMode = 'none' | 'name' | 'id';

/**
 * What to build from a file's columns for one column of the table. Plain data. `slot` is the definition level from which an entry stands for a slot of
 * this node at all, `repetition` its repetition level; `definition` is the level from which it is not null. `carrier` is the leaf whose levels tell.
 */
export type ReadNode =
  | { readonly kind: 'null'; readonly type: DataType }
  | { readonly kind: 'shredded'; readonly type: StructType; readonly child: ReadNode }
  | ({ readonly kind: 'leaf'; readonly column: number; readonly conversion: Conversion } & Levels)
  | ({ readonly kind: 'struct'; readonly carrier: number; readonly children: readonly ReadNode[] } & Levels)
  | ({
      readonly kind: 'list';
      readonly carrier: number;
      readonly entry: number;
      readonly child: ReadNode;
    } & Levels);

interface Levels {
  readonly slot: number;
  readonly repetition: number;
  readonly definition: number;
}

/** Finds the read tree of each field. Missing columns become nulls; a file's column that cannot be of the field's type is `CORRUPT_DATA_FILE`. */
export function resolveColumns(
  root: SchemaNode,
  fields: readonly StructField[],
  mode: MatchMode,
): ReadNode[] {
  if (mode === 'id' && fields.length > 0 && !hasFieldIds(root)) {
    throw new TableError(
      'CORRUPT_DATA_FILE',
      'The file has no field ids, and the table maps its columns by id.',
    );
  }
  return fields.map((field) => resolveField(root, field, mode, 0, [field.name]));
}

/** The indices of the leaf columns that a read tree needs. */
export function leavesOf(node: ReadNode, into: Set<number> = new Set()): Set<number> {
  if (node.kind === 'leaf') into.add(node.column);
  else if (node.kind === 'struct') {
    into.add(node.carrier);
    for (const child of node.children) leavesOf(child, into);
  } else if (node.kind === 'list') {
    into.add(node.carrier);
    leavesOf(node.child, into);
  } else if (node.kind === 'shredded') leavesOf(node.child, into);
  return into;
}

/** The indices of the leaf columns that several read trees need together. */
export function leavesOfAll(nodes: Iterable<ReadNode | undefined>): Set<number> {
  const leaves = new Set<number>();
  for (const node of nodes) if (node) leavesOf(node, leaves);
  return leaves;
}

/** The child of a group that holds a field, or undefined. Names are compared exactly first, then without case, as Hive's tables need. */
export function findField(parent: SchemaNode, field: StructField, mode: MatchMode): SchemaNode | undefined {
  if (mode === 'id') {
    const id = field.metadata['delta.columnMapping.id'];
    return parent.children.find((child) => child.fieldId !== undefined && child.fieldId === Number(id));
  }
  const physical = field.metadata['delta.columnMapping.physicalName'];
  const name = mode === 'name' && typeof physical === 'string' ? physical : field.name;
  const exact = parent.children.find((child) => child.name === name);
  if (exact !== undefined) return exact;
  const lower = name.toLowerCase();
  return parent.children.find((child) => child.name.toLowerCase() === lower);
}

function resolveField(
  parent: SchemaNode,
  field: StructField,
  mode: MatchMode,
  slot: number,
  path: string[],
): ReadNode {
  const node = field.dataType.type === 'void' ? undefined : findField(parent, field, mode);
  if (node === undefined) return { kind: 'null', type: field.dataType };
  return resolveType(node, field.dataType, mode, slot, path);
}

function resolveType(
  node: SchemaNode,
  type: DataType,
  mode: MatchMode,
  slot: number,
  path: string[],
): ReadNode {
  if (type.type === 'void') return { kind: 'null', type };
  if (type.type === 'array') return resolveList(node, type, mode, slot, path);
  if (node.repetition === 'repeated') throw misfit(type, path);
  return resolveSingle(node, type, mode, slot, path);
}

/** A node seen as one value a slot, whether or not its own repetition made the slots. */
function resolveSingle(
  node: SchemaNode,
  type: DataType,
  mode: MatchMode,
  slot: number,
  path: string[],
): ReadNode {
  if (type.type === 'array') return resolveList(node, type, mode, slot, path);
  if (type.type === 'map') return resolveMap(node, type, mode, slot, path);
  const levels = { slot, repetition: node.repetitionLevel, definition: node.definition };
  if (type.type === 'struct') return resolveStruct(node, type, mode, levels, path);
  if (type.type === 'variant') return resolveVariant(node, levels, path);
  const conversion = conversionOf(type, node);
  if (conversion === undefined || node.leaf === undefined) throw misfit(type, path);
  return { kind: 'leaf', column: node.leaf.index, conversion, ...levels };
}

function resolveVariant(node: SchemaNode, levels: Levels, path: string[]): ReadNode {
  const type = shreddedType(node);
  if (type === undefined) return resolveStruct(node, VARIANT, 'none', levels, path);
  return { kind: 'shredded', type, child: resolveStruct(node, type, 'none', levels, path) };
}

/** A variant as it is stored when it is not shredded (protocol: Variant data in Parquet), in the order of its Arrow struct. */
const VARIANT: StructType = {
  type: 'struct',
  fields: ['value', 'metadata'].map((name) => ({
    name,
    dataType: { type: 'binary' },
    nullable: false,
    metadata: {},
  })),
};

function resolveStruct(
  node: SchemaNode,
  type: StructType,
  mode: MatchMode,
  levels: Levels,
  path: string[],
): ReadNode {
  if (node.leaf !== undefined) throw misfit(type, path);
  const children = type.fields.map((field) =>
    resolveField(node, field, mode, levels.slot, [...path, field.name]),
  );
  return { kind: 'struct', carrier: carrierOf(children, node), children, ...levels };
}

/** Lists as three levels, and the older forms of two and one (Parquet: LogicalTypes, backward-compatibility rules). */
function resolveList(
  node: SchemaNode,
  type: ArrayType,
  mode: MatchMode,
  slot: number,
  path: string[],
): ReadNode {
  const elementPath = [...path, 'element'];
  if (node.repetition === 'repeated' && node.group === 'plain') {
    const child = resolveSingle(node, type.elementType, mode, node.definition, elementPath);
    // A repeated field without an annotation is a list that is never null: its slots are those of its parent.
    const levels = { slot, repetition: node.repetitionLevel - 1, definition: node.definition - 1 };
    return { kind: 'list', carrier: carrierOf([child], node), entry: node.definition, child, ...levels };
  }
  const repeated = node.children[0];
  if (node.leaf !== undefined || node.children.length !== 1 || repeated?.repetition !== 'repeated') {
    throw misfit(type, path);
  }
  const isElement =
    repeated.leaf !== undefined ||
    repeated.children.length !== 1 ||
    repeated.name === 'array' ||
    repeated.name === `${node.name}_tuple` ||
    repeated.children[0]!.repetition === 'repeated';
  const element = isElement ? repeated : repeated.children[0]!;
  const entry = repeated.definition;
  const child = isElement
    ? resolveSingle(element, type.elementType, mode, entry, elementPath)
    : resolveType(element, type.elementType, mode, entry, elementPath);
  const levels = { slot, repetition: node.repetitionLevel, definition: node.definition };
  return { kind: 'list', carrier: carrierOf([child], repeated), entry, child, ...levels };
}

function resolveMap(
  node: SchemaNode,
  type: MapType,
  mode: MatchMode,
  slot: number,
  path: string[],
): ReadNode {
  const entries = node.children[0];
  if (node.leaf !== undefined || node.children.length !== 1 || entries?.repetition !== 'repeated') {
    throw misfit(type, path);
  }
  const keyNode = entries.children.find((child) => child.name === 'key') ?? entries.children[0];
  const valueNode = entries.children.find((child) => child.name === 'value') ?? entries.children[1];
  if (keyNode === undefined) throw misfit(type, path);
  const entry = entries.definition;
  const key = resolveType(keyNode, type.keyType, mode, entry, [...path, 'key']);
  const value: ReadNode =
    valueNode === undefined
      ? { kind: 'null', type: type.valueType }
      : resolveType(valueNode, type.valueType, mode, entry, [...path, 'value']);
  const carrier = carrierOf([key, value], entries);
  const pair: ReadNode = {
    kind: 'struct',
    carrier,
    children: [key, value],
    slot: entry,
    repetition: entries.repetitionLevel,
    definition: entry,
  };
  const levels = { slot, repetition: node.repetitionLevel, definition: node.definition };
  return { kind: 'list', carrier, entry, child: pair, ...levels };
}

/** A leaf below the node whose levels tell which slots there are: one that is read anyway, else the first of the file. */
function carrierOf(children: readonly ReadNode[], node: SchemaNode): number {
  for (const child of children) {
    if (child.kind === 'leaf') return child.column;
  }
  for (const child of children) {
    if (child.kind === 'struct' || child.kind === 'list') return child.carrier;
    if (child.kind === 'shredded') return carrierOf([child.child], node);
  }
  let first = node;
  while (first.leaf === undefined) {
    const next = first.children[0];
    if (next === undefined)
      throw new TableError('CORRUPT_DATA_FILE', `The file has a group without fields: ${first.name}.`);
    first = next;
  }
  return first.leaf.index;
}

function hasFieldIds(node: SchemaNode): boolean {
  return node.fieldId !== undefined || node.children.some(hasFieldIds);
}

function misfit(type: DataType, path: string[]): TableError {
  const text = type.type === 'decimal' ? `decimal(${type.precision},${type.scale})` : type.type;
  const column = path.join('.');
  return new TableError(
    'CORRUPT_DATA_FILE',
    `The file's column ${column} does not hold values of type ${text}.`,
    {
      column,
      expected: text,
    },
  );
}
