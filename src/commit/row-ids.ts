import { TableError } from '../errors.js';
import type { Action, MetadataAction } from '../log/actions.js';
import { isActive } from '../log/features.js';
import { parseJson, stringifyJson } from '../log/json.js';
import type { JsonObject } from '../schema/types.js';
import type { State } from '../snapshot/state.js';

/** The part of a state that row ids depend on. */
export type RowIdBase = Pick<State, 'protocol' | 'metadata' | 'domains'>;

const DOMAIN = 'delta.rowTracking';
const MARK = 'rowIdHighWaterMark';
const ENABLED = 'delta.enableRowTracking';
const ROW_ID = 'delta.rowTracking.materializedRowIdColumnName';
const ROW_COMMIT_VERSION = 'delta.rowTracking.materializedRowCommitVersionColumnName';

/**
 * The actions with fresh row ids and row commit versions for every file that has none, and the high water mark raised (protocol: Writer Requirements for Row
 * Tracking); the same where the table does not track rows. `version` is the one that they are to be committed as.
 */
export function withRowIds(base: RowIdBase, actions: readonly Action[], version: number): readonly Action[] {
  if (!isActive('rowTracking', base.protocol, base.metadata)) return actions;
  const before = highWaterMark(base);
  let mark = before;
  const tracked = actions.map((action): Action => {
    if (!('add' in action) || (action.add.baseRowId !== undefined && action.add.baseRowId !== null))
      return action;
    const baseRowId = mark + 1;
    mark += rowsOf(action.add.path, action.add.stats);
    return { add: { ...action.add, baseRowId, defaultRowCommitVersion: version } };
  });
  if (mark === before) return tracked;
  const configuration = JSON.stringify({ [MARK]: mark });
  return [...tracked, { domainMetadata: { domain: DOMAIN, configuration, removed: false } }];
}

/** True where ids of rows stay with them: rows that are copied or changed take them along in hidden columns. */
export function tracksRows(metadata: MetadataAction): boolean {
  return hiddenColumns(metadata) !== undefined;
}

export interface HiddenColumns {
  readonly rowId: string;
  readonly rowCommitVersion: string;
}

/** The names of the columns, in data files alone, that hold the ids and commit versions of rows that moved; undefined where rows are not tracked. */
export function hiddenColumns({
  configuration,
}: Pick<MetadataAction, 'configuration'>): HiddenColumns | undefined {
  if (configuration[ENABLED]?.toLowerCase() !== 'true') return undefined;
  const rowId = configuration[ROW_ID];
  const rowCommitVersion = configuration[ROW_COMMIT_VERSION];
  return rowId && rowCommitVersion ? { rowId, rowCommitVersion } : undefined;
}

/** The properties of a new table with the names of its hidden columns, where it is to track rows. */
export function withHiddenColumns(
  configuration: Readonly<Record<string, string>>,
  uuid: () => string,
): Readonly<Record<string, string>> {
  if (configuration[ENABLED]?.toLowerCase() !== 'true') return configuration;
  return {
    ...configuration,
    [ROW_ID]: configuration[ROW_ID] ?? `_row-id-col-${uuid()}`,
    [ROW_COMMIT_VERSION]: configuration[ROW_COMMIT_VERSION] ?? `_row-commit-version-col-${uuid()}`,
  };
}

function highWaterMark({ domains }: RowIdBase): number {
  const domain = domains.get(DOMAIN);
  if (!domain) return -1;
  const mark = (parseJson(domain.configuration) as JsonObject)[MARK];
  if (typeof mark === 'number' && Number.isSafeInteger(mark)) return mark;
  throw new TableError('CORRUPT_LOG', `The domain ${DOMAIN} says no ${MARK}: ${domain.configuration}.`, {
    domain: DOMAIN,
    configuration: stringifyJson(domain.configuration),
  });
}

function rowsOf(path: string, stats: string | null | undefined): number {
  const rows = stats ? (parseJson(stats) as JsonObject).numRecords : undefined;
  if (typeof rows === 'number') return rows;
  throw new TableError('INTERNAL', `The new file ${path} has no number of rows, so its rows get no ids.`, {
    path,
  });
}
