import { tableProperties } from '../log/properties.js';
import type { TableContext } from '../runtime/table-context.js';
import type { State } from '../snapshot/state.js';

const LONGEST_STALENESS_MS = 300_000;

/**
 * Milliseconds for which a state confirmed as the newest stays safe to commit against without listing: log cleanup keeps versions much longer, so the
 * next version cannot have existed and been removed since.
 */
export function stalenessBound(state: State): number {
  return Math.min(LONGEST_STALENESS_MS, tableProperties(state.metadata.configuration).logRetentionMs / 4);
}

/** The state to stage or commit against: the one known, while it is within the staleness bound, else the newest. */
export async function recentState(table: TableContext): Promise<State> {
  const known = table.latest.peek();
  return table.latest.get(known ? stalenessBound(known) : 0);
}
