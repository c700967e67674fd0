import { corrupt, unsupported } from './fault.js';
import { type ChunkMeta, type RowGroupMeta, readRowGroup } from './row-group.js';
import { THRIFT, ThriftReader } from './thrift.js';

export type { ChunkMeta, RawStatistics, RowGroupMeta } from './row-group.js';

/** Physical types by their number in the format. */
export const PHYSICAL = [
  'BOOLEAN',
  'INT32',
  'INT64',
  'INT96',
  'FLOAT',
  'DOUBLE',
  'BYTE_ARRAY',
  'FIXED_LEN_BYTE_ARRAY',
] as const;
export type Physical = (typeof PHYSICAL)[number];

/** What the bytes of a leaf mean, as far as the decoder's users care. */
export type Meaning =
  | { readonly kind: 'none' | 'string' | 'date' | 'json' | 'uuid' | 'other' }
  | { readonly kind: 'integer'; readonly bits: number; readonly signed: boolean }
  | { readonly kind: 'decimal'; readonly precision: number; readonly scale: number }
  | { readonly kind: 'timestamp'; readonly unit: 'millis' | 'micros' | 'nanos'; readonly utc: boolean };

/** One node of the schema. Leaves have a `leaf` index; groups have children. */
export interface SchemaNode {
  readonly name: string;
  readonly repetition: 'required' | 'optional' | 'repeated';
  /** The definition level that says "this node is there". */
  readonly definition: number;
  /** The repetition level of the innermost repeated node at or above this one. */
  readonly repetitionLevel: number;
  readonly children: readonly SchemaNode[];
  readonly group: 'map' | 'list' | 'plain';
  readonly fieldId: number | undefined;
  readonly leaf: Leaf | undefined;
}

export interface Leaf {
  /** The position among all leaves of the file. */
  readonly index: number;
  readonly path: readonly string[];
  readonly physical: Physical;
  /** Bytes of a FIXED_LEN_BYTE_ARRAY. */
  readonly width: number;
  readonly maxDefinition: number;
  readonly maxRepetition: number;
  readonly meaning: Meaning;
}

export interface Footer {
  readonly rows: number;
  readonly root: SchemaNode;
  readonly leaves: readonly Leaf[];
  readonly rowGroups: readonly RowGroupMeta[];
  readonly createdBy: string;
}

interface Element {
  type: number;
  width: number;
  repetition: number;
  name: string;
  children: number;
  converted: number;
  scale: number;
  precision: number;
  fieldId: number | undefined;
  meaning: Meaning | undefined;
  group: 'map' | 'list' | 'plain';
}

const MAX_SCHEMA_DEPTH = 100;
const MAX_LEVEL = 127;

/** The length in bytes of the footer, from the last eight bytes of the file. */
export function footerLength(tail: Uint8Array, fileSize: number): number {
  if (tail.length < 8 || fileSize < 12) throw corrupt('too short to be a Parquet file');
  const end = tail.length;
  const magic = String.fromCharCode(...tail.subarray(end - 4, end));
  if (magic === 'PARE') throw unsupported('encrypted footer');
  if (magic !== 'PAR1') throw corrupt('no Parquet magic at the end');
  const length = new DataView(tail.buffer, tail.byteOffset, tail.byteLength).getUint32(end - 8, true);
  if (length > fileSize - 12) throw corrupt('the footer is longer than the file');
  return length;
}

/**
 * Parses the footer, given its bytes without length and magic. Chunks outside the file, negative counts and schemas that do not add up are refused
 * as corrupt, so that later steps may trust every number here.
 */
export function parseFooter(bytes: Uint8Array, fileSize: number): Footer {
  const reader = new ThriftReader(bytes, 0, bytes.length);
  const elements: Element[] = [];
  const rowGroups: RowGroupMeta[] = [];
  const types: number[][] = [];
  let rows = 0;
  let createdBy = '';
  reader.struct((id, type) => {
    if (id === 2 && type === THRIFT.list) reader.list(() => elements.push(readElement(reader)));
    else if (id === 3) rows = reader.integer();
    else if (id === 4 && type === THRIFT.list)
      reader.list(() => rowGroups.push(readRowGroup(reader, types, fileSize)));
    else if (id === 6) createdBy = reader.text();
    else reader.skip(type);
  });
  const leaves: Leaf[] = [];
  const cursor = { next: 0 };
  const root = buildNode(elements, cursor, leaves, [], 0, 0, 0, true);
  if (cursor.next !== elements.length) throw corrupt('the schema has elements outside its root');
  let total = 0;
  rowGroups.forEach((group, index) => {
    if (group.chunks.length !== leaves.length) throw corrupt('a row group lacks columns of the schema');
    const kinds = types[index] as number[];
    for (const leaf of leaves)
      if (PHYSICAL[kinds[leaf.index] as number] !== leaf.physical)
        throw corrupt('a column chunk is of another type than its schema');
    for (const leaf of leaves) {
      const chunk = group.chunks[leaf.index] as ChunkMeta;
      if (leaf.maxRepetition === 0 ? chunk.values !== group.rows : chunk.values < group.rows)
        throw corrupt('a column chunk has not as many values as rows');
    }
    total += group.rows;
  });
  if (total !== rows) throw corrupt('the row groups do not add up to the rows of the file');
  return { rows, root, leaves, rowGroups, createdBy };
}

function readElement(reader: ThriftReader): Element {
  const element: Element = {
    type: -1,
    width: 0,
    repetition: 0,
    name: '',
    children: 0,
    converted: -1,
    scale: 0,
    precision: 0,
    fieldId: undefined,
    meaning: undefined,
    group: 'plain',
  };
  reader.struct((id, type) => {
    if (id === 1) element.type = reader.integer();
    else if (id === 2) element.width = reader.integer();
    else if (id === 3) element.repetition = reader.integer();
    else if (id === 4) element.name = reader.text();
    else if (id === 5) element.children = reader.integer();
    else if (id === 6) element.converted = reader.integer();
    else if (id === 7) element.scale = reader.integer();
    else if (id === 8) element.precision = reader.integer();
    else if (id === 9) element.fieldId = reader.integer();
    else if (id === 10 && type === THRIFT.struct) readLogicalType(reader, element);
    else reader.skip(type);
  });
  return element;
}

function readLogicalType(reader: ThriftReader, element: Element): void {
  reader.struct((id, type) => {
    if (id === 2) element.group = 'map';
    if (id === 3) element.group = 'list';
    if (id === 5) {
      let scale = 0;
      let precision = 0;
      reader.struct((field, fieldType) => {
        if (field === 1) scale = reader.integer();
        else if (field === 2) precision = reader.integer();
        else reader.skip(fieldType);
      });
      element.meaning = { kind: 'decimal', precision, scale };
    } else if (id === 8) {
      element.meaning = readTimestamp(reader);
    } else if (id === 10) {
      let bits = 0;
      let signed = true;
      reader.struct((field, fieldType) => {
        if (field === 1) bits = reader.byte();
        else if (field === 2) signed = reader.boolean(fieldType);
        else reader.skip(fieldType);
      });
      element.meaning = { kind: 'integer', bits, signed };
    } else {
      reader.skip(type);
      const kind = ({ 1: 'string', 4: 'string', 6: 'date', 12: 'json', 14: 'uuid' } as const)[id];
      if (id !== 2 && id !== 3) element.meaning = { kind: kind ?? 'other' };
    }
  });
}

function readTimestamp(reader: ThriftReader): Meaning {
  let utc = false;
  let unit: 'millis' | 'micros' | 'nanos' = 'micros';
  reader.struct((id, type) => {
    if (id === 1) utc = reader.boolean(type);
    else if (id === 2) {
      reader.struct((choice, choiceType) => {
        unit = choice === 1 ? 'millis' : choice === 3 ? 'nanos' : 'micros';
        reader.skip(choiceType);
      });
    } else reader.skip(type);
  });
  return { kind: 'timestamp', unit, utc };
}

/** The meaning by the older converted type, where there is no logical type. */
function convertedMeaning(element: Element): Meaning {
  switch (element.converted) {
    case 0:
    case 4:
      return { kind: 'string' };
    case 5:
      return { kind: 'decimal', precision: element.precision, scale: element.scale };
    case 6:
      return { kind: 'date' };
    case 9:
    case 10:
      return { kind: 'timestamp', unit: element.converted === 9 ? 'millis' : 'micros', utc: true };
    case 11:
    case 12:
    case 13:
    case 14:
      return { kind: 'integer', bits: 8 << (element.converted - 11), signed: false };
    case 15:
    case 16:
    case 17:
    case 18:
      return { kind: 'integer', bits: 8 << (element.converted - 15), signed: true };
    default:
      return { kind: element.converted === -1 ? 'none' : 'other' };
  }
}

function buildNode(
  elements: readonly Element[],
  cursor: { next: number },
  leaves: Leaf[],
  path: readonly string[],
  definition: number,
  repetition: number,
  depth: number,
  isRoot: boolean,
): SchemaNode {
  const element = elements[cursor.next++];
  if (element === undefined || depth > MAX_SCHEMA_DEPTH) throw corrupt('the schema does not add up');
  const kind = isRoot ? 'required' : (['required', 'optional', 'repeated'] as const)[element.repetition];
  if (kind === undefined) throw corrupt('a schema element of unknown repetition');
  const ownDefinition = definition + (kind === 'required' ? 0 : 1);
  const ownRepetition = repetition + (kind === 'repeated' ? 1 : 0);
  if (ownDefinition > MAX_LEVEL) throw corrupt('the schema is nested too deep');
  const ownPath = isRoot ? path : [...path, element.name];
  const children: SchemaNode[] = [];
  let leaf: Leaf | undefined;
  if (element.type >= 0 && element.children === 0 && !isRoot) {
    const physical = PHYSICAL[element.type];
    if (physical === undefined) throw corrupt('a column of unknown physical type');
    const width = physical === 'FIXED_LEN_BYTE_ARRAY' ? element.width : physical === 'INT96' ? 12 : 0;
    if (width < 0 || width > 1 << 20) throw corrupt('a fixed column of impossible width');
    const meaning = element.meaning ?? convertedMeaning(element);
    leaf = {
      index: leaves.length,
      path: ownPath,
      physical,
      width,
      maxDefinition: ownDefinition,
      maxRepetition: ownRepetition,
      meaning,
    };
    leaves.push(leaf);
  } else {
    for (let i = 0; i < element.children; i++) {
      children.push(
        buildNode(elements, cursor, leaves, ownPath, ownDefinition, ownRepetition, depth + 1, false),
      );
    }
  }
  const converted =
    element.converted === 1 || element.converted === 2 ? 'map' : element.converted === 3 ? 'list' : 'plain';
  const group = element.group === 'plain' ? converted : element.group;
  return {
    name: element.name,
    repetition: kind,
    definition: ownDefinition,
    repetitionLevel: ownRepetition,
    children,
    group,
    fieldId: element.fieldId,
    leaf,
  };
}
