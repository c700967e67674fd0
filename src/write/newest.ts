import { isTableError } from '../errors.js';
import { assertWritable } from '../log/features.js';
import type { TableContext } from '../runtime/table-context.js';
import type { State } from '../snapshot/state.js';
import type { RowSource } from './source.js';

/** What a write may be refused with because the table's schema or rules are others than those it was staged for. */
const OF_THE_TABLE = [
  'COMMIT_CONFLICT',
  'INVALID_INPUT',
  'INVALID_PREDICATE',
  'INVALID_ROW',
  'INVALID_SCHEMA',
  'OUTSIDE_TARGET',
  'UNKNOWN_COLUMN',
] as const;

/**
 * Does a write on a state known from before, and once more on the newest where the table's schema, rules or protocol turn out to have changed since: rows that
 * can be read again are not refused for what the table no longer is. Others are, and what is known is then the newest.
 */
export async function onNewest<T>(
  table: TableContext,
  known: State,
  rows: RowSource | undefined,
  run: (state: State) => Promise<T>,
): Promise<T> {
  try {
    return await run(known);
  } catch (error) {
    if (!isTableError(error, ...OF_THE_TABLE)) throw error;
    const newest = await table.latest.get().catch(() => known);
    const isRepeatable = rows === undefined || Array.isArray(rows);
    if (!isRepeatable || isSameTable(known, newest)) throw error;
    assertWritable(newest.protocol, newest.metadata, table.url);
    return run(newest);
  }
}

function isSameTable(a: State, b: State): boolean {
  const told = ({ metadata, protocol }: State): string => JSON.stringify([metadata, protocol]);
  return (a.metadata === b.metadata && a.protocol === b.protocol) || told(a) === told(b);
}
