import type { State } from '../snapshot/state.js';
import type { StagedFile } from '../stage/staged.js';
import { addActions, NOTHING, plainPlan, writeCommit } from './plan.js';
import type { PlannedWrite } from './verb.js';

/** Adds the staged files and removes nothing. */
export async function planAppend(state: State, files: readonly StagedFile[]): Promise<PlannedWrite> {
  const plan = plainPlan(state, files, NOTHING, []);
  const parameters = { mode: 'Append', partitionBy: JSON.stringify(state.metadata.partitionColumns) };
  return {
    plan,
    isEmpty: files.length === 0,
    commit: writeCommit(plan, addActions(files), parameters, true),
  };
}
