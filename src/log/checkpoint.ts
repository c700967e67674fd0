import type { Context } from '../runtime/context.js';
import { ownState } from '../snapshot/apply.js';
import type { State } from '../snapshot/state.js';
import type { Store } from '../store/store.js';
import type { RemoveAction, TxnAction } from './actions.js';
import { encodeCheckpoint, type SmallRows } from './checkpoint-encode.js';
import { isV2 } from './checkpoint-schema.js';
import { readLastCheckpoint, serializeLastCheckpoint } from './last-checkpoint.js';
import { classicCheckpointKey, LAST_CHECKPOINT_KEY } from './paths.js';
import { tableProperties } from './properties.js';

/** Checkpoints up to this are put in one piece. */
const ONE_PUT = 64 * 2 ** 20;

/** True for the versions at which the table's interval asks for a checkpoint. */
export function shouldCheckpoint(version: number, interval: number): boolean {
  return version > 0 && version % interval === 0;
}

/**
 * Writes a checkpoint of the state's version and then the hint: of the V1 Spec, or where the table's policy is `v2` of the V2 Spec without sidecars. Its name is
 * the classic one, which the protocol allows for both, so that readers too old for the table find its protocol and refuse it. It holds the live files, the
 * removes that have not expired, transactions, live domains, protocol and metadata, with statistics as the table's properties ask. A checkpoint of that version
 * that is there already is replaced whole; a hint that names a newer one stays. Gives the checkpoint's size in bytes.
 * On failure the table is as it was, or has the checkpoint without the hint; both are sound. Throws what `FileSet.load` and the store throw.
 */
export async function writeCheckpoint(store: Store, ctx: Context, state: State): Promise<{ bytes: number }> {
  const { files } = ownState(state);
  await files.load({ actions: true });
  const { pieces, length, rows } = await encodeCheckpoint(state, files, await smallRows(state, ctx));
  const key = classicCheckpointKey(state.version);
  if (length <= ONE_PUT) await store.put(key, Buffer.concat(pieces));
  else await store.putStream(key, stream(pieces));
  const hint = await readLastCheckpoint(store, ctx);
  if (hint === undefined || hint.version <= state.version) {
    const content = { version: state.version, size: rows, sizeInBytes: length, numOfAddFiles: files.count };
    await store.put(LAST_CHECKPOINT_KEY, serializeLastCheckpoint(content));
  }
  return { bytes: length };
}

async function* stream(pieces: readonly Uint8Array[]): AsyncIterable<Uint8Array> {
  yield* pieces;
}

async function smallRows(state: State, ctx: Context): Promise<SmallRows> {
  const properties = tableProperties(state.metadata.configuration);
  const now = ctx.clock.now();
  const removes = (await state.tombstones()).filter(
    (remove) => (remove.deletionTimestamp ?? 0) > now - properties.deletedFileRetentionMs,
  );
  const retention = properties.setTransactionRetentionMs;
  const txns = [...state.txns.values()].filter(
    (txn) => retention === undefined || lastUpdated(txn) > now - retention,
  );
  return [
    ...(isV2(state) ? [['checkpointMetadata', [{ version: state.version, tags: {} }]] as const] : []),
    ['protocol', [state.protocol]],
    ['metaData', [state.metadata]],
    ['txn', txns],
    ['domainMetadata', [...state.domains.values()]],
    ['remove', removes.map(tombstone)],
  ];
}

function lastUpdated(txn: TxnAction): number {
  return txn.lastUpdated ?? Number.NEGATIVE_INFINITY;
}

/** A remove as checkpoints keep it: the change it made is long known. */
function tombstone(remove: RemoveAction): RemoveAction {
  return { ...remove, dataChange: false };
}
