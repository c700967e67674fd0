import type { Action, MetadataAction } from '../log/actions.js';
import { openFlatFile } from '../log/checkpoint-source.js';
import { readListedCommit } from '../log/commit-file.js';
import { findFeature } from '../log/feature-table.js';
import { type CommitFile, type LogListing, listLog, loadableRanges } from '../log/listing.js';
import { schemaFacts } from '../log/schema-facts.js';
import type { TableContext } from '../runtime/table-context.js';
import { mapAhead } from '../scan/ahead.js';
import { loadState } from '../snapshot/load.js';
import type { State } from '../snapshot/state.js';

/** Commits read at once. */
const AHEAD = 16;

const ADVICE =
  'Who does not know the feature would trip over versions that can still be read. Write a checkpoint, drop it once log cleanup has removed them (delta.logRetentionDuration), or use an engine that can truncate the history.';

/**
 * What still tells of a feature, in words with what to do: live files, and the commits and checkpoints of all versions that can still be read. Undefined for
 * nothing. Reads every commit of the log.
 */
export async function traceOf(
  table: TableContext,
  state: State,
  feature: string,
): Promise<string | undefined> {
  if (feature === 'deletionVectors') {
    const marked = state.files.ids().filter((id) => state.files.hasDeletionVector(id)).length;
    if (marked > 0)
      return `${marked} live ${marked === 1 ? 'file has a deletion vector' : 'files have deletion vectors'}. Turn delta.enableDeletionVectors off and have these files written again first (REORG TABLE ... APPLY (PURGE) in Spark).`;
  }
  const listing = await listLog(table.store, { to: state.version });
  const found =
    (await inCommits(table, listing, feature)) ??
    (await inOldest(table, listing, feature)) ??
    (feature === 'v2Checkpoint' ? await inCheckpoints(table, listing) : undefined);
  return found && `${found}. ${ADVICE}`;
}

async function inCommits(
  { store }: TableContext,
  { commits }: LogListing,
  feature: string,
): Promise<string | undefined> {
  const read = async (commit: CommitFile) => {
    const actions = await readListedCommit(store, commit);
    return actions?.some((action) => tells(action, feature)) ? commit.version : undefined;
  };
  for await (const version of mapAhead([...commits.values()], read, { count: AHEAD }))
    if (version !== undefined) return `version ${version} uses it`;
  return undefined;
}

/** Versions that start from a checkpoint have what came before it. */
async function inOldest(
  { store, ctx }: TableContext,
  listing: LogListing,
  feature: string,
): Promise<string | undefined> {
  for (const { first } of loadableRanges(listing)) {
    if (first === 0) continue;
    const { files, metadata } = await loadState(store, ctx, { version: first });
    const hasVectors = feature === 'deletionVectors' && files.ids().some((id) => files.hasDeletionVector(id));
    if (hasVectors || uses(metadata, feature)) return `version ${first} uses it`;
  }
  return undefined;
}

async function inCheckpoints(
  { store }: TableContext,
  { checkpoints }: LogListing,
): Promise<string | undefined> {
  for (const { version, kind, format, files } of checkpoints) {
    const [file] = files as readonly [(typeof files)[number]];
    const isV2 = kind === 'uuid' || (format === 'parquet' && (await isOfV2(store, file.key, file.size)));
    if (isV2) return `the checkpoint of version ${version} is of the V2 spec`;
  }
  return undefined;
}

/** Those of the V2 spec may have a classic name, but tell so inside. */
async function isOfV2(store: TableContext['store'], key: string, size: number): Promise<boolean> {
  const { footer } = await openFlatFile(store, key, size);
  return footer.leaves.some(({ path }) => path[0] === 'checkpointMetadata');
}

function tells(action: Action, feature: string): boolean {
  if ('metaData' in action) return uses(action.metaData, feature);
  if (feature !== 'deletionVectors') return false;
  if ('add' in action) return Boolean(action.add.deletionVector);
  return 'remove' in action && Boolean(action.remove.deletionVector);
}

function uses({ configuration, schemaString }: MetadataAction, feature: string): boolean {
  const schema = schemaFacts(schemaString);
  // Where the property alone is there, no type was widened.
  if (feature.startsWith('typeWidening')) return schema.metadataKeys.has('delta.typeChanges');
  const use = { properties: configuration, schema };
  return findFeature(feature)?.active(use) ?? false;
}
