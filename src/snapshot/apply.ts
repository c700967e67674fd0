import { TableError } from '../errors.js';
import { serializeActions } from '../log/action-lines.js';
import type { Action } from '../log/actions.js';
import { commitPath } from '../log/paths.js';
import { markOfActions } from './mark.js';
import { gather, makeState, type OwnState, takeAction } from './own-state.js';
import { PartitionValues } from './partition-values.js';
import { Replay } from './replay.js';
import type { State } from './state.js';

/**
 * The state after one more commit, without a request: for a commit that this process has just written. `timestamp` is that of the new version in milliseconds.
 * Costs what the commit holds, not what the table holds; the given state stays as it is, and may be derived from again.
 */
export function applyCommit(
  state: State,
  version: number,
  timestamp: number,
  actions: readonly Action[],
): State {
  const previous = ownState(state);
  if (version !== previous.version + 1) {
    throw new TableError('INTERNAL', `Version ${version} does not follow version ${previous.version}.`, {
      version,
      previous: previous.version,
    });
  }
  return derive(previous, new Replay(previous.files.parts, previous.removals), version, timestamp, actions);
}

/** The state of a table of which `actions` are the first commit. */
export function firstState(timestamp: number, actions: readonly Action[]): State {
  return derive(undefined, Replay.over([], new PartitionValues()), 0, timestamp, actions);
}

export function ownState(state: State): OwnState {
  if (!('removals' in state))
    throw new TableError('INTERNAL', 'A state that this library did not make cannot be derived from.', {});
  return state as OwnState;
}

function derive(
  previous: OwnState | undefined,
  replay: Replay,
  version: number,
  timestamp: number,
  actions: readonly Action[],
): State {
  const gathered = gather();
  const files: Action[] = [];
  for (const action of actions) {
    if ('add' in action || 'remove' in action) files.push(action);
    else takeAction(gathered, action);
  }
  const file = commitPath(version);
  if (files.length > 0) replay.commit(serializeActions(files), { version, file }, () => undefined);
  return makeState({
    url: file,
    version,
    timestamp,
    replay,
    gathered,
    previous,
    checkpointTombstones: previous?.checkpointTombstones ?? [],
    mark: markOfActions(actions),
  });
}
