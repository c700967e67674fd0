import { TableError } from '../errors.js';
import { serializeActions } from '../log/action-lines.js';
import type { Action, MetadataAction } from '../log/actions.js';
import { shouldCheckpoint, writeCheckpoint } from '../log/checkpoint.js';
import { buildCommitInfo } from '../log/commit-info.js';
import { assertWritable, isActive } from '../log/features.js';
import { commitPath } from '../log/paths.js';
import { tableProperties } from '../log/properties.js';
import { abortError } from '../runtime/system.js';
import type { TableContext } from '../runtime/table-context.js';
import type { JsonObject } from '../schema/types.js';
import { applyCommit } from '../snapshot/apply.js';
import type { State } from '../snapshot/state.js';
import { ENGINE_INFO } from '../version.js';
import { attemptCommit, unknownState } from './attempt.js';
import { recentState, stalenessBound } from './base.js';
import { checkWinners } from './conflict.js';
import { addedFiles, anyLive } from './evidence.js';
import { judgeLate } from './late.js';
import { tracksRows, withRowIds } from './row-ids.js';
import { takeTurn } from './turn.js';

/** What one commit will hold, decided against one state. */
export interface CommitPlan {
  /** As other engines name it in `commitInfo`: `WRITE`, `CREATE TABLE`. */
  readonly operation: string;
  readonly parameters: JsonObject;
  readonly metrics: Readonly<Record<string, number>>;
  readonly isBlindAppend: boolean;
  /** `serializable` by default. */
  readonly isolation?: 'serializable' | 'write-serializable';
  /** Further members of `commitInfo`. */
  readonly facts?: JsonObject;
  /** The time of the commit in milliseconds, where the actions say it themselves; later than that of the state. */
  readonly timestamp?: number;
  /** Everything but `commitInfo`. */
  readonly actions: readonly Action[];
}

/** A plan to commit, a result that needs no commit on this state, or word that the state is behind and the newest is wanted. */
export type Planned<T> =
  | { readonly plan: CommitPlan; readonly result: T }
  | { readonly settled: T }
  | { readonly stale: true };

export interface TransactionOptions {
  readonly signal?: AbortSignal;
  /** Milliseconds to go on trying; 10 minutes by default. */
  readonly retryFor?: number;
  readonly userMetadata?: string;
}

/** What became of a transaction; `version` is the one committed, or the one on which no commit was needed. */
export interface TransactionResult<T> {
  readonly committed: boolean;
  readonly version: number;
  readonly attempts: number;
  readonly result: T;
}

/** Throws `COMMIT_CONFLICT` where a plan cannot be made anew on `now`, because of what came since `before`. */
export type WinnersCheck = (url: string, before: State, now: State) => void;

const RETRY_FOR_MS = 600_000;
/**
 * Who has not looked at the log for so long lists it after a loss: that tells how many versions came, and whether they are of the table that is known rather than
 * of another one that was made at its place.
 */
const UNSEEN_MS = 1_000;

/**
 * Commits what `plan` decides, atomically, as the version after the newest. `plan` is asked again on the newer state whenever another commit wins the
 * version; `check` says first whether that makes sense, which by default it does not where metadata or protocol changed. In this process the commits of a table
 * stand in line. A checkpoint is written where the table's interval asks for one; its failure is an event.
 * Throws `COMMIT_CONFLICT` (nothing was committed), `COMMIT_STATE_UNKNOWN` (it may have been), `ABORTED`, `UNSUPPORTED_FEATURE`, and what `plan` throws.
 */
export function transact<T>(
  table: TableContext,
  plan: (state: State) => Promise<Planned<T>>,
  options: TransactionOptions = {},
  check: WinnersCheck = checkWinners,
): Promise<TransactionResult<T>> {
  return table.queue.run(() => transactInTurn(table, plan, options, check));
}

/** `transact` for who stands at the head of the table's line. */
export async function transactInTurn<T>(
  table: TableContext,
  plan: (state: State) => Promise<Planned<T>>,
  options: TransactionOptions,
  check: WinnersCheck = checkWinners,
): Promise<TransactionResult<T>> {
  const { clock, ids } = table.ctx;
  const startedAt = clock.monotonic();
  const deadline = startedAt + (options.retryFor ?? RETRY_FOR_MS);
  const txnId = ids.uuid();
  await table.assertSafe();
  const contended = table.pace.contended();
  let base = contended ? await takeTurn(table, startedAt, options.signal) : await recentState(table);
  if (!contended) table.pace.beginAlone(base.version);
  for (let attempts = 1; ; attempts++) {
    if (options.signal?.aborted) throw abortError(options.signal);
    assertWritable(base.protocol, base.metadata, table.url);
    const planned = await plan(base);
    if ('stale' in planned) {
      const next = await table.latest.get();
      check(table.url, base, next);
      base = next;
      attempts--;
      continue;
    }
    if ('settled' in planned)
      return { committed: false, version: base.version, attempts, result: planned.settled };
    const version = base.version + 1;
    const timestamp = planned.plan.timestamp ?? commitTimestamp(base, clock.now());
    const actions = [
      commitInfo(planned.plan, base, timestamp, txnId, options.userMetadata),
      ...withRowIds(base, planned.plan.actions, version),
    ];
    const confirmedAt = clock.monotonic() - table.latest.age();
    const putAt = clock.monotonic();
    const isUnseen = putAt - confirmedAt > UNSEEN_MS;
    const attempt = await attemptCommit(table.store, table.ctx, {
      version,
      bytes: serializeActions(actions),
      txnId,
      deadline,
      signal: options.signal,
    });
    const paths = addedFiles(actions);
    if (attempt.outcome === 'committed') {
      const late =
        clock.monotonic() - confirmedAt > stalenessBound(base)
          ? await judgeLate(table.store, table.ctx, version, paths).catch((cause: unknown) => {
              throw unknownState(table.url, version, txnId, paths, cause);
            })
          : 'visible';
      if (late === 'unknown') throw unknownState(table.url, version, txnId, paths, undefined);
      if (late === 'visible') {
        const state = applyCommit(base, version, timestamp, actions);
        table.latest.adopt(state, putAt);
        table.pace.won(version, putAt);
        table.ctx.emit({
          type: 'committed',
          url: table.url,
          version,
          operation: planned.plan.operation,
          attempts,
        });
        await checkpointWhenDue(table, state);
        return { committed: true, version, attempts, result: planned.result };
      }
      await table.store.delete(commitPath(version));
      table.latest.forget();
    } else if (attempt.outcome === 'cleaned') {
      table.latest.forget();
      const fresh = await table.latest.get().catch((cause: unknown) => {
        throw unknownState(table.url, version, txnId, paths, cause);
      });
      if (anyLive(fresh, paths)) {
        return { committed: true, version, attempts, result: planned.result };
      }
      throw unknownState(table.url, version, txnId, paths, undefined);
    } else if (attempt.outcome === 'unknown') {
      throw unknownState(table.url, version, txnId, paths, attempt.cause);
    } else if (!isUnseen) table.latest.take(version, attempt.winner);
    table.pace.lost(version, putAt);
    table.ctx.emit({ type: 'conflict', version, attempt: attempts });
    const waited = clock.monotonic() - startedAt;
    if (clock.monotonic() >= deadline) throw gaveUp(table.url, version, attempts, waited);
    await clock.sleep(table.pace.backOff(waited), options.signal);
    if (isUnseen) {
      await table.latest.get();
      // How many came in all that time says nothing of how often they come now.
      table.pace.saw(0);
    }
    const next = await takeTurn(table, startedAt, options.signal);
    check(table.url, base, next);
    base = next;
  }
}

/** In-commit timestamps must rise (protocol: In-Commit Timestamps), whatever the clock says. */
function commitTimestamp(base: State, now: number): number {
  return tableProperties(base.metadata.configuration).inCommitTimestamps
    ? Math.max(now, base.timestamp + 1)
    : now;
}

function commitInfo(
  plan: CommitPlan,
  base: State,
  timestamp: number,
  txnId: string,
  userMetadata: string | undefined,
): Action {
  return {
    commitInfo: buildCommitInfo({
      operation: plan.operation,
      parameters: plan.parameters,
      metrics: plan.metrics,
      isBlindAppend: plan.isBlindAppend,
      isolationLevel: plan.isolation === 'write-serializable' ? 'WriteSerializable' : 'Serializable',
      readVersion: base.version,
      timestamp,
      inCommitTimestamp: tableProperties(metadataAfter(base, plan.actions).configuration).inCommitTimestamps,
      engineInfo: ENGINE_INFO,
      txnId,
      userMetadata,
      facts: { ...rowTrackingTags(base), ...plan.facts },
    }),
  };
}

/** A commit that turns in-commit timestamps on has one already (protocol: In-Commit Timestamps). */
function metadataAfter(base: State, actions: readonly Action[]): MetadataAction {
  for (const action of actions) if ('metaData' in action) return action.metaData;
  return base.metadata;
}

/** All verbs keep the ids of rows that they copy or change (protocol: Writer Requirements for Row Tracking). */
function rowTrackingTags({ protocol, metadata }: State): JsonObject {
  return isActive('rowTracking', protocol, metadata)
    ? { tags: { 'delta.rowTracking.preserved': String(tracksRows(metadata)) } }
    : {};
}

async function checkpointWhenDue(table: TableContext, state: State): Promise<void> {
  if (!shouldCheckpoint(state.version, tableProperties(state.metadata.configuration).checkpointInterval))
    return;
  try {
    const { bytes } = await writeCheckpoint(table.store, table.ctx, state);
    table.ctx.emit({ type: 'checkpointWritten', version: state.version, bytes });
  } catch (error) {
    table.ctx.emit({ type: 'checkpointFailed', version: state.version, error });
  }
}

function gaveUp(url: string, version: number, attempts: number, waited: number): TableError {
  return new TableError(
    'COMMIT_CONFLICT',
    `Other writers won every version of ${url} for ${Math.round(waited)} ms (${attempts} attempts, last at version ${version}). Nothing was committed; run the write again or allow more time with retryFor.`,
    { url, version, attempts },
  );
}
