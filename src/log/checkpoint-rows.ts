import { type FlatColumn, textAt } from '../parquet/flat/column.js';
import type { Leaf, SchemaNode } from '../parquet/flat/footer.js';
import type { Json } from '../schema/types.js';

/** The leaves of a map, or the leaf of a list, in any of the spellings that writers have used. */
export interface Collection {
  readonly kind: 'map' | 'list';
  readonly key: Leaf;
  readonly value: Leaf;
}

/** Recognises `m -> repeated (key, value)` and `l -> repeated (element)` of primitives; undefined for everything else. */
export function listOrMap(node: SchemaNode | undefined): Collection | undefined {
  const repeated = node?.children.length === 1 ? node.children[0] : undefined;
  if (repeated === undefined || repeated.repetition !== 'repeated' || repeated.repetitionLevel !== 1)
    return undefined;
  if (repeated.leaf !== undefined) return { kind: 'list', key: repeated.leaf, value: repeated.leaf };
  const [key, value] = repeated.children;
  if (key?.leaf === undefined) return undefined;
  if (value === undefined) return { kind: 'list', key: key.leaf, value: key.leaf };
  return value.leaf === undefined || repeated.children.length > 2
    ? undefined
    : { kind: 'map', key: key.leaf, value: value.leaf };
}

/** The JSON value at a place of a column; undefined for binary that is no text. */
export function leafValue(column: FlatColumn, place: number): Json | undefined {
  const { values } = column;
  switch (values.kind) {
    case 'boolean':
      return values.values[place] === 1;
    case 'int32':
    case 'float':
    case 'double':
      return values.values[place] as number;
    case 'int64': {
      const value = values.values[place] as bigint;
      const number = Number(value);
      return Number.isSafeInteger(number) ? number : value;
    }
    case 'fixed':
      return undefined;
    default:
      return textAt(column, place);
  }
}

/** All leaves below a node whose values can become JSON: at most one level of repetition. */
export function jsonLeaves(node: SchemaNode): Leaf[] {
  if (node.leaf !== undefined) return node.leaf.maxRepetition <= 1 ? [node.leaf] : [];
  return node.children.flatMap(jsonLeaves);
}

/** Where the entries and values of each wanted row of a column are. */
interface Located {
  readonly column: FlatColumn;
  readonly entries: Int32Array;
  readonly ends: Int32Array;
  readonly places: Int32Array;
}

/**
 * The rows of one action column, such as `metaData` or `txn`, as JSON objects; null members are left out. `columns` are the dense columns of `jsonLeaves(node)`.
 * Members nested deeper than lists and maps of primitives are left out.
 */
export function assembleRows(
  node: SchemaNode,
  columns: readonly FlatColumn[],
): { readonly [name: string]: Json }[] {
  const first = columns[0];
  if (first === undefined) return [];
  const rows = presentRows(first, node.definition);
  if (rows.length === 0) return [];
  const located = new Map<number, Located>();
  for (const column of columns) located.set(column.leaf.index, locate(column, rows));
  return Array.from(rows, (_, index) => structAt(node, located, index));
}

/** The rows, counted from 0, in which the group is there. */
function presentRows(column: FlatColumn, level: number): Int32Array {
  const { definition, repetition, entries } = column;
  const rows = new Int32Array(entries);
  let count = 0;
  let row = -1;
  for (let entry = 0; entry < entries; entry++) {
    if (repetition === undefined || repetition[entry] === 0) row++;
    else continue;
    if (definition === undefined || (definition[entry] as number) >= level) rows[count++] = row;
  }
  return rows.slice(0, count);
}

/**
 * Finds the entries and values of the wanted rows. They are all the rows in which the group is there, so elsewhere each row has one entry and no value, and
 * only the wanted ones are looked at.
 */
function locate(column: FlatColumn, rows: Int32Array): Located {
  const { definition, repetition, leaf } = column;
  const entries = new Int32Array(rows.length);
  const ends = new Int32Array(rows.length);
  const places = new Int32Array(rows.length);
  let place = 0;
  let entry = 0;
  let row = 0;
  for (let index = 0; index < rows.length; index++) {
    entry += (rows[index] as number) - row;
    entries[index] = entry;
    places[index] = place;
    do {
      if (definition === undefined || definition[entry] === leaf.maxDefinition) place++;
      entry++;
    } while (repetition !== undefined && entry < column.entries && repetition[entry] !== 0);
    ends[index] = entry;
    row = (rows[index] as number) + 1;
  }
  return { column, entries, ends, places };
}

function structAt(
  node: SchemaNode,
  located: ReadonlyMap<number, Located>,
  index: number,
): { [name: string]: Json } {
  const members: [string, Json][] = [];
  for (const child of node.children) {
    const value = valueAt(child, located, index);
    if (value !== undefined) members.push([child.name, value]);
  }
  return Object.fromEntries(members);
}

function valueAt(node: SchemaNode, located: ReadonlyMap<number, Located>, index: number): Json | undefined {
  if (node.leaf !== undefined) {
    const at = located.get(node.leaf.index);
    return at === undefined || levelAt(at, index) < node.leaf.maxDefinition
      ? undefined
      : leafValue(at.column, at.places[index] as number);
  }
  const probe = jsonLeaves(node)
    .map((leaf) => located.get(leaf.index))
    .find((at) => at !== undefined);
  if (probe === undefined || levelAt(probe, index) < node.definition) return undefined;
  const collection = listOrMap(node);
  if (collection === undefined)
    return node.children.some((child) => child.repetition === 'repeated')
      ? undefined
      : structAt(node, located, index);
  return collectionAt(collection, located, index);
}

function levelAt(at: Located, index: number): number {
  const { definition, leaf } = at.column;
  return definition === undefined ? leaf.maxDefinition : (definition[at.entries[index] as number] as number);
}

function collectionAt(
  collection: Collection,
  located: ReadonlyMap<number, Located>,
  index: number,
): Json | undefined {
  const keys = located.get(collection.key.index);
  const values = located.get(collection.value.index);
  if (keys === undefined || values === undefined) return undefined;
  const out: [Json, Json][] = [];
  let keyPlace = keys.places[index] as number;
  let valuePlace = values.places[index] as number;
  const offset = (values.entries[index] as number) - (keys.entries[index] as number);
  for (let entry = keys.entries[index] as number; entry < (keys.ends[index] as number); entry++) {
    const hasKey = isThere(keys.column, entry);
    const hasValue = isThere(values.column, entry + offset);
    if (hasKey || hasValue) {
      const key = hasKey ? (leafValue(keys.column, keyPlace) ?? null) : null;
      out.push([key, hasValue ? (leafValue(values.column, valuePlace) ?? null) : null]);
    }
    if (hasKey) keyPlace++;
    if (hasValue) valuePlace++;
  }
  return collection.kind === 'list'
    ? out.map(([value]) => value)
    : Object.fromEntries(out.map(([key, value]) => [String(key), value]));
}

function isThere(column: FlatColumn, entry: number): boolean {
  return column.definition === undefined || column.definition[entry] === column.leaf.maxDefinition;
}
