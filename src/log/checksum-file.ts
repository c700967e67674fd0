import { isTableError } from '../errors.js';
import type { Json } from '../schema/types.js';
import { type LogLocation, toAction } from './action-lines.js';
import type { MetadataAction, ProtocolAction } from './actions.js';
import { parseJson } from './json.js';

/**
 * What a version checksum file says (protocol: Version Checksum File Schema). It can save reading, such as the commit that alone holds an in-commit timestamp;
 * where the log says otherwise, the log is right.
 */
export interface VersionChecksum {
  readonly txnId?: string;
  readonly tableSizeBytes: number;
  readonly numFiles: number;
  /** Milliseconds since the Unix epoch. */
  readonly inCommitTimestamp?: number;
  readonly metadata?: MetadataAction;
  readonly protocol?: ProtocolAction;
}

/** Undefined for anything that is not a sound checksum file: it is never needed, so it is never an error. */
export function parseVersionChecksum(bytes: Uint8Array, where: LogLocation): VersionChecksum | undefined {
  try {
    const file = parseJson(new TextDecoder('utf-8', { fatal: true }).decode(bytes)) as Record<
      string,
      Json
    > | null;
    if (typeof file !== 'object' || file === null) return undefined;
    const { txnId, tableSizeBytes, numFiles, inCommitTimestampOpt, metadata, protocol } = file;
    if (!isCount(tableSizeBytes) || !isCount(numFiles)) return undefined;
    const metaData = metadata ? toAction('metaData', metadata, where) : undefined;
    const versions = protocol ? toAction('protocol', protocol, where) : undefined;
    return {
      txnId: typeof txnId === 'string' ? txnId : undefined,
      tableSizeBytes,
      numFiles,
      inCommitTimestamp: isCount(inCommitTimestampOpt) ? inCommitTimestampOpt : undefined,
      metadata: metaData && 'metaData' in metaData ? metaData.metaData : undefined,
      protocol: versions && 'protocol' in versions ? versions.protocol : undefined,
    };
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof TypeError || isTableError(error)) return undefined;
    throw error;
  }
}

function isCount(value: Json | undefined): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}
