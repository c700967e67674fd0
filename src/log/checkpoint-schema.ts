import { group, type LeafType, leaf, STRING, type WriteNode } from '../parquet/flat/write/schema.js';
import { type ColumnPath, columnMappingMode, leafColumns, physicalName } from '../schema/mapping.js';
import type { DataType } from '../schema/types.js';
import type { State } from '../snapshot/state.js';
import { isActive } from './features.js';
import { tableProperties } from './properties.js';

const INT64: LeafType = { kind: 'int64' };
const INT32: LeafType = { kind: 'int32' };
const BOOLEAN: LeafType = { kind: 'boolean' };

/** A column whose statistics are written as a struct. */
export interface StatsColumn {
  readonly path: readonly string[];
  readonly dataType: DataType;
  /** Undefined for columns that have a count of nulls alone. */
  readonly bounds: LeafType | undefined;
}

/** What a checkpoint of a state is to hold, by the table's properties (protocol: Checkpoints). */
export interface CheckpointShape {
  readonly nodes: readonly WriteNode[];
  readonly statsAsJson: boolean;
  readonly statsColumns: readonly StatsColumn[] | undefined;
  readonly partitionColumns:
    | readonly { readonly name: string; readonly dataType: DataType; readonly type: LeafType }[]
    | undefined;
}

const VECTOR = group('deletionVector', [
  leaf('storageType', STRING),
  leaf('pathOrInlineDv', STRING),
  leaf('offset', INT32),
  leaf('sizeInBytes', INT32),
  leaf('cardinality', INT64),
]);

const TXN = group('txn', [leaf('appId', STRING), leaf('version', INT64), leaf('lastUpdated', INT64)]);

const REMOVE = group('remove', [
  leaf('path', STRING),
  leaf('deletionTimestamp', INT64),
  leaf('dataChange', BOOLEAN),
  leaf('extendedFileMetadata', BOOLEAN),
  { kind: 'map', name: 'partitionValues' },
  leaf('size', INT64),
  VECTOR,
  leaf('baseRowId', INT64),
  leaf('defaultRowCommitVersion', INT64),
]);

const METADATA = group('metaData', [
  leaf('id', STRING),
  leaf('name', STRING),
  leaf('description', STRING),
  group('format', [leaf('provider', STRING), { kind: 'map', name: 'options' }]),
  leaf('schemaString', STRING),
  { kind: 'list', name: 'partitionColumns' },
  { kind: 'map', name: 'configuration' },
  leaf('createdTime', INT64),
]);

const PROTOCOL = group('protocol', [
  leaf('minReaderVersion', INT32),
  leaf('minWriterVersion', INT32),
  { kind: 'list', name: 'readerFeatures' },
  { kind: 'list', name: 'writerFeatures' },
]);

const DOMAIN = group('domainMetadata', [
  leaf('domain', STRING),
  leaf('configuration', STRING),
  leaf('removed', BOOLEAN),
]);

const CHECKPOINT_METADATA = group('checkpointMetadata', [
  leaf('version', INT64),
  { kind: 'map', name: 'tags' },
]);

/** True where the table asks for checkpoints of the second form, and its readers must know them (protocol: V2 Spec). */
export function isV2({ protocol, metadata }: Pick<State, 'protocol' | 'metadata'>): boolean {
  return isActive('v2Checkpoint', protocol, metadata);
}

/** The shape of a checkpoint of `state`, in the spelling that Spark writes and every engine reads. */
export function checkpointShape(state: State): CheckpointShape {
  const { metadata, protocol, schema } = state;
  const properties = tableProperties(metadata.configuration);
  const mode = columnMappingMode(metadata, protocol);
  const asStruct = properties.checkpointStatsAsStruct;
  const partitions = asStruct
    ? metadata.partitionColumns.flatMap((name) => {
        const field = schema.fields.find((candidate) => candidate.name === name);
        const type = field && boundsType(field.dataType, true);
        return field === undefined || type === undefined
          ? []
          : [{ name: physicalName(field, mode), dataType: field.dataType, type }];
      })
    : undefined;
  const statsColumns = asStruct
    ? statsColumnsOf(leafColumns(schema, mode), metadata.partitionColumns, properties.dataSkipping)
    : undefined;
  const add: WriteNode[] = [
    leaf('path', STRING),
    { kind: 'map', name: 'partitionValues' },
    leaf('size', INT64),
    leaf('modificationTime', INT64),
    leaf('dataChange', BOOLEAN),
    { kind: 'map', name: 'tags' },
    VECTOR,
    leaf('baseRowId', INT64),
    leaf('defaultRowCommitVersion', INT64),
    leaf('clusteringProvider', STRING),
  ];
  if (properties.checkpointStatsAsJson) add.push(leaf('stats', STRING));
  if (partitions !== undefined && partitions.length > 0) {
    add.push(
      group(
        'partitionValues_parsed',
        partitions.map(({ name, type }) => leaf(name, type)),
      ),
    );
  }
  if (statsColumns !== undefined) add.push(statsGroup(statsColumns));
  return {
    nodes: [
      TXN,
      group('add', add),
      REMOVE,
      METADATA,
      PROTOCOL,
      DOMAIN,
      ...(isV2(state) ? [CHECKPOINT_METADATA] : []),
    ],
    statsAsJson: properties.checkpointStatsAsJson,
    statsColumns,
    partitionColumns: partitions,
  };
}

function statsColumnsOf(
  columns: readonly ColumnPath[],
  partitionColumns: readonly string[],
  skipping: { readonly indexedColumns: number; readonly statsColumns?: readonly (readonly string[])[] },
): StatsColumn[] {
  const data = columns.filter(
    ({ logical }) => !(logical.length === 1 && partitionColumns.includes(logical[0] as string)),
  );
  const { statsColumns: named, indexedColumns: count } = skipping;
  const chosen =
    named !== undefined
      ? data.filter(({ logical }) =>
          named.some((path) => path.every((name, i) => logical[i]?.toLowerCase() === name.toLowerCase())),
        )
      : count < 0
        ? data
        : data.slice(0, count);
  return chosen.map(({ field, physical }) => ({
    path: physical,
    dataType: field.dataType,
    bounds: boundsType(field.dataType, false),
  }));
}

/** How bounds of a type are stored; undefined where a type has none. Partition values have types that bounds do not. */
function boundsType(type: DataType, partition: boolean): LeafType | undefined {
  switch (type.type) {
    case 'string':
    case 'float':
    case 'double':
    case 'date':
      return { kind: type.type };
    case 'long':
      return INT64;
    case 'integer':
      return INT32;
    case 'short':
      return { kind: 'int', bits: 16 };
    case 'byte':
      return { kind: 'int', bits: 8 };
    case 'timestamp':
    case 'timestamp_ntz':
      return { kind: 'timestamp', utc: type.type === 'timestamp' };
    case 'decimal':
      return { kind: 'decimal', precision: type.precision, scale: type.scale };
    case 'boolean':
      return partition ? BOOLEAN : undefined;
    default:
      return undefined;
  }
}

function statsGroup(columns: readonly StatsColumn[]): WriteNode {
  const bounded = columns.filter((column) => column.bounds !== undefined);
  const children: WriteNode[] = [leaf('numRecords', INT64)];
  const nested = (
    name: string,
    of: readonly StatsColumn[],
    type: (column: StatsColumn) => LeafType,
  ): void => {
    if (of.length > 0) children.push(group(name, tree(of, 0, type)));
  };
  nested('minValues', bounded, (column) => column.bounds as LeafType);
  nested('maxValues', bounded, (column) => column.bounds as LeafType);
  nested('nullCount', columns, () => INT64);
  children.push(leaf('tightBounds', BOOLEAN));
  return group('stats_parsed', children);
}

function tree(
  columns: readonly StatsColumn[],
  depth: number,
  type: (column: StatsColumn) => LeafType,
): WriteNode[] {
  const nodes: WriteNode[] = [];
  for (let i = 0; i < columns.length; ) {
    const name = (columns[i] as StatsColumn).path[depth] as string;
    let next = i + 1;
    while (next < columns.length && (columns[next] as StatsColumn).path[depth] === name) next++;
    const first = columns[i] as StatsColumn;
    nodes.push(
      first.path.length === depth + 1
        ? leaf(name, type(first))
        : group(name, tree(columns.slice(i, next), depth + 1, type)),
    );
    i = next;
  }
  return nodes;
}
