import { TableError } from '../errors.js';
import type { ProtocolAction } from '../log/actions.js';
import { findFeature } from '../log/feature-table.js';
import { supportedFeatures, withoutFeature } from '../log/features.js';
import { schemaFacts } from '../log/schema-facts.js';
import { serializeSchema } from '../schema/schema-json.js';
import type { AlterBase, Altered, Draft, DropFeature } from './alteration.js';

/** Features that are gone with their property or with what columns say: writers alone need them, or nothing in the log or the files tells of them. */
const WITHOUT_TRACES: readonly string[] = [
  'allowColumnDefaults',
  'appendOnly',
  'changeDataFeed',
  'checkConstraints',
  'domainMetadata',
  'generatedColumns',
  'icebergCompatV1',
  'icebergCompatV2',
  'icebergCompatV3',
  'identityColumns',
  'inCommitTimestamp',
  'inCommitTimestamp-preview',
  'invariants',
  'vacuumProtocolCheck',
];

/** Features that readers of older versions need as long as those can be read. */
export const WITH_TRACES: readonly string[] = [
  'columnMapping',
  'deletionVectors',
  'timestampNtz',
  'typeWidening',
  'typeWidening-preview',
  'v2Checkpoint',
];

const NEEDED_BY: Readonly<Record<string, readonly string[]>> = {
  domainMetadata: ['rowTracking', 'clustering'],
};

/** What is to be done first, where a feature's own words do not tell. */
const FIRST: Readonly<Record<string, string>> = {
  columnMapping:
    'Its columns would have to be written again under their own names; make another table of the rows.',
  checkConstraints: 'Drop the constraints first.',
  timestampNtz: 'Make another table of the rows, with other types.',
  v2Checkpoint: 'Set delta.checkpointPolicy to classic first.',
};

/**
 * Takes a feature off the protocol, so that engines which lack it can use the table (protocol: Table Features). Throws `INVALID_INPUT` for a feature that the
 * table does not have, that is in use, or that others need; `UNSUPPORTED_FEATURE` for one that cannot be dropped, or not while the log tells of it.
 */
export function dropFeature(draft: Draft, { dropFeature: name }: DropFeature, base: AlterBase): Altered {
  const present = supportedFeatures(draft.protocol);
  const { url } = base;
  const refuse = (why: string): never => {
    throw new TableError('INVALID_INPUT', `The feature ${name} of ${url} cannot be dropped: ${why}`, {
      url,
      feature: name,
    });
  };
  if (!present.includes(name)) {
    const hint = name.startsWith('delta.') ? ' A property is unset, not dropped.' : '';
    refuse(`the table does not have it, but ${[...present].sort().join(', ') || 'none'}.${hint}`);
  }
  if (![...WITHOUT_TRACES, ...WITH_TRACES].includes(name))
    throw kept(name, url, 'what it brought cannot be taken away by a change of metadata alone.');
  const needs = present.find((other) => NEEDED_BY[name]?.includes(other));
  if (needs !== undefined) refuse(`the feature ${needs} needs it.`);
  const use = { properties: draft.configuration, schema: schemaFacts(serializeSchema(draft.schema)) };
  const feature = findFeature(name)!;
  if (feature.active(use))
    refuse(`it is in use: ${feature.activeWhen}. ${FIRST[name] ?? 'Unset that first.'}`);
  if (name === 'domainMetadata' && base.domains.length > 0)
    refuse(`the table has the domains ${base.domains.join(', ')}.`);
  const trace = base.traces.get(name);
  if (trace !== undefined) throw kept(name, url, trace);
  const protocol = withoutFeature(draft.protocol, name);
  if (protocol.minWriterVersion > draft.protocol.minWriterVersion)
    refuse(
      `it is a part of ${versions(draft.protocol)}; without it the table would need ${versions(protocol)}, which fewer engines write.`,
    );
  return {
    draft: { ...draft, protocol },
    operation: 'DROP FEATURE',
    parameters: { featureName: name, truncateHistory: false },
    told: `drop the feature ${name}`,
  };
}

function versions({ minReaderVersion, minWriterVersion }: ProtocolAction): string {
  return `reader version ${minReaderVersion} and writer version ${minWriterVersion}`;
}

function kept(feature: string, url: string, why: string): TableError {
  return new TableError(
    'UNSUPPORTED_FEATURE',
    `The feature ${feature} of ${url} cannot be dropped here: ${why}`,
    { url, features: [{ feature, blocks: 'write', reason: why }] },
  );
}
