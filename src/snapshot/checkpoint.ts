import { TableError } from '../errors.js';
import { toAction } from '../log/action-lines.js';
import type { Action, RemoveAction } from '../log/actions.js';
import { assembleRows, jsonLeaves } from '../log/checkpoint-rows.js';
import { type FlatFile, openFlatFile } from '../log/checkpoint-source.js';
import { readLogFile } from '../log/limits.js';
import type { CheckpointFiles } from '../log/listing.js';
import { sidecarKey } from '../log/paths.js';
import type { FlatColumn } from '../parquet/flat/column.js';
import { FlatFault } from '../parquet/flat/fault.js';
import type { SchemaNode } from '../parquet/flat/footer.js';
import type { JsonObject } from '../schema/types.js';
import type { Store } from '../store/store.js';
import { addLeaves } from './add-leaves.js';
import type { FileBlock, TombstoneSource } from './block.js';
import { CheckpointBlock } from './checkpoint-block.js';
import { mapLimit } from './parallel.js';
import type { PartitionValues } from './partition-values.js';

/** What a checkpoint holds, as far as opening a table needs it; the rest is read on demand by the blocks. */
export interface CheckpointContent {
  /** `protocol`, `metaData`, `txn` and `domainMetadata`. */
  readonly actions: readonly Action[];
  readonly blocks: readonly FileBlock[];
  /** A checkpoint in JSON, to be replayed like a commit. */
  readonly json: { readonly bytes: Uint8Array; readonly file: string } | undefined;
  readonly tombstones: readonly TombstoneSource[];
}

const KEPT = ['protocol', 'metaData', 'txn', 'domainMetadata', 'sidecar'];
const MAX_SIDECARS = 100_000;
const LANES = 16;

/**
 * Reads a checkpoint of any kind (protocol: Checkpoints): classic, in parts, or V2 with its sidecars, in Parquet or JSON. Sidecars are only read for adds and
 * removes, so one that names sidecars leads nowhere. Throws `CORRUPT_LOG`, `FILE_NOT_FOUND`, `LIMIT_EXCEEDED`, each with the file's name in its context.
 */
export async function readCheckpoint(
  store: Store,
  checkpoint: CheckpointFiles,
  partitions: PartitionValues,
  signal?: AbortSignal,
): Promise<CheckpointContent> {
  let actions: readonly Action[] = [];
  let sidecars: JsonObject[] = [];
  const blocks: FileBlock[][] = [];
  const tombstones: TombstoneSource[] = [];
  let json: CheckpointContent['json'];
  if (checkpoint.format === 'json') {
    const [file] = checkpoint.files;
    if (file === undefined) throw new TableError('INTERNAL', 'A checkpoint without files.', {});
    const bytes = await readLogFile(store, file, signal);
    json = { bytes, file: file.key };
    sidecars = sidecarsOf(bytes, checkpoint.version, file.key);
  } else {
    const parts = await mapLimit(checkpoint.files, LANES, ({ key, size }) =>
      readFile(store, key, size, checkpoint.version, partitions, KEPT, signal),
    );
    for (const part of parts) {
      blocks.push(part.blocks);
      tombstones.push(part.tombstones);
    }
    actions = parts.flatMap((part) => part.actions);
    sidecars = parts.flatMap((part) => part.sidecars);
  }
  const keys = sidecarKeys(sidecars, checkpoint.files[0]?.key ?? '');
  const read = await mapLimit(keys, LANES, ({ key, size }) =>
    readFile(store, key, size, checkpoint.version, partitions, [], signal),
  );
  for (const part of read) {
    blocks.push(part.blocks);
    tombstones.push(part.tombstones);
  }
  return { actions, blocks: blocks.flat(), json, tombstones };
}

interface FileContent {
  readonly actions: Action[];
  readonly sidecars: JsonObject[];
  readonly blocks: FileBlock[];
  readonly tombstones: TombstoneSource;
}

async function readFile(
  store: Store,
  key: string,
  size: number | undefined,
  version: number,
  partitions: PartitionValues,
  kept: readonly string[],
  signal: AbortSignal | undefined,
): Promise<FileContent> {
  const file = await openFlatFile(store, key, size, { signal });
  const { root, rowGroups } = file.footer;
  const leaves = addLeaves(root);
  const groups = root.children
    .filter((node) => kept.includes(node.name))
    .map((node) => ({ node, leaves: jsonLeaves(node) }));
  const wanted = [...(leaves?.opening ?? []), ...groups.flatMap((group) => group.leaves)];
  const actions: Action[] = [];
  const sidecars: JsonObject[] = [];
  const blocks: FileBlock[] = [];
  for (const [index] of rowGroups.entries()) {
    const columns = await file.columns(wanted, index);
    let at = leaves?.opening.length ?? 0;
    if (leaves !== undefined) {
      const block = makeBlock(
        () => new CheckpointBlock(file, index, leaves, columns.slice(0, at), partitions),
        key,
        store.url,
      );
      if (block.count > 0) blocks.push(block);
    }
    for (const group of groups) {
      const own = columns.slice(at, at + group.leaves.length);
      at += group.leaves.length;
      collect(group.node, own, { version, file: key }, actions, sidecars);
    }
  }
  return { actions, sidecars, blocks, tombstones: tombstonesOf(file, version) };
}

function makeBlock(make: () => FileBlock, key: string, url: string): FileBlock {
  try {
    return make();
  } catch (error) {
    if (!(error instanceof FlatFault)) throw error;
    throw new TableError(
      'CORRUPT_LOG',
      `${key} of ${url} cannot be read: ${error.message}.`,
      { url, file: key },
      error,
    );
  }
}

function collect(
  node: SchemaNode,
  columns: readonly FlatColumn[],
  where: { version: number; file: string },
  actions: Action[],
  sidecars: JsonObject[],
): void {
  for (const row of assembleRows(node, columns)) {
    if (node.name === 'sidecar') sidecars.push(row);
    else actions.push(toAction(node.name, row, where));
  }
}

function tombstonesOf(file: FlatFile, version: number): TombstoneSource {
  const node = file.footer.root.children.find((child) => child.name === 'remove');
  return async () => {
    if (node === undefined) return [];
    const leaves = jsonLeaves(node);
    const removes: RemoveAction[] = [];
    for (const [index] of file.footer.rowGroups.entries()) {
      const columns = await file.columns(leaves, index);
      for (const row of assembleRows(node, columns)) {
        const action = toAction('remove', row, { version, file: file.key });
        if ('remove' in action) removes.push(action.remove);
      }
    }
    return removes;
  };
}

const SIDECAR_LINE = '{"sidecar"';

/** The sidecars that a JSON checkpoint names; its other lines are read when it is replayed. */
function sidecarsOf(bytes: Uint8Array, version: number, file: string): JsonObject[] {
  const found: JsonObject[] = [];
  for (const line of Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    .toString('utf8')
    .split('\n')) {
    if (!line.trimStart().startsWith(SIDECAR_LINE)) continue;
    try {
      found.push((JSON.parse(line) as { sidecar: JsonObject }).sidecar);
    } catch (error) {
      throw new TableError(
        'CORRUPT_LOG',
        `${file} (version ${version}) has a line that is not JSON; it may be torn.`,
        { version, file },
        error,
      );
    }
  }
  return found;
}

function sidecarKeys(
  sidecars: readonly JsonObject[],
  file: string,
): { key: string; size: number | undefined }[] {
  const sizes = new Map<string, number | undefined>();
  for (const { path, sizeInBytes } of sidecars) {
    if (typeof path !== 'string')
      throw new TableError('CORRUPT_LOG', `${file} names a sidecar without a path.`, { file });
    sizes.set(sidecarKey(path), typeof sizeInBytes === 'number' && sizeInBytes > 0 ? sizeInBytes : undefined);
  }
  if (sizes.size > MAX_SIDECARS) {
    throw new TableError(
      'LIMIT_EXCEEDED',
      `${file} names ${sizes.size} sidecars; a checkpoint may have ${MAX_SIDECARS}.`,
      { file, sidecars: sizes.size, limit: MAX_SIDECARS },
    );
  }
  return [...sizes].map(([key, size]) => ({ key, size }));
}
