import type { Action, RemoveAction } from '../log/actions.js';
import type { State } from '../snapshot/state.js';
import { vectorId } from '../snapshot/vector-id.js';

/**
 * The logical files that a commit adds, each as text: its path, and after a `#`, which no path has unencoded, the id of its deletion vector. A file that was
 * there before under another vector proves nothing.
 */
export function addedFiles(actions: readonly Action[]): string[] {
  return actions.flatMap((action) =>
    'add' in action ? [named(action.add.path, vectorId(action.add.deletionVector))] : [],
  );
}

/** True when one of the files is live in a state. */
export function anyLive(state: State, files: readonly string[]): boolean {
  return files.some((file) => {
    const at = file.indexOf('#');
    return at < 0
      ? state.files.find(file, undefined) >= 0
      : state.files.find(file.slice(0, at), file.slice(at + 1)) >= 0;
  });
}

/** True when one of the files was removed since. */
export function anyRemoved(tombstones: readonly RemoveAction[], files: readonly string[]): boolean {
  const wanted = new Set(files);
  return tombstones.some(({ path, deletionVector }) => wanted.has(named(path, vectorId(deletionVector))));
}

function named(path: string, vector: string | undefined): string {
  return vector === undefined ? path : `${path}#${vector}`;
}
