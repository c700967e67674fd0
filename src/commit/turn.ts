import type { TableContext } from '../runtime/table-context.js';
import type { State } from '../snapshot/state.js';
import { recentState } from './base.js';

/**
 * Waits until it is this writer's turn among those at work on the table in other processes, and gives the state to try the next version on. `startedAt` is the
 * monotonic instant at which the commit began. The versions that came meanwhile are asked for by their names, a request each; a listing comes only where it tells
 * more for less, or where the known state is older than may be committed against. Throws what the store and the log throw, and `ABORTED`.
 */
export async function takeTurn(table: TableContext, startedAt: number, signal?: AbortSignal): Promise<State> {
  const { pace, latest } = table;
  const { clock } = table.ctx;
  let state = await recentState(table);
  for (;;) {
    const count = pace.expected();
    let moved = true;
    if (count > 0) {
      const before = state.version;
      state = Number.isFinite(count) ? await latest.advance(count, signal) : await latest.get();
      pace.saw(state.version - before);
      moved = state.version > before;
    }
    // Where nothing came in the time that a version takes, nobody else is about to put one.
    const wait = moved ? pace.untilTurn(state.version, clock.monotonic() - startedAt) : 0;
    if (wait <= 0) return state;
    await clock.sleep(wait, signal);
  }
}
