import { isTableError, TableError } from '../errors.js';
import { parseActionLine } from '../log/action-lines.js';
import type {
  Action,
  DomainMetadataAction,
  MetadataAction,
  ProtocolAction,
  RemoveAction,
  TxnAction,
} from '../log/actions.js';
import { tableProperties } from '../log/properties.js';
import { columnMappingMode, physicalName } from '../schema/mapping.js';
import { parseSchema } from '../schema/schema-json.js';
import type { StructType } from '../schema/types.js';
import type { TombstoneSource } from './block.js';
import type { BlockFileSet } from './files.js';
import { LayeredMap } from './layered-map.js';
import type { CommitMark } from './mark.js';
import type { Replay } from './replay.js';
import type { State } from './state.js';
import { vectorId } from './vector-id.js';

/** A state as this folder makes it, with what its successors need. */
export interface OwnState extends State {
  readonly files: BlockFileSet;
  readonly txns: LayeredMap<TxnAction>;
  readonly domains: LayeredMap<DomainMetadataAction>;
  /** How many removals of the tail this state knows. */
  readonly removals: number;
  readonly checkpointTombstones: readonly TombstoneSource[];
  /** Undefined where nothing is known, as of versions that only a checkpoint is left of. */
  readonly mark: CommitMark | undefined;
}

/** What non-file actions have said so far; the newest of each kind wins (protocol: Action Reconciliation). */
export interface Gathered {
  protocol: ProtocolAction | undefined;
  metadata: MetadataAction | undefined;
  readonly txns: Map<string, TxnAction | undefined>;
  readonly domains: Map<string, DomainMetadataAction | undefined>;
  /** Of the commit being read. */
  inCommitTimestamp: number | undefined;
  /** When the writer of the commit being read says that it wrote it. */
  writtenAt: number | undefined;
}

export function gather(): Gathered {
  return {
    protocol: undefined,
    metadata: undefined,
    txns: new Map(),
    domains: new Map(),
    inCommitTimestamp: undefined,
    writtenAt: undefined,
  };
}

export function takeAction(into: Gathered, action: Action): void {
  if ('protocol' in action) into.protocol = action.protocol;
  else if ('metaData' in action) into.metadata = action.metaData;
  else if ('txn' in action) into.txns.set(action.txn.appId, action.txn);
  else if ('domainMetadata' in action) {
    const { domain, removed } = action.domainMetadata;
    into.domains.set(domain, removed ? undefined : action.domainMetadata);
  } else if ('commitInfo' in action) {
    const { inCommitTimestamp, timestamp } = action.commitInfo;
    if (typeof inCommitTimestamp === 'number') into.inCommitTimestamp = inCommitTimestamp;
    if (typeof timestamp === 'number') into.writtenAt = timestamp;
  }
}

export interface StateInput {
  readonly url: string;
  readonly version: number;
  readonly timestamp: number;
  readonly replay: Replay;
  readonly gathered: Gathered;
  readonly previous: OwnState | undefined;
  readonly checkpointTombstones: readonly TombstoneSource[];
  readonly mark: CommitMark | undefined;
}

/** Puts a state together. Throws `CORRUPT_LOG` where the log has told of no protocol or no metadata up to this version. */
export function makeState(input: StateInput): OwnState {
  const { url, version, timestamp, gathered, previous, checkpointTombstones, mark } = input;
  const protocol = gathered.protocol ?? previous?.protocol;
  const metadata = gathered.metadata ?? previous?.metadata;
  if (protocol === undefined || metadata === undefined) {
    const missing = protocol === undefined ? 'protocol' : 'metaData';
    throw new TableError(
      'CORRUPT_LOG',
      `The log of ${url} up to version ${version} has no ${missing} action; every table has one in its first commit. Restore the file that held it.`,
      { url, version, missing },
    );
  }
  const schema = metadata === previous?.metadata ? previous.schema : parseSchema(metadata.schemaString);
  const { files, removals } = input.replay.finish(
    partitionNames(schema, metadata, protocol),
    () => timestamp - retentionOf(metadata),
  );
  return {
    version,
    timestamp,
    protocol,
    metadata,
    schema,
    txns: (previous?.txns ?? LayeredMap.empty<TxnAction>()).with(gathered.txns),
    domains: (previous?.domains ?? LayeredMap.empty<DomainMetadataAction>()).with(gathered.domains),
    files,
    removals,
    checkpointTombstones,
    mark,
    tombstones: () => readTombstones(files, removals, checkpointTombstones),
  };
}

/** A property that cannot be read stops no reader: then nothing is forgotten. */
function retentionOf({ configuration }: MetadataAction): number {
  try {
    return tableProperties(configuration).deletedFileRetentionMs;
  } catch (error) {
    if (isTableError(error, 'INVALID_INPUT')) return Number.POSITIVE_INFINITY;
    throw error;
  }
}

function partitionNames(schema: StructType, metadata: MetadataAction, protocol: ProtocolAction): string[] {
  const mode = columnMappingMode(metadata, protocol);
  return metadata.partitionColumns.map((name) => {
    const field = schema.fields.find((candidate) => candidate.name === name);
    return field === undefined ? name : physicalName(field, mode);
  });
}

/** The newest `remove` of each logical file that is not live: those of commits, then those of the checkpoint. */
async function readTombstones(
  files: BlockFileSet,
  removals: number,
  sources: readonly TombstoneSource[],
): Promise<readonly RemoveAction[]> {
  const { tail } = files.parts;
  const found = new Map<string, RemoveAction>();
  const take = (remove: RemoveAction): void => {
    const vector = vectorId(remove.deletionVector);
    const key = vector === undefined ? remove.path : `${remove.path}\n${vector}`;
    if (!found.has(key) && files.find(remove.path, vector) < 0) found.set(key, remove);
  };
  for (let i = removals - 1; i >= 0; i--) {
    const actions: Action[] = [];
    const bytes = tail.buffers[tail.removals[i * 3] as number] as Uint8Array;
    parseActionLine(
      bytes,
      tail.removals[i * 3 + 1] as number,
      tail.removals[i * 3 + 2] as number,
      { version: -1, file: 'a commit' },
      actions,
    );
    for (const action of actions) if ('remove' in action) take(action.remove);
  }
  for (const source of sources) for (const remove of await source()) take(remove);
  return [...found.values()];
}
