import { describe, expect, test } from 'vitest';
import type { MetadataAction } from '../../../src/log/actions.js';
import { FEATURES } from '../../../src/log/feature-table.js';
import { assertReadable, assertWritable, isActive, supportedFeatures } from '../../../src/log/features.js';

/** Valid Feature Names in Table Features, and the preview names of tables in the wild. */
const PROTOCOL_NAMES = [
  'appendOnly',
  'invariants',
  'checkConstraints',
  'generatedColumns',
  'allowColumnDefaults',
  'changeDataFeed',
  'columnMapping',
  'identityColumns',
  'deletionVectors',
  'rowTracking',
  'timestampNtz',
  'domainMetadata',
  'v2Checkpoint',
  'catalogManaged',
  'icebergCompatV1',
  'icebergCompatV2',
  'clustering',
  'vacuumProtocolCheck',
  'inCommitTimestamp',
  'typeWidening',
  'variantType',
  'variantShredding',
  'typeWidening-preview',
  'inCommitTimestamp-preview',
  'variantType-preview',
  'variantShredding-preview',
  'catalogOwned-preview',
];

const metadata: MetadataAction = {
  id: 'i',
  format: { provider: 'parquet', options: {} },
  schemaString: '{"type":"struct","fields":[]}',
  partitionColumns: [],
  configuration: {},
};

describe('the feature table', () => {
  test('has every feature of the protocol', () => {
    expect(PROTOCOL_NAMES.filter((name) => !Object.hasOwn(FEATURES, name))).toEqual([]);
  });

  test('reads everything but tables of a catalog', () => {
    const refused = Object.entries(FEATURES).filter(([, { read }]) => read === 'no');
    expect(refused.map(([name]) => name)).toEqual(['catalogManaged', 'catalogOwned-preview']);
  });

  test('never lets a feature of writers stop a reader', () => {
    expect(Object.values(FEATURES).filter(({ kind, read }) => kind === 'writer' && read === 'no')).toEqual(
      [],
    );
  });
});

describe('supportedFeatures', () => {
  test('follow from the versions below 3 and 7', () => {
    expect(supportedFeatures({ minReaderVersion: 1, minWriterVersion: 1 })).toEqual([]);
    expect(supportedFeatures({ minReaderVersion: 1, minWriterVersion: 2 })).toEqual([
      'appendOnly',
      'invariants',
    ]);
    expect(supportedFeatures({ minReaderVersion: 2, minWriterVersion: 5 })).toEqual([
      'appendOnly',
      'invariants',
      'checkConstraints',
      'changeDataFeed',
      'generatedColumns',
      'columnMapping',
    ]);
  });

  test('are those of the lists from version 7 on', () => {
    expect(
      supportedFeatures({ minReaderVersion: 1, minWriterVersion: 7, writerFeatures: ['appendOnly'] }),
    ).toEqual(['appendOnly']);
  });
});

test('a feature is active when it is supported and in use', () => {
  const listed = { minReaderVersion: 1, minWriterVersion: 7, writerFeatures: ['appendOnly'] };
  const inUse = { ...metadata, configuration: { 'delta.appendOnly': 'true' } };
  expect(isActive('appendOnly', listed, inUse)).toBe(true);
  expect(isActive('appendOnly', listed, metadata)).toBe(false);
  expect(isActive('appendOnly', { minReaderVersion: 1, minWriterVersion: 1 }, inUse)).toBe(false);
  expect(isActive('toString', listed, inUse)).toBe(false);
});

test('the refusal says for each feature what it blocks, and where', () => {
  const protocol = {
    minReaderVersion: 3,
    minWriterVersion: 7,
    readerFeatures: ['novelty'],
    writerFeatures: ['novelty', 'gadget'],
  };
  expect(() => assertWritable(protocol, metadata, 's3://b/t')).toThrow(
    /s3:\/\/b\/t.*novelty \(blocks read and write.*gadget \(blocks write/,
  );
  expect(() => assertReadable(protocol, metadata, 's3://b/t')).toThrow(
    expect.objectContaining({
      code: 'UNSUPPORTED_FEATURE',
      context: expect.objectContaining({ features: [expect.objectContaining({ feature: 'novelty' })] }),
    }),
  );
});

test('a schema that is not JSON does not hide what blocks the table', () => {
  expect(() =>
    assertWritable(
      { minReaderVersion: 1, minWriterVersion: 8 },
      { ...metadata, schemaString: '{' },
      's3://b/t',
    ),
  ).toThrow(/writer version 8/);
});
