import { TableError } from '../errors.js';
import type { State } from '../snapshot/state.js';

/**
 * Refuses to go on when commits between `before` and `now` changed what every write depends on: the table's metadata or protocol.
 * What a verb itself read (files, tokens) is checked by planning it again on `now`. Throws `COMMIT_CONFLICT`.
 */
export function checkWinners(url: string, before: State, now: State): void {
  for (const [what, changed] of [
    ['metadata', !same(before.metadata, now.metadata)],
    ['protocol', !same(before.protocol, now.protocol)],
  ] as const) {
    if (!changed) continue;
    throw new TableError(
      'COMMIT_CONFLICT',
      `The ${what} of ${url} was changed by another commit between versions ${before.version} and ${now.version}, after these rows were prepared. Nothing was committed; run the write again.`,
      { url, what, readVersion: before.version, version: now.version },
    );
  }
}

function same(a: object, b: object): boolean {
  return a === b || JSON.stringify(a) === JSON.stringify(b);
}
