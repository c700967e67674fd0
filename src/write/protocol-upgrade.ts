import type { MetadataAction, ProtocolAction } from '../log/actions.js';
import { findFeature } from '../log/feature-table.js';
import { supportedFeatures } from '../log/features.js';
import { schemaFacts } from '../log/schema-facts.js';
import { protocolFor } from '../schema/protocol-for.js';
import type { StructType } from '../schema/types.js';

/** The protocol with the features of another added; the same object where it has them all. Versions below 3 and 7 are spelled out as feature lists. */
export function withFeatures(protocol: ProtocolAction, needed: ProtocolAction): ProtocolAction {
  const present = supportedFeatures(protocol);
  const missing = supportedFeatures(needed).filter((name) => !present.includes(name));
  if (missing.length === 0) return protocol;
  const writerFeatures = [...present, ...missing].sort();
  const readerFeatures = writerFeatures.filter((name) => bindsReaders(name, protocol, missing));
  if (readerFeatures.length === 0 && protocol.minReaderVersion < 3) {
    return { minReaderVersion: protocol.minReaderVersion, minWriterVersion: 7, writerFeatures };
  }
  return { minReaderVersion: 3, minWriterVersion: 7, readerFeatures, writerFeatures };
}

/** The protocol with the features that a schema and its table's properties need; the same object where it has them all. */
export function withNeededFeatures(
  protocol: ProtocolAction,
  schema: StructType,
  { configuration, schemaString }: Pick<MetadataAction, 'configuration' | 'schemaString'>,
): ProtocolAction {
  const needed = protocolFor(schema, configuration);
  const use = { properties: configuration, schema: schemaFacts(schemaString) };
  const present = supportedFeatures(protocol);
  // What every table of the old writer version 2 has is owed to those alone which use it.
  const isOwed = (name: string): boolean =>
    !present.includes(`${name}-preview`) &&
    ((name !== 'appendOnly' && name !== 'invariants') || (findFeature(name)?.active(use) ?? false));
  const writerFeatures = supportedFeatures(needed).filter(isOwed);
  const readerFeatures = needed.readerFeatures?.filter(isOwed) ?? [];
  return withFeatures(protocol, { ...needed, minWriterVersion: 7, readerFeatures, writerFeatures });
}

function bindsReaders(name: string, protocol: ProtocolAction, missing: readonly string[]): boolean {
  if (findFeature(name)?.kind !== 'reader-writer') return false;
  if (missing.includes(name) || protocol.readerFeatures?.includes(name)) return true;
  const legacy = findFeature(name)?.legacyReader;
  return legacy !== undefined && protocol.minReaderVersion < 3 && legacy <= protocol.minReaderVersion;
}
