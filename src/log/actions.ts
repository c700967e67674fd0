import type { Json, JsonObject } from '../schema/types.js';

/**
 * The actions of the log (protocol: Actions), as plain data. Fields that this library does not know are kept on the object and written back.
 * 64-bit counts that fit a double are numbers; those that do not are bigint.
 */
export interface DeletionVector {
  readonly storageType: 'u' | 'i' | 'p';
  readonly pathOrInlineDv: string;
  readonly offset?: number;
  readonly sizeInBytes: number;
  readonly cardinality: number;
}

export interface AddAction {
  /** As in the log: a URI reference, percent-encoded, relative to the table or absolute. */
  readonly path: string;
  /** By physical column name; the raw serialised value, null for NULL. */
  readonly partitionValues: Readonly<Record<string, string | null>>;
  readonly size: number;
  readonly modificationTime: number;
  readonly dataChange: boolean;
  /** Statistics as JSON text. */
  readonly stats?: string | null;
  readonly tags?: Readonly<Record<string, string | null>> | null;
  readonly deletionVector?: DeletionVector | null;
  readonly baseRowId?: number | bigint | null;
  readonly defaultRowCommitVersion?: number | bigint | null;
  readonly clusteringProvider?: string | null;
}

export interface RemoveAction {
  readonly path: string;
  readonly deletionTimestamp?: number | null;
  readonly dataChange: boolean;
  readonly extendedFileMetadata?: boolean | null;
  readonly partitionValues?: Readonly<Record<string, string | null>> | null;
  readonly size?: number | null;
  readonly stats?: string | null;
  readonly tags?: Readonly<Record<string, string | null>> | null;
  readonly deletionVector?: DeletionVector | null;
  readonly baseRowId?: number | bigint | null;
  readonly defaultRowCommitVersion?: number | bigint | null;
}

export interface CdcAction {
  readonly path: string;
  readonly partitionValues: Readonly<Record<string, string | null>>;
  readonly size: number;
  readonly dataChange: false;
  readonly tags?: Readonly<Record<string, string | null>> | null;
}

export interface MetadataAction {
  readonly id: string;
  readonly name?: string | null;
  readonly description?: string | null;
  readonly format: { readonly provider: string; readonly options: Readonly<Record<string, string>> };
  readonly schemaString: string;
  readonly partitionColumns: readonly string[];
  readonly configuration: Readonly<Record<string, string>>;
  readonly createdTime?: number | null;
}

export interface ProtocolAction {
  readonly minReaderVersion: number;
  readonly minWriterVersion: number;
  readonly readerFeatures?: readonly string[] | null;
  readonly writerFeatures?: readonly string[] | null;
}

export interface TxnAction {
  readonly appId: string;
  readonly version: number | bigint;
  readonly lastUpdated?: number | null;
}

export interface DomainMetadataAction {
  readonly domain: string;
  readonly configuration: string;
  readonly removed: boolean;
}

/** Free-form by the protocol; the fields named here are those that this library writes and reads. */
export interface CommitInfoAction {
  readonly timestamp?: number;
  readonly inCommitTimestamp?: number;
  readonly operation?: string;
  readonly operationParameters?: JsonObject;
  readonly operationMetrics?: JsonObject;
  readonly engineInfo?: string;
  readonly isolationLevel?: string;
  readonly isBlindAppend?: boolean;
  readonly readVersion?: number;
  readonly txnId?: string;
  readonly userMetadata?: string;
}

/** One line of a commit: exactly one key. A key that this library does not know is kept under `unknown`. */
export type Action =
  | { readonly add: AddAction }
  | { readonly remove: RemoveAction }
  | { readonly cdc: CdcAction }
  | { readonly metaData: MetadataAction }
  | { readonly protocol: ProtocolAction }
  | { readonly txn: TxnAction }
  | { readonly domainMetadata: DomainMetadataAction }
  | { readonly commitInfo: CommitInfoAction }
  | { readonly unknown: { readonly [name: string]: Json } };
