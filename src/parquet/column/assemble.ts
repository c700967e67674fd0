import type { DataType } from '../../schema/types.js';
import { corrupt } from '../flat/fault.js';
import type { LeafColumn } from './chunk.js';
import { convertValues } from './conversion.js';
import type { ReadNode } from './read-tree.js';
import { unshredColumn } from './shredded.js';
import type { Values } from './values.js';

/**
 * One column in Arrow's layout, as plain data that can be sent between threads. `values` are the raw bytes of a fixed-width type, of text or of booleans
 * (bits), in a buffer of their own that starts at 0; `offsets` belong to text, lists and maps; `validity` is left out where nothing is null.
 */
export interface ColumnData {
  readonly length: number;
  readonly nullCount: number;
  readonly validity?: Uint8Array;
  readonly values?: Uint8Array;
  readonly offsets?: Int32Array;
  readonly children?: readonly ColumnData[];
}

/** Builds one column of `length` slots from decoded leaves. Throws `FlatFault` where their levels contradict each other. */
export function assembleColumn(
  node: ReadNode,
  leaves: ReadonlyMap<number, LeafColumn>,
  length: number,
): ColumnData {
  if (node.kind === 'null') return nullColumn(node.type, length);
  if (node.kind === 'shredded') return unshredColumn(node.type, assembleColumn(node.child, leaves, length));
  const leaf = leaves.get(node.kind === 'leaf' ? node.column : node.carrier);
  if (leaf === undefined) throw corrupt('column chunk was not decoded');
  if (node.kind === 'leaf') {
    const isBoolean = node.conversion.kind === 'boolean';
    return spaceLeaf(
      leaf,
      convertValues(leaf.values, node.conversion),
      isBoolean,
      node.definition,
      node.slot,
      length,
    );
  }
  if (node.kind === 'struct') {
    const { validity, nullCount } = structValidity(leaf, node, length);
    const children = node.children.map((child) => assembleColumn(child, leaves, length));
    return { length, nullCount, validity, children };
  }
  const { validity, nullCount, offsets } = listOffsets(leaf, node, length);
  const child = assembleColumn(node.child, leaves, offsets[length]!);
  return { length, nullCount, validity, offsets, children: [child] };
}

/** A column of nulls of a type, with children where its Arrow type has them. */
export function nullColumn(type: DataType, length: number): ColumnData {
  if (type.type === 'void') return { length, nullCount: length };
  const base = { length, nullCount: length, validity: new Uint8Array((length + 7) >> 3) };
  switch (type.type) {
    case 'struct':
      return { ...base, children: type.fields.map((field) => nullColumn(field.dataType, length)) };
    case 'array':
      return { ...base, offsets: new Int32Array(length + 1), children: [nullColumn(type.elementType, 0)] };
    case 'map': {
      const children = [nullColumn(type.keyType, 0), nullColumn(type.valueType, 0)];
      return {
        ...base,
        offsets: new Int32Array(length + 1),
        children: [{ length: 0, nullCount: 0, children }],
      };
    }
    case 'variant':
      return {
        ...base,
        children: [nullColumn({ type: 'binary' }, length), nullColumn({ type: 'binary' }, length)],
      };
    case 'string':
    case 'binary':
      return { ...base, offsets: new Int32Array(length + 1), values: new Uint8Array(0) };
    case 'boolean':
      return { ...base, values: new Uint8Array((length + 7) >> 3) };
    default:
      return { ...base, values: new Uint8Array(length * fixedWidth(type)) };
  }
}

/** Bytes of a fixed-width type in Arrow. */
export function fixedWidth(type: DataType): number {
  switch (type.type) {
    case 'byte':
      return 1;
    case 'short':
      return 2;
    case 'integer':
    case 'interval year to month':
    case 'float':
    case 'date':
      return 4;
    case 'decimal':
      return 16;
    default:
      return 8;
  }
}

function spaceLeaf(
  leaf: LeafColumn,
  values: Values,
  isBoolean: boolean,
  definition: number,
  slot: number,
  length: number,
): ColumnData {
  const { definitions } = leaf;
  if (definitions === undefined) {
    if (values.count !== length) throw corrupt(`column of ${values.count} values, expected ${length}`);
    if (values.kind === 'binary') {
      const offsets = values.offsets.subarray(0, length + 1);
      return { length, nullCount: 0, offsets, values: values.data.subarray(0, offsets[length]!) };
    }
    const bytes = values.bytes.subarray(0, length * values.width);
    return { length, nullCount: 0, values: isBoolean ? packBits(bytes) : bytes };
  }
  const positions = new Int32Array(length).fill(-1);
  let at = 0;
  let dense = 0;
  for (let i = 0; i < definitions.length; i++) {
    const level = definitions[i]!;
    if (level < slot) continue;
    if (at >= length) throw corrupt('more values than slots');
    if (level === definition) positions[at] = dense++;
    at++;
  }
  if (at !== length || dense !== values.count) throw corrupt(`column of ${at} values, expected ${length}`);
  const nullCount = length - dense;
  const validity = nullCount > 0 ? validityOf(positions) : undefined;
  if (values.kind === 'binary') {
    const offsets = new Int32Array(length + 1);
    for (let i = 0; i < length; i++) {
      const index = positions[i]!;
      offsets[i + 1] = index < 0 ? offsets[i]! : values.offsets[index + 1]!;
    }
    return { length, nullCount, validity, offsets, values: values.data.subarray(0, offsets[length]!) };
  }
  const spaced = spaceFixed(values.bytes, values.width, positions);
  return { length, nullCount, validity, values: isBoolean ? packBits(spaced) : spaced };
}

function spaceFixed(bytes: Uint8Array, width: number, positions: Int32Array): Uint8Array {
  const { length } = positions;
  const output = new Uint8Array(length * width);
  if (width % 4 === 0) {
    const words = width / 4;
    const from = new Int32Array(bytes.buffer, 0, Math.floor(bytes.length / 4));
    const to = new Int32Array(output.buffer);
    for (let i = 0; i < length; i++) {
      const index = positions[i]!;
      if (index >= 0) for (let w = 0; w < words; w++) to[i * words + w] = from[index * words + w]!;
    }
  } else {
    for (let i = 0; i < length; i++) {
      const index = positions[i]!;
      if (index >= 0) for (let b = 0; b < width; b++) output[i * width + b] = bytes[index * width + b]!;
    }
  }
  return output;
}

function structValidity(
  leaf: LeafColumn,
  node: ReadNode & { kind: 'struct' },
  length: number,
): { validity?: Uint8Array; nullCount: number } {
  const { definitions, repetitions } = leaf;
  if (definitions === undefined || node.definition === node.slot) return { nullCount: 0 };
  const validity = new Uint8Array((length + 7) >> 3);
  let at = 0;
  let valid = 0;
  for (let i = 0; i < leaf.entries; i++) {
    if (definitions[i]! < node.slot || (repetitions !== undefined && repetitions[i]! > node.repetition))
      continue;
    if (at >= length) throw corrupt('more values than slots');
    if (definitions[i]! >= node.definition) {
      validity[at >> 3]! |= 1 << (at & 7);
      valid++;
    }
    at++;
  }
  if (at !== length) throw corrupt(`struct of ${at} values, expected ${length}`);
  return valid === length ? { nullCount: 0 } : { validity, nullCount: length - valid };
}

function listOffsets(
  leaf: LeafColumn,
  node: ReadNode & { kind: 'list' },
  length: number,
): { validity?: Uint8Array; nullCount: number; offsets: Int32Array } {
  const { definitions, repetitions } = leaf;
  if (repetitions === undefined) throw corrupt('list without repetition levels');
  const offsets = new Int32Array(length + 1);
  const validity = new Uint8Array((length + 7) >> 3);
  let at = 0;
  let valid = 0;
  let elements = 0;
  for (let i = 0; i < leaf.entries; i++) {
    // Without definition levels every entry is a value, so above every level asked for.
    const definition = definitions === undefined ? 255 : definitions[i]!;
    const repetition = repetitions[i]!;
    if (definition < node.slot) continue;
    if (repetition <= node.repetition) {
      if (at >= length) throw corrupt('more values than slots');
      offsets[at] = elements;
      if (definition >= node.definition) {
        validity[at >> 3]! |= 1 << (at & 7);
        valid++;
      }
      at++;
    }
    if (definition >= node.entry && repetition <= node.repetition + 1) elements++;
  }
  if (at !== length) throw corrupt(`list column of ${at} values, expected ${length}`);
  offsets[length] = elements;
  return valid === length ? { nullCount: 0, offsets } : { validity, nullCount: length - valid, offsets };
}

function validityOf(positions: Int32Array): Uint8Array {
  const bits = new Uint8Array((positions.length + 7) >> 3);
  for (let i = 0; i < positions.length; i++) if (positions[i]! >= 0) bits[i >> 3]! |= 1 << (i & 7);
  return bits;
}

function packBits(bytes: Uint8Array): Uint8Array {
  const bits = new Uint8Array((bytes.length + 7) >> 3);
  for (let i = 0; i < bytes.length; i++) if (bytes[i] !== 0) bits[i >> 3]! |= 1 << (i & 7);
  return bits;
}
