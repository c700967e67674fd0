import { TableError } from '../errors.js';
import type { Action, AddAction, MetadataAction, RemoveAction } from '../log/actions.js';
import { deletionVectorId } from './deletion-vector.js';
import type { ScanFile } from './plan.js';

/**
 * The files whose rows are the changes of one version, each with what its rows are (protocol: Reader Requirements for AddCDCFile). `time` is milliseconds.
 * Where there are `cdc` files they are all there is. A file that is added and removed under one path changed its deletion vector: only the rows that one
 * vector has and the other lacks changed.
 */
export function changedFiles(
  actions: readonly Action[],
  version: number,
  time: number,
  metadata: MetadataAction,
): ScanFile[] {
  const constants = { _commit_version: BigInt(version), _commit_timestamp: BigInt(time) * 1000n };
  const cdc = actions.flatMap((action) => ('cdc' in action ? [action.cdc] : []));
  if (cdc.length > 0) {
    return cdc.map(({ path, size, partitionValues }) => ({ path, size, partitionValues, constants }));
  }
  const added = new Map<string, AddAction>();
  const removed = new Map<string, RemoveAction>();
  for (const action of actions) {
    if ('add' in action && action.add.dataChange) added.set(action.add.path, action.add);
    if ('remove' in action && action.remove.dataChange) removed.set(action.remove.path, action.remove);
  }
  const inserts = { ...constants, _change_type: 'insert' };
  const deletes = { ...constants, _change_type: 'delete' };
  const files: ScanFile[] = [];
  for (const [path, remove] of removed) {
    const add = added.get(path);
    const { size, partitionValues } = add ?? complete(remove, version, metadata);
    const file = { path, size, partitionValues };
    const before = remove.deletionVector ?? undefined;
    if (add === undefined) {
      files.push({ ...file, constants: deletes, deletionVector: before });
      continue;
    }
    const after = add.deletionVector ?? undefined;
    if (idOf(before) === idOf(after)) continue;
    if (after) files.push({ ...file, constants: deletes, onlyRows: after, deletionVector: before });
    if (before) files.push({ ...file, constants: inserts, onlyRows: before, deletionVector: after });
  }
  for (const [path, { size, partitionValues, deletionVector }] of added) {
    if (!removed.has(path)) files.push({ path, size, partitionValues, constants: inserts, deletionVector });
  }
  return files;
}

function idOf(vector: ScanFile['deletionVector']): string | undefined {
  return vector ? deletionVectorId(vector) : undefined;
}

/** Old writers left size and partition values out of `remove`; without them its rows cannot be given. */
function complete(
  remove: RemoveAction,
  version: number,
  metadata: MetadataAction,
): { size: number; partitionValues: Readonly<Record<string, string | null>> } {
  const { path, size, partitionValues } = remove;
  const hasValues = partitionValues || metadata.partitionColumns.length === 0;
  if (hasValues && size !== undefined && size !== null)
    return { size, partitionValues: partitionValues ?? {} };
  throw new TableError(
    'FEED_UNAVAILABLE',
    `The changes of version ${version} cannot be given: it removed ${path} without saying its size and partition values.`,
    { version, file: path },
  );
}
