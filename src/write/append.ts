import type { State } from '../snapshot/state.js';
import type { StagedFile } from '../stage/staged.js';
import { addActions, stagedAmount, type WritePlan, writeCommit } from './plan.js';
import type { PlannedWrite } from './verb.js';

/** Adds the staged files and removes nothing. */
export async function planAppend(state: State, files: readonly StagedFile[]): Promise<PlannedWrite> {
  const plan: WritePlan = {
    version: state.version,
    added: stagedAmount(files),
    removed: { files: 0, rows: 0, bytes: 0 },
    removedPaths: [],
    partitions: distinctPartitions(files),
  };
  return {
    plan,
    commit: writeCommit(
      plan,
      addActions(files),
      { mode: 'Append', partitionBy: JSON.stringify(state.metadata.partitionColumns) },
      true,
    ),
  };
}

/** The partitions that staged files lie in, each once. */
export function distinctPartitions(files: readonly StagedFile[]): StagedFile['partitionValues'][] {
  const seen = new Map<string, StagedFile['partitionValues']>();
  for (const { partitionValues } of files) {
    if (Object.keys(partitionValues).length > 0)
      seen.set(JSON.stringify(Object.entries(partitionValues)), partitionValues);
  }
  return [...seen.values()];
}
