import type { MetadataAction, ProtocolAction } from '../log/actions.js';
import type { DataType, JsonObject, StructField, StructType } from './types.js';

export type MappingMode = 'none' | 'name' | 'id';

const MODE = 'delta.columnMapping.mode';
const ID = 'delta.columnMapping.id';
const PHYSICAL_NAME = 'delta.columnMapping.physicalName';

/**
 * How data files name columns (protocol: Column Mapping). The property counts only where the protocol supports it; without `protocol` it is taken to.
 */
export function columnMappingMode(
  metadata: Pick<MetadataAction, 'configuration'>,
  protocol?: ProtocolAction,
): MappingMode {
  const mode = metadata.configuration[MODE]?.toLowerCase();
  if (mode !== 'name' && mode !== 'id') return 'none';
  return protocol === undefined || supportsColumnMapping(protocol) ? mode : 'none';
}

function supportsColumnMapping(protocol: ProtocolAction): boolean {
  if (protocol.minReaderVersion >= 3) return protocol.readerFeatures?.includes('columnMapping') ?? false;
  return protocol.minReaderVersion === 2;
}

/** The name of a field in data files, partition values and statistics: its own where there is no mapping or it has none. */
export function physicalName(field: StructField, mode: MappingMode): string {
  if (mode === 'none') return field.name;
  const name = ownMember(field.metadata, PHYSICAL_NAME);
  return typeof name === 'string' ? name : field.name;
}

/** The column mapping id of a field, which is its `field_id` in Parquet files, if it has one. */
export function columnId(field: StructField): number | undefined {
  const id = ownMember(field.metadata, ID);
  return typeof id === 'number' ? id : undefined;
}

function ownMember(metadata: JsonObject, key: string): unknown {
  return Object.hasOwn(metadata, key) ? metadata[key] : undefined;
}

/** The schema with physical names at every level, as data files have it; the same object when there is no mapping. Metadata is kept. */
export function physicalSchema(schema: StructType, mode: MappingMode): StructType {
  return mode === 'none' ? schema : physicalStruct(schema, mode);
}

function physicalStruct(schema: StructType, mode: MappingMode): StructType {
  return {
    type: 'struct',
    fields: schema.fields.map((field) => ({
      ...field,
      name: physicalName(field, mode),
      dataType: physicalType(field.dataType, mode),
    })),
  };
}

function physicalType(type: DataType, mode: MappingMode): DataType {
  switch (type.type) {
    case 'struct':
      return physicalStruct(type, mode);
    case 'array':
      return { ...type, elementType: physicalType(type.elementType, mode) };
    case 'map':
      return {
        ...type,
        keyType: physicalType(type.keyType, mode),
        valueType: physicalType(type.valueType, mode),
      };
    default:
      return type;
  }
}

/** A leaf or inner column found by its logical path through structs. */
export interface ColumnPath {
  readonly field: StructField;
  /** Names as the schema spells them. */
  readonly logical: readonly string[];
  readonly physical: readonly string[];
}

/** Finds a column by its path through structs, ignoring case as Delta does (an exact match wins); undefined when there is none. */
export function findColumn(
  schema: StructType,
  path: readonly string[],
  mode: MappingMode = 'none',
): ColumnPath | undefined {
  let struct: DataType = schema;
  let field: StructField | undefined;
  const logical: string[] = [];
  const physical: string[] = [];
  for (const name of path) {
    if (struct.type !== 'struct') return undefined;
    field = findField(struct, name);
    if (field === undefined) return undefined;
    logical.push(field.name);
    physical.push(physicalName(field, mode));
    struct = field.dataType;
  }
  return field === undefined ? undefined : { field, logical, physical };
}

/** The field of that name, ignoring case; an exact match wins. */
export function findField(struct: StructType, name: string): StructField | undefined {
  const exact = struct.fields.find((field) => field.name === name);
  if (exact !== undefined) return exact;
  const lower = name.toLowerCase();
  return struct.fields.find((field) => field.name.toLowerCase() === lower);
}

/** Every column that holds no struct, in schema order, through structs alone (arrays and maps count as one): those that statistics may describe. */
export function leafColumns(schema: StructType, mode: MappingMode = 'none'): ColumnPath[] {
  const leaves: ColumnPath[] = [];
  const walk = (struct: StructType, logical: readonly string[], physical: readonly string[]): void => {
    for (const field of struct.fields) {
      const path = {
        field,
        logical: [...logical, field.name],
        physical: [...physical, physicalName(field, mode)],
      };
      if (field.dataType.type === 'struct') walk(field.dataType, path.logical, path.physical);
      else leaves.push(path);
    }
  };
  walk(schema, [], []);
  return leaves;
}

/**
 * Gives every field at every level that has none an id and a physical name (`col-<uuid>`), as a table created with column mapping needs; returns the schema
 * and the greatest id, which goes into `delta.columnMapping.maxColumnId`. Fields that have them keep them.
 */
export function assignColumnMapping(
  schema: StructType,
  uuid: () => string,
  maxId = 0,
): { schema: StructType; maxId: number } {
  let last = Math.max(maxId, greatestId(schema));
  const assignType = (type: DataType): DataType => {
    switch (type.type) {
      case 'struct':
        return assignStruct(type);
      case 'array':
        return { ...type, elementType: assignType(type.elementType) };
      case 'map':
        return { ...type, keyType: assignType(type.keyType), valueType: assignType(type.valueType) };
      default:
        return type;
    }
  };
  const assignStruct = (struct: StructType): StructType => ({
    type: 'struct',
    fields: struct.fields.map((field) => {
      const id = columnId(field) ?? ++last;
      const physical = ownMember(field.metadata, PHYSICAL_NAME) ?? `col-${uuid()}`;
      const metadata = { ...field.metadata, [ID]: id, [PHYSICAL_NAME]: physical as string };
      return { ...field, dataType: assignType(field.dataType), metadata };
    }),
  });
  return { schema: assignStruct(schema), maxId: last };
}

function greatestId(type: DataType): number {
  switch (type.type) {
    case 'struct':
      return type.fields.reduce(
        (most, field) => Math.max(most, columnId(field) ?? 0, greatestId(field.dataType)),
        0,
      );
    case 'array':
      return greatestId(type.elementType);
    case 'map':
      return Math.max(greatestId(type.keyType), greatestId(type.valueType));
    default:
      return 0;
  }
}
