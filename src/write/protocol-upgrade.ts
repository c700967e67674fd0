import type { ProtocolAction } from '../log/actions.js';
import { findFeature } from '../log/feature-table.js';
import { supportedFeatures } from '../log/features.js';

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

function bindsReaders(name: string, protocol: ProtocolAction, missing: readonly string[]): boolean {
  if (findFeature(name)?.kind !== 'reader-writer') return false;
  if (missing.includes(name) || protocol.readerFeatures?.includes(name)) return true;
  const legacy = findFeature(name)?.legacyReader;
  return legacy !== undefined && protocol.minReaderVersion < 3 && legacy <= protocol.minReaderVersion;
}
