import { T, type ThriftStruct, type ThriftValue } from '../../encode-thrift.js';

/** The types that leaves of a written file can have. */
export type LeafType =
  | { readonly kind: 'boolean' | 'int32' | 'int64' | 'float' | 'double' | 'string' | 'binary' | 'date' }
  | { readonly kind: 'timestamp'; readonly utc: boolean }
  | { readonly kind: 'int'; readonly bits: 8 | 16 }
  | { readonly kind: 'decimal'; readonly precision: number; readonly scale: number };

/** A node of the schema to write. Everything is optional but the keys of maps and leaves that say so; maps and lists hold leaves. */
export type WriteNode =
  | {
      readonly kind: 'leaf';
      readonly name: string;
      readonly type: LeafType;
      readonly required?: boolean;
      readonly fieldId?: number;
    }
  | { readonly kind: 'group'; readonly name: string; readonly children: readonly WriteNode[] }
  | { readonly kind: 'map'; readonly name: string }
  | { readonly kind: 'list'; readonly name: string };

/** One leaf as it lies in the file. */
export interface WriteLeaf {
  readonly path: readonly string[];
  readonly type: LeafType;
  readonly maxDefinition: number;
  readonly maxRepetition: number;
}

export const STRING: LeafType = { kind: 'string' };

export function leaf(name: string, type: LeafType): WriteNode {
  return { kind: 'leaf', name, type };
}

export function group(name: string, children: readonly WriteNode[]): WriteNode {
  return { kind: 'group', name, children };
}

/** The leaves below nodes in file order. `definition` is the level of what holds them. */
export function leavesOf(
  nodes: readonly WriteNode[],
  path: readonly string[] = [],
  definition = 0,
): WriteLeaf[] {
  return nodes.flatMap((node) => leavesOfNode(node, [...path, node.name], definition + 1));
}

function leavesOfNode(node: WriteNode, own: readonly string[], level: number): WriteLeaf[] {
  switch (node.kind) {
    case 'leaf':
      return [
        { path: own, type: node.type, maxDefinition: node.required ? level - 1 : level, maxRepetition: 0 },
      ];
    case 'group':
      return leavesOf(node.children, own, level);
    case 'map':
      return [
        { path: [...own, 'key_value', 'key'], type: STRING, maxDefinition: level + 1, maxRepetition: 1 },
        { path: [...own, 'key_value', 'value'], type: STRING, maxDefinition: level + 2, maxRepetition: 1 },
      ];
    case 'list':
      return [
        { path: [...own, 'list', 'element'], type: STRING, maxDefinition: level + 2, maxRepetition: 1 },
      ];
  }
}

const REQUIRED = 0;
const OPTIONAL = 1;
const REPEATED = 2;
const CONVERTED = {
  utf8: 0,
  map: 1,
  list: 3,
  decimal: 5,
  date: 6,
  timestampMicros: 10,
  int8: 15,
  int16: 16,
} as const;

/** The schema's elements in the footer's form, the root first. */
export function schemaElements(nodes: readonly WriteNode[]): ThriftStruct[] {
  return [element('spark_schema', undefined, undefined, nodes.length), ...nodes.flatMap(elementsOf)];
}

function elementsOf(node: WriteNode): ThriftStruct[] {
  switch (node.kind) {
    case 'leaf':
      return [leafElement(node.name, node.type, node.required ? REQUIRED : OPTIONAL, node.fieldId)];
    case 'group':
      return [
        element(node.name, OPTIONAL, undefined, node.children.length),
        ...node.children.flatMap(elementsOf),
      ];
    case 'map':
      return [
        element(node.name, OPTIONAL, CONVERTED.map, 1, [2, new Map()]),
        element('key_value', REPEATED, undefined, 2),
        leafElement('key', STRING, REQUIRED),
        leafElement('value', STRING, OPTIONAL),
      ];
    case 'list':
      return [
        element(node.name, OPTIONAL, CONVERTED.list, 1, [3, new Map()]),
        element('list', REPEATED, undefined, 1),
        leafElement('element', STRING, OPTIONAL),
      ];
  }
}

function element(
  name: string,
  repetition: number | undefined,
  converted: number | undefined,
  children: number,
  logical?: readonly [number, ThriftStruct],
): ThriftStruct {
  const out: ThriftStruct = new Map();
  if (repetition !== undefined) out.set(3, field(T.I32, repetition));
  out.set(4, field(T.BINARY, Buffer.from(name, 'utf8')));
  out.set(5, field(T.I32, children));
  if (converted !== undefined) out.set(6, field(T.I32, converted));
  if (logical !== undefined)
    out.set(10, field(T.STRUCT, new Map([[logical[0], field(T.STRUCT, logical[1])]])));
  return out;
}

/** Bytes of a decimal of that precision where it is stored with a fixed length. */
export function decimalWidth(precision: number): number {
  let width = 1;
  while (10n ** BigInt(precision) > 1n << BigInt(8 * width - 1)) width++;
  return width;
}

/** The physical type's number in the format. */
export function physicalOf(type: LeafType): number {
  switch (type.kind) {
    case 'boolean':
      return 0;
    case 'int':
    case 'int32':
    case 'date':
      return 1;
    case 'int64':
    case 'timestamp':
      return 2;
    case 'float':
      return 4;
    case 'double':
      return 5;
    case 'string':
    case 'binary':
      return 6;
    case 'decimal':
      return type.precision <= 9 ? 1 : type.precision <= 18 ? 2 : 7;
  }
}

function leafElement(name: string, type: LeafType, repetition: number, fieldId?: number): ThriftStruct {
  const out: ThriftStruct = new Map([[1, field(T.I32, physicalOf(type))]]);
  if (type.kind === 'decimal' && type.precision > 18) out.set(2, field(T.I32, decimalWidth(type.precision)));
  out.set(3, field(T.I32, repetition));
  out.set(4, field(T.BINARY, Buffer.from(name, 'utf8')));
  if (fieldId !== undefined) out.set(9, field(T.I32, fieldId));
  const logical = (id: number, body: ThriftStruct): void => {
    out.set(10, field(T.STRUCT, new Map([[id, field(T.STRUCT, body)]])));
  };
  switch (type.kind) {
    case 'string':
      out.set(6, field(T.I32, CONVERTED.utf8));
      logical(1, new Map());
      break;
    case 'date':
      out.set(6, field(T.I32, CONVERTED.date));
      logical(6, new Map());
      break;
    case 'int':
      out.set(6, field(T.I32, type.bits === 8 ? CONVERTED.int8 : CONVERTED.int16));
      logical(
        10,
        new Map([
          [1, field(T.I8, type.bits)],
          [2, field(T.TRUE, true)],
        ]),
      );
      break;
    case 'decimal':
      out.set(6, field(T.I32, CONVERTED.decimal));
      out.set(7, field(T.I32, type.scale));
      out.set(8, field(T.I32, type.precision));
      logical(
        5,
        new Map([
          [1, field(T.I32, type.scale)],
          [2, field(T.I32, type.precision)],
        ]),
      );
      break;
    case 'timestamp':
      if (type.utc) out.set(6, field(T.I32, CONVERTED.timestampMicros));
      logical(
        8,
        new Map([
          [1, field(T.TRUE, type.utc)],
          [2, field(T.STRUCT, new Map([[2, field(T.STRUCT, new Map())]]))],
        ]),
      );
      break;
  }
  return out;
}

export function field(type: number, value: ThriftValue): { type: number; value: ThriftValue } {
  return { type, value };
}
