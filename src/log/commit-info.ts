import type { JsonObject } from '../schema/types.js';
import type { CommitInfoAction } from './actions.js';

export interface CommitInfoInput {
  /** As other engines name it: `WRITE`, `CREATE TABLE`, `DELETE`. */
  readonly operation: string;
  /** Strings, or null; lists and objects as their JSON text, e.g. `{ mode: 'Append', partitionBy: '["day"]' }`. */
  readonly parameters: JsonObject;
  /** Counts, sizes in bytes, times in milliseconds. */
  readonly metrics: Readonly<Record<string, number>>;
  /** The version the operation read; undefined for the first one. */
  readonly readVersion?: number;
  /** True for appends that read nothing. */
  readonly isBlindAppend: boolean;
  /** `Serializable` by default. */
  readonly isolationLevel?: 'Serializable' | 'WriteSerializable';
  /** Milliseconds since the Unix epoch. */
  readonly timestamp: number;
  /** True where the table has in-commit timestamps: `timestamp` then stands as `inCommitTimestamp` too, and must exceed that of the version before. */
  readonly inCommitTimestamp?: boolean;
  readonly engineInfo: string;
  /** Unique to this commit: by it a writer recognises its own commit when the answer was lost. */
  readonly txnId: string;
  readonly userMetadata?: string;
  /** Members of the writer's own. */
  readonly facts?: JsonObject;
}

/** The `commitInfo` of a commit with the members and forms that other engines write (protocol: Commit Provenance Information); counts are strings. */
export function buildCommitInfo(input: CommitInfoInput): CommitInfoAction {
  const operationMetrics = Object.fromEntries(
    Object.entries(input.metrics).map(([name, value]) => [name, String(value)]),
  );
  return {
    ...(input.inCommitTimestamp ? { inCommitTimestamp: input.timestamp } : {}),
    timestamp: input.timestamp,
    operation: input.operation,
    operationParameters: input.parameters,
    ...(input.readVersion === undefined ? {} : { readVersion: input.readVersion }),
    isolationLevel: input.isolationLevel ?? 'Serializable',
    isBlindAppend: input.isBlindAppend,
    operationMetrics,
    ...(input.userMetadata === undefined ? {} : { userMetadata: input.userMetadata }),
    engineInfo: input.engineInfo,
    txnId: input.txnId,
    ...input.facts,
  };
}
