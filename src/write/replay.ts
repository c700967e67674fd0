import type { RecordBatch } from 'apache-arrow';
import { TableError } from '../errors.js';
import type { Action, TxnAction } from '../log/actions.js';
import { readListedCommit } from '../log/commit-file.js';
import { type CommitFile, listLog } from '../log/listing.js';
import { tableProperties } from '../log/properties.js';
import type { TableContext } from '../runtime/table-context.js';
import { mapAhead } from '../scan/ahead.js';
import { Digester, type RowsDigest } from '../schema/digest.js';
import type { StructType } from '../schema/types.js';
import type { State } from '../snapshot/state.js';
import type { Token } from './plan.js';

/** What the table has recorded of a token's application. */
export interface RecordedToken {
  readonly appId: string;
  readonly version: number | bigint;
  /** Milliseconds since the Unix epoch. */
  readonly lastUpdated: number | undefined;
  /** The table's version that recorded it; undefined where that commit is gone or lies far back. */
  readonly commit: number | undefined;
}

/** The member of `commitInfo` under which a write that is to be compared leaves the digest of its rows. */
export const ROWS_DIGEST = 'rowsDigest';
/** Commits looked through, newest first, to name the earlier one. */
const LOOK_BACK = 256;
const AHEAD = 16;

/**
 * The record that makes a token a replay: the table has its version of its application, or a later one (protocol: Transaction Identifiers). Records older than
 * `delta.setTransactionRetentionDuration` are forgotten. `now` is milliseconds since the Unix epoch.
 */
export function recordOf(state: State, token: Token | undefined, now: number): TxnAction | undefined {
  const recorded = token && state.txns.get(token.appId);
  if (!recorded || BigInt(recorded.version) < BigInt(token.version)) return undefined;
  const retention = tableProperties(state.metadata.configuration).setTransactionRetentionMs;
  const isForgotten =
    retention !== undefined && (recorded.lastUpdated ?? Number.NEGATIVE_INFINITY) <= now - retention;
  return isForgotten ? undefined : recorded;
}

/** Throws `COMMIT_CONFLICT` where the table has recorded a version between those that the token stands for; see `Token.after`. */
export function assertFollows(url: string, state: State, { appId, version, after }: Token): void {
  const recorded = state.txns.get(appId)?.version;
  if (after === undefined || recorded === undefined || BigInt(recorded) <= BigInt(after)) return;
  if (BigInt(recorded) >= BigInt(version)) return;
  throw new TableError(
    'COMMIT_CONFLICT',
    `${url} has recorded version ${recorded} of ${appId} where this write goes from ${after} to ${version}: another writer uses the same appId. Nothing was committed; stop one of the two, and go on behind the recorded version.`,
    { url, what: 'token', appId, after, version, recorded },
  );
}

/** Names the commit of a record: one listing, then the commits before `state`, newest first. */
export async function describeRecord(
  table: TableContext,
  state: State,
  record: TxnAction,
): Promise<{ readonly recorded: RecordedToken; readonly digest: RowsDigest | undefined }> {
  const { appId, version, lastUpdated } = record;
  const found = await findCommit(table, state, record);
  const recorded = { appId, version, lastUpdated: lastUpdated ?? undefined, commit: found?.version };
  return { recorded, digest: found && digestOf(found.actions) };
}

/**
 * Compares the rows of a replay with what the earlier commit recorded. Throws `REPLAY_DIFFERS` where they differ or the earlier commit cannot tell.
 */
export function assertSameRows(
  url: string,
  recorded: RecordedToken,
  before: RowsDigest | undefined,
  now: RowsDigest,
): void {
  if (before && before.rows === now.rows && before.digest === now.digest) return;
  const why = before
    ? `was committed with other rows (${before.rows} then, ${now.rows} now)`
    : "was committed without a digest of its rows, or its commit is gone; write with onReplay: 'compare' the first time too";
  throw new TableError(
    'REPLAY_DIFFERS',
    `The token ${recorded.appId}:${recorded.version} of ${url} ${why}. Nothing was committed. Use another token for other rows.`,
    { url, ...recorded, before, now },
  );
}

/** Sums the rows that pass. */
export class RowsTap {
  #digester: Digester | undefined;

  async *pass(batches: AsyncIterable<RecordBatch>, schema: StructType): AsyncGenerator<RecordBatch> {
    const digester = new Digester(schema);
    this.#digester = digester;
    for await (const batch of batches) {
      digester.add(batch);
      yield batch;
    }
  }

  /** Of the rows that passed. */
  get digest(): RowsDigest {
    return this.#digester?.result() ?? { rows: 0, digest: '' };
  }
}

async function findCommit(
  table: TableContext,
  state: State,
  record: TxnAction,
): Promise<{ readonly version: number; readonly actions: readonly Action[] } | undefined> {
  const { commits } = await listLog(table.store, { to: state.version });
  const newestFirst = [...commits.values()].sort((a, b) => b.version - a.version).slice(0, LOOK_BACK);
  const read = async (commit: CommitFile) => {
    const actions = await readListedCommit(table.store, commit);
    return actions && { version: commit.version, actions };
  };
  for await (const commit of mapAhead(newestFirst, read, { count: AHEAD, slowStart: true })) {
    const has = commit?.actions.some(
      (action) =>
        'txn' in action &&
        action.txn.appId === record.appId &&
        BigInt(action.txn.version) === BigInt(record.version),
    );
    if (has) return commit;
  }
  return undefined;
}

function digestOf(actions: readonly Action[]): RowsDigest | undefined {
  for (const action of actions) {
    if (!('commitInfo' in action)) continue;
    const { rows, digest } = { ...(action.commitInfo as Record<string, Partial<RowsDigest>>)[ROWS_DIGEST] };
    if (typeof rows === 'number' && typeof digest === 'string') return { rows, digest };
  }
  return undefined;
}
