import { TableError } from '../errors.js';
import type { MetadataAction, ProtocolAction } from './actions.js';
import { FEATURES, findFeature } from './feature-table.js';
import { schemaFacts } from './schema-facts.js';

/** The reader and writer versions this library implements; the last of each takes its features from the lists. */
export const READER_VERSION = 3;
export const WRITER_VERSION = 7;

/** One reason why a table cannot be read or written: a feature, or a version where there is no name. */
export interface Blocker {
  readonly feature: string;
  readonly blocks: 'read' | 'write' | 'read and write';
  readonly reason: string;
}

/**
 * Everything in the protocol and metadata that this library cannot do, by name. Features of writers never block reading (protocol: Table Features).
 * A protocol action that contradicts itself is `CORRUPT_LOG`.
 */
export function blockers(protocol: ProtocolAction, metadata: MetadataAction | undefined): Blocker[] {
  assertSound(protocol);
  const found: Blocker[] = [];
  if (protocol.minReaderVersion > READER_VERSION) {
    found.push({
      feature: `reader version ${protocol.minReaderVersion}`,
      blocks: 'read and write',
      reason: `reader versions up to ${READER_VERSION} are supported`,
    });
  }
  if (protocol.minWriterVersion > WRITER_VERSION) {
    found.push({
      feature: `writer version ${protocol.minWriterVersion}`,
      blocks: 'write',
      reason: `writer versions up to ${WRITER_VERSION} are supported`,
    });
  }
  const forReaders = new Set(protocol.readerFeatures ?? []);
  for (const name of forReaders) {
    if (findFeature(name)?.read !== 'yes')
      found.push({ feature: name, blocks: 'read and write', reason: why(name) });
  }
  const use = metadata && { properties: metadata.configuration, schema: schemaFacts(metadata.schemaString) };
  for (const name of supportedFeatures(protocol)) {
    if (found.some((blocker) => blocker.feature === name)) continue;
    const feature = findFeature(name);
    if (feature?.write === 'yes' || (feature?.write === 'inactive' && use && !feature.active(use))) continue;
    found.push({ feature: name, blocks: 'write', reason: why(name) });
  }
  return found;
}

function why(name: string): string {
  const feature = findFeature(name);
  if (!feature) return 'this library does not know it';
  if (feature.write === 'inactive') return `it is in use: ${feature.activeWhen}`;
  return feature.note ?? 'it is not supported';
}

/** The features that a table supports: those of its lists, or those that its versions below 3 and 7 imply. */
export function supportedFeatures(protocol: ProtocolAction): string[] {
  if (protocol.minWriterVersion >= WRITER_VERSION)
    return [...new Set([...(protocol.writerFeatures ?? []), ...(protocol.readerFeatures ?? [])])];
  return Object.entries(FEATURES)
    .filter(([, { legacyWriter, legacyReader }]) =>
      legacyReader !== undefined && legacyReader <= protocol.minReaderVersion
        ? true
        : legacyWriter !== undefined && legacyWriter <= protocol.minWriterVersion,
    )
    .map(([name]) => name);
}

/**
 * The protocol with a feature less: of versions below 3 and 7 where such versions stand for exactly the features that are left, so that engines without
 * feature lists can use the table.
 */
export function withoutFeature(protocol: ProtocolAction, name: string): ProtocolAction {
  const writerFeatures = supportedFeatures(protocol)
    .filter((each) => each !== name)
    .sort();
  for (const [minReaderVersion, minWriterVersion] of LEGACY_VERSIONS) {
    const legacy = { minReaderVersion, minWriterVersion };
    if (supportedFeatures(legacy).sort().join() === writerFeatures.join()) return legacy;
  }
  const readerFeatures = writerFeatures.filter((each) => findFeature(each)?.kind === 'reader-writer');
  const { minReaderVersion } = protocol;
  if (readerFeatures.length === 0)
    return { minReaderVersion: 1, minWriterVersion: WRITER_VERSION, writerFeatures };
  if (minReaderVersion < READER_VERSION)
    return { minReaderVersion, minWriterVersion: WRITER_VERSION, writerFeatures };
  return { minReaderVersion, minWriterVersion: WRITER_VERSION, readerFeatures, writerFeatures };
}

const LEGACY_VERSIONS = [
  [1, 1],
  [1, 2],
  [1, 3],
  [1, 4],
  [2, 5],
  [2, 6],
] as const;

/** True when the protocol supports the feature and the metadata puts it to use (protocol: Active Features). */
export function isActive(name: string, protocol: ProtocolAction, metadata: MetadataAction): boolean {
  const feature = findFeature(name);
  if (!feature || !supportedFeatures(protocol).includes(name)) return false;
  return feature.active({ properties: metadata.configuration, schema: schemaFacts(metadata.schemaString) });
}

/** Throws `UNSUPPORTED_FEATURE`, naming what blocks reading, unless the table can be read; `CORRUPT_LOG` for a protocol action that contradicts itself. */
export function assertReadable(
  protocol: ProtocolAction,
  metadata: MetadataAction | undefined,
  url: string,
): void {
  refuse(
    blockers(protocol, metadata).filter((blocker) => blocker.blocks !== 'write'),
    'read',
    url,
  );
}

/** Throws `UNSUPPORTED_FEATURE`, naming what blocks writing and whether reading is blocked too, unless rows can be appended and partitions overwritten. */
export function assertWritable(protocol: ProtocolAction, metadata: MetadataAction, url: string): void {
  refuse(blockers(protocol, metadata), 'written', url);
}

function refuse(found: readonly Blocker[], verb: 'read' | 'written', url: string): void {
  if (found.length === 0) return;
  const list = found
    .map(({ feature, blocks, reason }) => `${feature} (blocks ${blocks}; ${reason})`)
    .join(', ');
  throw new TableError(
    'UNSUPPORTED_FEATURE',
    `The table ${url} cannot be ${verb} because of ${list}. Use an engine that supports it.`,
    {
      url,
      features: found,
    },
  );
}

/** The lists stand with versions 3 and 7 alone, and what readers must know writers must know too (protocol: Table Features). */
function assertSound(protocol: ProtocolAction): void {
  const { minReaderVersion, minWriterVersion, readerFeatures, writerFeatures } = protocol;
  const problem = (what: string): never => {
    throw new TableError('CORRUPT_LOG', `The protocol action of the table contradicts itself: ${what}.`, {
      protocol,
    });
  };
  // What later versions of the protocol say of their lists is not known here; they are refused by version.
  if (minReaderVersion > READER_VERSION || minWriterVersion > WRITER_VERSION) return;
  if (minReaderVersion === READER_VERSION && minWriterVersion !== WRITER_VERSION)
    problem('reader version 3 needs writer version 7');
  if (minReaderVersion === READER_VERSION && !readerFeatures)
    problem('reader version 3 needs readerFeatures');
  if (minWriterVersion === WRITER_VERSION && !writerFeatures)
    problem('writer version 7 needs writerFeatures');
  if (minReaderVersion < READER_VERSION && readerFeatures?.length)
    problem('readerFeatures need reader version 3');
  if (minWriterVersion < WRITER_VERSION && writerFeatures?.length)
    problem('writerFeatures need writer version 7');
  for (const name of readerFeatures ?? []) {
    if (!writerFeatures?.includes(name)) problem(`${name} is in readerFeatures but not in writerFeatures`);
  }
  for (const name of writerFeatures ?? []) {
    const feature = findFeature(name);
    if (feature?.kind !== 'reader-writer' || readerFeatures?.includes(name)) continue;
    if (
      feature.legacyReader === undefined ||
      minReaderVersion === READER_VERSION ||
      minReaderVersion < feature.legacyReader
    ) {
      problem(`${name} is in writerFeatures but not in readerFeatures`);
    }
  }
}
