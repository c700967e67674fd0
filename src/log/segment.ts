import { TableError } from '../errors.js';
import type { Context } from '../runtime/context.js';
import type { ObjectMeta, Store } from '../store/store.js';
import { assertReconciled } from './compaction.js';
import { readLastCheckpoint } from './last-checkpoint.js';
import { readLogFile } from './limits.js';
import {
  type CheckpointFiles,
  type CommitFile,
  type LogListing,
  listLog,
  loadableRanges,
} from './listing.js';
import { LAST_CHECKPOINT_KEY } from './paths.js';

/** What to read for one version of a table: the checkpoint if there is one, then the commits in order. Plain data. */
export interface LogSegment {
  readonly version: number;
  /** Milliseconds: the modification time of the version's commit, or of its checkpoint where the commit is gone. */
  readonly modifiedAt: number;
  readonly checkpoint: CheckpointFiles | undefined;
  /** The versions after the checkpoint up to `version`, without gaps, ascending. */
  readonly commits: readonly CommitFile[];
  /** The commit of the checkpoint's own version, where it is still there: it alone holds that version's `commitInfo`. */
  readonly checkpointCommit: CommitFile | undefined;
  /** The checksum file of `version`. */
  readonly checksum: ObjectMeta | undefined;
}

export interface SegmentOptions {
  /** The version wanted; the newest by default. */
  readonly version?: number;
  /** Keys of checkpoint files that turned out unreadable: their checkpoints are passed over, and the log is listed from its start. */
  readonly exclude?: ReadonlySet<string>;
  readonly signal?: AbortSignal;
}

/**
 * Finds what to read for a version by `_last_checkpoint` and one listing from there (protocol: Checkpoints, Last Checkpoint File). A hint that is stale, torn,
 * missing or lying costs another listing and a warning, never a wrong answer; so do checkpoints that the listing shows to be incomplete. A gap is listed once
 * more before it is an error, because a store may page past a file being written.
 * Throws `NOT_A_TABLE` where there is no file of a log; `VERSION_NOT_FOUND`, which names the versions that can be loaded; `CORRUPT_LOG`, which names the missing one.
 */
export async function listSegment(
  store: Store,
  ctx: Context,
  options: SegmentOptions = {},
): Promise<LogSegment> {
  const { version, exclude, signal } = options;
  if (version !== undefined && (!Number.isSafeInteger(version) || version < 0)) {
    const listing = await listLog(store, { signal });
    if (listing.newest < 0) throw notATable(store.url);
    throw versionNotFound(store.url, version, listing);
  }
  const hint = exclude?.size || version === 0 ? undefined : await readLastCheckpoint(store, ctx, signal);
  // A checkpoint after the version wanted says nothing about where to start.
  const from = hint !== undefined && (version === undefined || hint.version <= version) ? hint.version : 0;
  const first = await listLog(store, { from, to: version, signal });
  const found = choose(first, version, exclude);
  if ('segment' in found && (from === 0 || found.segment.checkpoint))
    return accept(store, ctx, first, found.segment, exclude, signal);
  if (from > 0) {
    ctx.emit({
      type: 'warning',
      message: `${LAST_CHECKPOINT_KEY} of ${store.url} names the checkpoint ${from}, from which version ${version ?? 'the newest'} cannot be loaded; the log is listed from its start instead.`,
      file: LAST_CHECKPOINT_KEY,
    });
  }
  const whole =
    from > 0 || (version !== undefined && 'missing' in found) ? await listLog(store, { signal }) : first;
  let second = choose(whole, version, exclude);
  if ('segment' in second) return accept(store, ctx, whole, second.segment, exclude, signal);
  if (whole.newest < 0) throw notATable(store.url);
  if (version !== undefined && outside(version, whole)) throw versionNotFound(store.url, version, whole);
  const again = await listLog(store, { signal });
  second = choose(again, version, exclude);
  if ('segment' in second) return accept(store, ctx, again, second.segment, exclude, signal);
  throw gap(store.url, second.missing, again, exclude);
}

/** What a refresh found: the commits after the known version (none when it is still the newest), or that the state must be loaded anew. */
export type SegmentRefresh =
  | {
      readonly outcome: 'commits';
      readonly version: number;
      readonly commits: readonly CommitFile[];
      /** The commit of the known version, where it is still there. */
      readonly known: CommitFile | undefined;
    }
  | { readonly outcome: 'reload' };

/**
 * Finds the commits after `known` by one listing that starts there. `reload` when that version is no longer in the log, or commits after it were cleaned up: then
 * only a new segment tells. A gap that no checkpoint explains is listed once more, then `CORRUPT_LOG`.
 */
export async function refreshSegment(
  store: Store,
  known: number,
  signal?: AbortSignal,
): Promise<SegmentRefresh> {
  for (let attempt = 1; ; attempt++) {
    const listing = await listLog(store, { from: known, signal });
    const present =
      listing.commits.has(known) || listing.checkpoints.some((checkpoint) => checkpoint.version === known);
    if (!present) return { outcome: 'reload' };
    const commits: CommitFile[] = [];
    for (let version = known + 1; version <= listing.newest; version++) {
      const commit = listing.commits.get(version);
      if (!commit) break;
      commits.push(commit);
    }
    const last = known + commits.length;
    if (last === listing.newest)
      return { outcome: 'commits', version: last, commits, known: listing.commits.get(known) };
    if (listing.checkpoints.some((checkpoint) => checkpoint.version > last)) return { outcome: 'reload' };
    if (attempt === 2) throw gap(store.url, last + 1, listing, undefined);
  }
}

type Choice = { readonly segment: LogSegment } | { readonly missing: number };

/** The segment by the newest usable checkpoint, or the first version that is missing for one. */
function choose(
  listing: LogListing,
  wanted: number | undefined,
  exclude: ReadonlySet<string> | undefined,
): Choice {
  const version = wanted ?? listing.newest;
  const checkpoint = listing.checkpoints.findLast(
    (candidate) => candidate.version <= version && !isExcluded(candidate, exclude),
  );
  if (version < 0) return { missing: 0 };
  const commits: CommitFile[] = [];
  for (let next = checkpoint ? checkpoint.version + 1 : 0; next <= version; ) {
    // The commits are the truth: compacted files of some writers still add what was removed within their range.
    const file =
      listing.commits.get(next) ??
      listing.compacted.get(next)?.findLast((candidate) => candidate.version <= version);
    if (!file) return { missing: next };
    commits.push(file);
    next = file.version + 1;
  }
  const checkpointCommit = checkpoint && listing.commits.get(checkpoint.version);
  const last = commits.at(-1) ?? checkpointCommit ?? checkpoint?.files.at(-1);
  if (!last) return { missing: version };
  return {
    segment: {
      version,
      modifiedAt: last.modifiedAt,
      checkpoint,
      commits,
      checkpointCommit,
      checksum: listing.checksums.get(version),
    },
  };
}

function isExcluded(checkpoint: CheckpointFiles, exclude: ReadonlySet<string> | undefined): boolean {
  return exclude !== undefined && checkpoint.files.some((file) => exclude.has(file.key));
}

/** Tells of the checkpoints that would have been nearer, had they been whole, and checks compactions before they stand for commits. */
async function accept(
  store: Store,
  ctx: Context,
  listing: LogListing,
  segment: LogSegment,
  exclude: ReadonlySet<string> | undefined,
  signal: AbortSignal | undefined,
): Promise<LogSegment> {
  for (const { version, file, reason } of listing.unusable) {
    if (version > segment.version || version <= (segment.checkpoint?.version ?? -1) || exclude?.has(file))
      continue;
    ctx.emit({
      type: 'warning',
      message: `The checkpoint ${file} of ${store.url} ${reason}; it is not used.`,
      file,
    });
  }
  for (const commit of segment.commits) {
    if (commit.from < commit.version) assertReconciled(await readLogFile(store, commit, signal), commit);
  }
  return segment;
}

/** True when no version so old or so new is in the log, rather than one missing within it. */
function outside(version: number, listing: LogListing): boolean {
  const ranges = loadableRanges(listing);
  return version > listing.newest || (ranges[0] !== undefined && version < ranges[0].first);
}

function notATable(url: string): TableError {
  return new TableError(
    'NOT_A_TABLE',
    `There is no Delta table at ${url}: its _delta_log holds no commit and no checkpoint. Check the URL, or create the table.`,
    { url },
  );
}

/** Names the versions that can be loaded. */
export function versionNotFound(url: string, version: number, listing: LogListing): TableError {
  const ranges = loadableRanges(listing);
  const words = ranges
    .map(({ first, last }) => (first === last ? `${first}` : `${first} to ${last}`))
    .join(', ');
  return new TableError(
    'VERSION_NOT_FOUND',
    `Version ${version} of ${url} cannot be loaded; the log still holds ${words || 'none that can'}.`,
    {
      url,
      version,
      available: ranges,
    },
  );
}

function gap(
  url: string,
  missing: number,
  listing: LogListing,
  exclude: ReadonlySet<string> | undefined,
): TableError {
  const checkpoints = [
    ...listing.unusable.map(({ file, reason }) => `${file} ${reason}`),
    ...[...(exclude ?? [])].map((file) => `${file} cannot be read`),
  ];
  const because =
    checkpoints.length > 0 ? ` Checkpoints that could have stood in for it: ${checkpoints.join('; ')}.` : '';
  return new TableError(
    'CORRUPT_LOG',
    `Version ${missing} is missing from the log of ${url}, and no complete checkpoint covers it.${because} Restore the file; later versions cannot be told without it.`,
    { url, version: missing, checkpoints },
  );
}
