import type { ProtocolAction } from '../log/actions.js';
import { someType } from './type-text.js';
import type { StructType } from './types.js';

/** What needs a table feature: reader and writer lists, or the writer's alone. */
interface FeatureNeed {
  readonly name: string;
  readonly reader: boolean;
  readonly needed: (schema: StructType, configuration: Readonly<Record<string, string>>) => boolean;
}

const enabled = (property: string) => (_: StructType, configuration: Readonly<Record<string, string>>) =>
  configuration[property]?.toLowerCase() === 'true';
const contains = (type: string) => (schema: StructType) => someType(schema, (inner) => inner.type === type);

const hasFieldKey = (key: string) => (schema: StructType) =>
  schema.fields.some((field) => Object.hasOwn(field.metadata, key));

const NEEDS: readonly FeatureNeed[] = [
  { name: 'allowColumnDefaults', reader: false, needed: hasFieldKey('CURRENT_DEFAULT') },
  { name: 'changeDataFeed', reader: false, needed: enabled('delta.enableChangeDataFeed') },
  {
    name: 'checkConstraints',
    reader: false,
    needed: (_, configuration) =>
      Object.keys(configuration).some((key) => key.toLowerCase().startsWith('delta.constraints.')),
  },
  {
    name: 'columnMapping',
    reader: true,
    needed: (_, configuration) =>
      ['name', 'id'].includes(configuration['delta.columnMapping.mode']?.toLowerCase() ?? ''),
  },
  { name: 'deletionVectors', reader: true, needed: enabled('delta.enableDeletionVectors') },
  { name: 'domainMetadata', reader: false, needed: enabled('delta.enableRowTracking') },
  { name: 'generatedColumns', reader: false, needed: hasFieldKey('delta.generationExpression') },
  { name: 'inCommitTimestamp', reader: false, needed: enabled('delta.enableInCommitTimestamps') },
  { name: 'rowTracking', reader: false, needed: enabled('delta.enableRowTracking') },
  { name: 'timestampNtz', reader: true, needed: contains('timestamp_ntz') },
  { name: 'typeWidening', reader: true, needed: enabled('delta.enableTypeWidening') },
  {
    name: 'v2Checkpoint',
    reader: true,
    needed: (_, configuration) => configuration['delta.checkpointPolicy']?.toLowerCase() === 'v2',
  },
  { name: 'variantType', reader: true, needed: contains('variant') },
];

/** What writer version 2 stands for; a table with feature lists names them. */
const LEGACY = ['appendOnly', 'invariants'];

/**
 * The protocol action of a new table: reader 1 and writer 2, which every engine can write, unless the schema or a property needs a table feature. Then
 * writer 7 with the features listed, those of writer version 2 included, and reader 3 when one of them binds readers. Lists are sorted.
 */
export function protocolFor(
  schema: StructType,
  configuration: Readonly<Record<string, string>>,
): ProtocolAction {
  const needs = NEEDS.filter((need) => need.needed(schema, configuration));
  if (needs.length === 0) return { minReaderVersion: 1, minWriterVersion: 2 };
  const writerFeatures = [...LEGACY, ...needs.map((need) => need.name)].sort();
  const readerFeatures = needs
    .filter((need) => need.reader)
    .map((need) => need.name)
    .sort();
  if (readerFeatures.length === 0) return { minReaderVersion: 1, minWriterVersion: 7, writerFeatures };
  return { minReaderVersion: 3, minWriterVersion: 7, readerFeatures, writerFeatures };
}
