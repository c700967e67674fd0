import { isTableError } from '../errors.js';
import { abortError } from '../runtime/system.js';
import type { TableContext } from '../runtime/table-context.js';
import { Changes } from '../scan/change-scan.js';
import { readChanges } from '../scan/changes.js';
import type { RowOptions } from '../schema/rows-out.js';
import { loadState, statesAfter } from './load.js';
import { Snapshot } from './snapshot.js';
import type { State } from './state.js';

export interface FollowOptions extends RowOptions {
  /** The first version to give; by default the one after the newest at the start. */
  readonly from?: number;
  /** Also gives the row-level changes of each version, where the table records them (`delta.enableChangeDataFeed`). */
  readonly changes?: boolean;
  /** Milliseconds between two looks at the log; 1,000 by default. */
  readonly pollMs?: number;
  /** Ends the iteration. */
  readonly signal?: AbortSignal;
}

/** A version of the table, in its turn. */
export interface FollowedVersion {
  readonly version: number;
  readonly snapshot: Snapshot;
  /** The changes of this version against the one before; absent unless asked for, and where there is a `reset`. */
  readonly changes?: Changes;
  /**
   * Present where what came before cannot be carried on from, so that the snapshot is to be taken as a whole. `cleaned`: versions in between were removed by
   * log cleanup. `recreated`: another table stands at the same place. `unrecorded`: changes were asked for, and this version did not record them.
   */
  readonly reset?: 'cleaned' | 'recreated' | 'unrecorded';
}

const POLL_MS = 1_000;

/**
 * The versions of a table as they come, each once and in order, until the signal fires or the runtime is closed. One listing a look when nothing is new,
 * shared with everyone else who looks. Throws what loading a state throws; whoever starts again `from` the version after the last one given misses nothing.
 */
export async function* follow(
  table: TableContext,
  options: FollowOptions = {},
): AsyncGenerator<FollowedVersion, void, undefined> {
  const ending = new AbortController();
  const end = (): void => ending.abort();
  const opening = { [Symbol.asyncDispose]: async () => end() };
  const { signal } = ending;
  if (options.signal?.aborted) end();
  options.signal?.addEventListener('abort', end, { once: true });
  table.openings.add(opening);
  try {
    for await (const followed of versions(table, options, signal)) {
      yield followed;
      if (signal.aborted) return;
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  } finally {
    options.signal?.removeEventListener('abort', end);
    table.openings.delete(opening);
  }
}

async function* versions(
  table: TableContext,
  options: FollowOptions,
  signal: AbortSignal,
): AsyncGenerator<FollowedVersion> {
  const { from, pollMs = POLL_MS } = options;
  if (signal.aborted) throw abortError(signal);
  let last = await table.latest.get();
  if (from !== undefined && from <= last.version) {
    const first = await stateAt(table, from, signal);
    yield await followed(table, first ?? last, options, first ? undefined : 'cleaned');
    last = first ?? last;
  }
  for (;;) {
    const newest = await table.latest.get();
    if (newest.metadata.id !== last.metadata.id || newest.version < last.version) {
      yield await followed(table, newest, options, 'recreated');
      last = newest;
    } else if (newest.version === last.version) {
      await table.ctx.clock.sleep(pollMs, signal);
    } else {
      for await (const state of between(table, last, newest, signal)) {
        const isNext = state.version === last.version + 1;
        if (from === undefined || state.version >= from) {
          yield await followed(table, state, options, isNext ? undefined : 'cleaned');
        }
        last = state;
      }
    }
  }
}

/** The states after `last` up to `newest`; `newest` alone where those in between are gone. */
async function* between(
  table: TableContext,
  last: State,
  newest: State,
  signal: AbortSignal,
): AsyncGenerator<State> {
  if (newest.version > last.version + 1) {
    for await (const state of statesAfter(table.store, last, { to: newest.version - 1, signal })) yield state;
  }
  yield newest;
}

async function stateAt(
  table: TableContext,
  version: number,
  signal: AbortSignal,
): Promise<State | undefined> {
  try {
    return await loadState(table.store, table.ctx, { version, signal });
  } catch (error) {
    if (isTableError(error, 'VERSION_NOT_FOUND')) return undefined;
    throw error;
  }
}

async function followed(
  table: TableContext,
  state: State,
  { changes, from: _, pollMs: __, signal: ___, ...rowOptions }: FollowOptions,
  reset: FollowedVersion['reset'],
): Promise<FollowedVersion> {
  const { version } = state;
  const snapshot = new Snapshot(table, state);
  if (reset || !changes) return { version, snapshot, ...(reset ? { reset } : {}) };
  const range = { ...rowOptions, from: version, to: version };
  try {
    const planned = await readChanges(table.store, table.ctx, { ...range, pool: table.pool }, state);
    return { version, snapshot, changes: new Changes(table, range, planned) };
  } catch (error) {
    if (isTableError(error, 'FEED_UNAVAILABLE')) return { version, snapshot, reset: 'unrecorded' };
    throw error;
  }
}
