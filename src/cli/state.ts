import { parseTimestampArgument, timestampToVersion } from '../log/time-travel.js';
import type { TableContext } from '../runtime/table-context.js';
import { loadState } from '../snapshot/load.js';
import type { State } from '../snapshot/state.js';
import type { VersionFlags } from './options.js';
import type { Session } from './session.js';

/** A table's log as commands that read no rows need it; leaves Arrow and Parquet unloaded. */
export interface OpenedLog {
  readonly table: TableContext;
  readonly state: State;
}

/** Loads the state that the flags ask for. Throws as `Table.snapshot`. */
export async function openLog(session: Session, url: string, flags: VersionFlags = {}): Promise<OpenedLog> {
  const table = (await session.runtime()).table(url);
  if (flags.version === undefined && flags.timestamp === undefined)
    return { table, state: await table.latest.get() };
  let version = flags.version;
  if (flags.timestamp !== undefined) {
    const { metadata } = await table.latest.get();
    const instant = parseTimestampArgument(flags.timestamp);
    version = await timestampToVersion(table.store, table.ctx, instant, metadata, session.signal);
  }
  return { table, state: await loadState(table.store, table.ctx, { version }) };
}
