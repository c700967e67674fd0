import { findFeature } from '../log/feature-table.js';
import { blockers, isActive, supportedFeatures } from '../log/features.js';
import type { State } from '../snapshot/state.js';
import { tableLines } from './render/table.js';
import type { Paint } from './terminal.js';

/** What `protocol` tells (spec/schema/protocol.json). */
export interface ProtocolDocument {
  readonly url: string;
  readonly version: number;
  readonly minReaderVersion: number;
  readonly minWriterVersion: number;
  readonly readable: boolean;
  readonly writable: boolean;
  readonly features: readonly {
    readonly name: string;
    readonly binds: 'readers and writers' | 'writers';
    /** In use, or only allowed. */
    readonly active: boolean;
    /** What this library cannot do because of it. */
    readonly blocks: 'nothing' | 'write' | 'read' | 'read and write';
    readonly reason?: string;
  }[];
}

/** The features of a table that could be loaded. */
export function protocolDocument(url: string, { version, protocol, metadata }: State): ProtocolDocument {
  const blocked = blockers(protocol, metadata);
  const features = supportedFeatures(protocol).map((name) => {
    const blocker = blocked.find(({ feature }) => feature === name);
    const binds =
      findFeature(name)?.kind === 'reader-writer' ? ('readers and writers' as const) : ('writers' as const);
    return {
      name,
      binds,
      active: isActive(name, protocol, metadata),
      blocks: blocker?.blocks ?? ('nothing' as const),
      reason: blocker?.reason,
    };
  });
  return {
    url,
    version,
    minReaderVersion: protocol.minReaderVersion,
    minWriterVersion: protocol.minWriterVersion,
    readable: blocked.every(({ blocks }) => blocks === 'write'),
    writable: blocked.length === 0,
    features,
  };
}

/** The document for people. */
export function protocolLines(document: ProtocolDocument, paint: Paint): string[] {
  const head = `reader version ${document.minReaderVersion}, writer version ${document.minWriterVersion}: can be ${document.readable ? 'read' : 'neither read'}${document.readable ? (document.writable ? ' and written' : ', not written') : ' nor written'}`;
  if (document.features.length === 0) return [head];
  const rows = document.features.map(({ name, binds, active, blocks, reason }) => [
    name,
    binds,
    active ? 'in use' : 'allowed',
    reason === undefined ? blocks : `${blocks}: ${reason}`,
  ]);
  const columns = ['feature', 'binds', 'state', 'blocks'].map((title) => ({ title }));
  return [head, '', ...tableLines(columns, rows, paint)];
}
