import { isTableError } from '../errors.js';
import type { Store } from '../store/store.js';
import type { CommitInfoAction, MetadataAction } from './actions.js';
import { datedVersions } from './commit-dates.js';
import { hasInCommitTimestamp, readCommitInfo } from './commit-time.js';
import { listLog } from './listing.js';

/** One version of a table's past. */
export interface HistoryEntry {
  readonly version: number;
  /** Milliseconds since the Unix epoch: the in-commit timestamp where enabled, else the modification time of the commit's file, made to rise with versions. */
  readonly timestamp: number;
  /** Milliseconds; null where the commit has none. */
  readonly inCommitTimestamp: number | null;
  /** As the writer wrote it; undefined where the commit has none, or was cleaned up and its checkpoint stands for it. */
  readonly commitInfo: CommitInfoAction | undefined;
}

export interface HistoryOptions {
  /** Of the newest version: says since when in-commit timestamps count. */
  readonly metadata: MetadataAction;
  /** The number of entries wanted; all by default. */
  readonly limit?: number;
  /** The oldest and newest version wanted, both included. */
  readonly from?: number;
  readonly to?: number;
  readonly signal?: AbortSignal;
}

/** Commits read at once. */
const AHEAD = 16;

/**
 * The versions that can still be loaded, newest first, each with its `commitInfo`. One listing, then one request a commit, some of them ahead of the caller.
 * A commit that cannot be read is `CORRUPT_LOG` at its place; one that is cleaned up meanwhile is left out.
 */
export async function* readHistory(
  store: Store,
  options: HistoryOptions,
): AsyncGenerator<HistoryEntry, void, undefined> {
  const {
    metadata,
    limit = Number.POSITIVE_INFINITY,
    from = 0,
    to = Number.MAX_SAFE_INTEGER,
    signal,
  } = options;
  const listing = await listLog(store, { signal });
  const wanted = datedVersions(listing)
    .filter(({ version }) => version >= from && version <= to)
    .reverse()
    .slice(0, limit);
  const read = async (index: number): Promise<HistoryEntry | undefined> => {
    const { version, modifiedAt } = wanted[index]!;
    const commit = listing.commits.get(version);
    const commitInfo = commit && (await readCommitInfo(store, commit, signal));
    const inCommitTimestamp = commitInfo?.inCommitTimestamp ?? null;
    const timestamp =
      inCommitTimestamp !== null && hasInCommitTimestamp(metadata, version) ? inCommitTimestamp : modifiedAt;
    return { version, timestamp, inCommitTimestamp, commitInfo };
  };
  const pending: Promise<HistoryEntry | undefined>[] = [];
  for (let next = 0, done = 0; done < wanted.length; done++) {
    // Few at first: a caller who wants one entry should not pay for sixteen.
    while (next < wanted.length && next <= Math.min(done * 2, done + AHEAD)) {
      const entry = read(next++).catch(unlessGone);
      // Whether it failed is told at its place; until then nobody listens.
      entry.catch(() => undefined);
      pending.push(entry);
    }
    const entry = await pending.shift()!;
    if (entry) yield entry;
  }
}

function unlessGone(error: unknown): undefined {
  if (!isTableError(error, 'NOT_FOUND')) throw error;
}
