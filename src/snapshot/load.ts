import { isTableError, TableError } from '../errors.js';
import type { Action } from '../log/actions.js';
import { hasInCommitTimestamp, readInCommitTimestamp } from '../log/commit-time.js';
import { assertReadable } from '../log/features.js';
import { readLogFile } from '../log/limits.js';
import type { CommitFile } from '../log/listing.js';
import { commitPath } from '../log/paths.js';
import { type LogSegment, listSegment, refreshSegment } from '../log/segment.js';
import type { Context } from '../runtime/context.js';
import type { Store } from '../store/store.js';
import { ownState } from './apply.js';
import type { TombstoneSource } from './block.js';
import { readCheckpoint } from './checkpoint.js';
import { type CommitMark, compareMark, isMarked, markOfBytes, markOfFile } from './mark.js';
import { type Gathered, gather, makeState, type OwnState, takeAction } from './own-state.js';
import { mapLimit } from './parallel.js';
import { PartitionValues } from './partition-values.js';
import { Replay } from './replay.js';
import type { State } from './state.js';

export interface LoadOptions {
  /** The version wanted; the newest by default. */
  readonly version?: number;
  /** A state of the same table known before: only what came after it is read, where that is possible. */
  readonly previous?: State;
  readonly signal?: AbortSignal;
}

type CommitKey = Pick<CommitFile, 'version' | 'key'>;

/** Commits fetched at a time. */
const LANES = 32;
/** A log that is cleaned up while it is read is listed this often anew before the missing file is an error. */
const LISTINGS = 3;

/**
 * The state of a table at a version. A checkpoint that cannot be read is passed over for an older one or for the commits, with a warning that names the file;
 * where nothing else covers its version, the error names it. With `previous` the cost is one listing and one request for each new commit.
 * Throws `NOT_A_TABLE`, `VERSION_NOT_FOUND`, `CORRUPT_LOG`, `FILE_NOT_FOUND`, `LIMIT_EXCEEDED`, `UNSUPPORTED_FEATURE`, and what the store throws.
 */
export async function loadState(store: Store, ctx: Context, options: LoadOptions = {}): Promise<State> {
  const startedAt = ctx.clock.monotonic();
  const previous = options.previous === undefined ? undefined : ownState(options.previous);
  const state = (previous && (await refresh(store, previous, options))) ?? (await open(store, ctx, options));
  if (state !== previous) {
    assertReadable(state.protocol, state.metadata, store.url);
    ctx.emit({
      type: 'snapshotLoaded',
      url: store.url,
      version: state.version,
      files: state.files.count,
      ms: ctx.clock.monotonic() - startedAt,
    });
  }
  return state;
}

/** The state by the commits after `previous`; undefined where only a load from the log's own start tells. */
async function refresh(
  store: Store,
  previous: OwnState,
  options: LoadOptions,
): Promise<OwnState | undefined> {
  const { version, signal } = options;
  if (version === previous.version) return previous;
  if (version !== undefined && version < previous.version) return undefined;
  const found = await refreshSegment(store, previous.version, signal);
  if (found.outcome === 'reload' || (version !== undefined && found.version < version)) return undefined;
  const commits =
    version === undefined ? found.commits : found.commits.filter((commit) => commit.version <= version);
  const compared = compareMark(previous.mark, found.known);
  // The log of another table, which was made where this one was removed.
  if (compared === 'other') return undefined;
  if (commits.length === 0) return previous;
  // No listing has shown the commit that is known, so that only the file tells whether what follows it follows this one.
  const proof = compared === 'unknown' ? [found.known!] : [];
  let files: Uint8Array[];
  try {
    files = await fetchCommits(store, [...proof, ...commits], signal);
  } catch (error) {
    if (isTableError(error, 'NOT_FOUND')) return undefined;
    throw error;
  }
  if (proof.length > 0 && !isMarked(previous.mark!, files.shift()!)) return undefined;
  const last = commits.at(-1)!;
  return derived(store, previous, commits, files, () => last.modifiedAt, markOfFile(last.version, last));
}

/**
 * The state after commits that follow `previous` without a gap, of which there is at least one. `modifiedAt` gives the time of the last one's file, when all are
 * read.
 */
function derived(
  store: Store,
  previous: OwnState,
  commits: readonly CommitKey[],
  files: readonly Uint8Array[],
  modifiedAt: (gathered: Gathered) => number,
  mark?: CommitMark,
): OwnState {
  const last = commits.at(-1)!;
  const replay = new Replay(previous.files.parts, previous.removals);
  const gathered = gather();
  replayCommits(replay, gathered, commits, files);
  const metadata = gathered.metadata ?? previous.metadata;
  const inCommit = hasInCommitTimestamp(metadata, last.version) ? gathered.inCommitTimestamp : undefined;
  const timestamp = inCommit ?? modifiedAt(gathered);
  return makeState({
    url: store.url,
    version: last.version,
    timestamp,
    replay,
    gathered,
    previous,
    checkpointTombstones: previous.checkpointTombstones,
    mark,
  });
}

/**
 * The state of every version behind `previous` up to `to`, in order, by one listing and one request a version, some ahead. Ends early where a commit is gone,
 * because the log was cleaned up. Errors as `loadState`.
 */
export async function* statesAfter(
  store: Store,
  previous: State,
  options: { readonly to: number; readonly signal?: AbortSignal },
): AsyncGenerator<State, void, undefined> {
  const { to, signal } = options;
  let state = ownState(previous);
  const found = await refreshSegment(store, state.version, signal);
  if (found.outcome === 'reload') return;
  const commits = found.commits.filter((commit) => commit.version <= to);
  try {
    for (let next = 0; next < commits.length; next += LANES) {
      const some = commits.slice(next, next + LANES);
      const files = await fetchCommits(store, some, signal);
      for (const [i, commit] of some.entries()) {
        state = derived(store, state, [commit], [files[i]!], () => commit.modifiedAt);
        assertReadable(state.protocol, state.metadata, store.url);
        yield state;
      }
    }
  } catch (error) {
    if (!isTableError(error, 'NOT_FOUND')) throw error;
  }
}

/**
 * The state by the commits right behind `previous`, whose files are given in order; there is at least one. Makes no request. Without a listing the time of a file
 * is not known: it counts as what its writer says, no earlier than the version before and no later than now. Throws `CORRUPT_LOG`, `UNSUPPORTED_FEATURE`.
 */
export function stateBy(store: Store, ctx: Context, previous: State, files: readonly Uint8Array[]): State {
  const { version, timestamp } = previous;
  const commits = files.map((_, i) => ({ version: version + 1 + i, key: commitPath(version + 1 + i) }));
  const now = ctx.clock.now();
  const modifiedAt = ({ writtenAt = now }: Gathered) => Math.max(timestamp, Math.min(writtenAt, now));
  const mark = markOfBytes(files.at(-1)!);
  const state = derived(store, ownState(previous), commits, files, modifiedAt, mark);
  if (state.protocol !== previous.protocol || state.metadata !== previous.metadata)
    assertReadable(state.protocol, state.metadata, store.url);
  return state;
}

/**
 * The state by as many of the `count` versions behind `previous` as are there, which are asked for at once and without a listing: one request each. Ends before
 * the first that is missing. Errors as `stateBy`, and what the store throws.
 */
export async function stateAhead(
  store: Store,
  ctx: Context,
  previous: State,
  count: number,
  signal?: AbortSignal,
): Promise<State> {
  const versions = Array.from({ length: count }, (_, i) => previous.version + 1 + i);
  const found = await mapLimit(versions, LANES, (version) =>
    store.get(commitPath(version), { signal }).catch((error: unknown) => {
      if (isTableError(error, 'NOT_FOUND')) return undefined;
      throw error;
    }),
  );
  const end = found.indexOf(undefined);
  const files = (end < 0 ? found : found.slice(0, end)) as Uint8Array[];
  return files.length === 0 ? previous : stateBy(store, ctx, previous, files);
}

async function open(store: Store, ctx: Context, options: LoadOptions): Promise<OwnState> {
  const exclude = new Set<string>();
  for (let listings = 1; ; ) {
    const segment = await listSegment(store, ctx, {
      version: options.version,
      exclude,
      signal: options.signal,
    });
    const commits = fetchCommits(store, segment.commits, options.signal);
    // Whatever becomes of the checkpoint, a failure here is looked at below.
    commits.catch(() => undefined);
    let start: Start;
    try {
      start = await readStart(store, segment, options.signal);
    } catch (error) {
      const { checkpoint } = segment;
      const unreadable = isTableError(error, 'CORRUPT_LOG', 'FILE_NOT_FOUND', 'NOT_FOUND', 'LIMIT_EXCEEDED');
      if (checkpoint === undefined || !unreadable) throw error;
      ctx.emit({
        type: 'warning',
        message: `${error.message} The checkpoint of version ${checkpoint.version} is passed over for older parts of the log.`,
        file: String(error.context.file ?? checkpoint.files[0]?.key),
      });
      for (const file of checkpoint.files) exclude.add(file.key);
      continue;
    }
    try {
      return await build(store, segment, start, await commits, options.signal);
    } catch (error) {
      // A commit was listed and is gone: the log was cleaned up in between.
      if (!isTableError(error, 'NOT_FOUND') || listings++ >= LISTINGS) throw error;
    }
  }
}

/** What the replay of a segment's commits starts from. */
interface Start {
  readonly replay: Replay;
  readonly gathered: Gathered;
  readonly tombstones: readonly TombstoneSource[];
}

async function readStart(store: Store, segment: LogSegment, signal: AbortSignal | undefined): Promise<Start> {
  const partitions = new PartitionValues();
  const gathered = gather();
  const { checkpoint } = segment;
  if (checkpoint === undefined) return { replay: Replay.over([], partitions), gathered, tombstones: [] };
  const { actions, blocks, json, tombstones } = await readCheckpoint(store, checkpoint, partitions, signal);
  const replay = Replay.over(blocks, partitions);
  const take = (action: Action): void => takeAction(gathered, action);
  actions.forEach(take);
  if (json) replay.commit(json.bytes, { version: checkpoint.version, file: json.file }, take);
  return { replay, gathered, tombstones };
}

async function build(
  store: Store,
  segment: LogSegment,
  start: Start,
  files: readonly Uint8Array[],
  signal: AbortSignal | undefined,
): Promise<OwnState> {
  const { replay, gathered, tombstones } = start;
  replayCommits(replay, gathered, segment.commits, files);
  const timestamp = await timestampOf(store, segment, gathered, signal);
  return makeState({
    url: store.url,
    version: segment.version,
    timestamp,
    replay,
    gathered,
    previous: undefined,
    checkpointTombstones: tombstones,
    mark: markOfFile(segment.version, segment.commits.at(-1) ?? segment.checkpointCommit),
  });
}

async function timestampOf(
  store: Store,
  segment: LogSegment,
  gathered: Gathered,
  signal: AbortSignal | undefined,
): Promise<number> {
  const { version, modifiedAt, checksum, checkpointCommit, commits } = segment;
  if (gathered.metadata === undefined || !hasInCommitTimestamp(gathered.metadata, version)) return modifiedAt;
  if (commits.length > 0) return gathered.inCommitTimestamp ?? modifiedAt;
  return (
    (await readInCommitTimestamp(store, { version, commit: checkpointCommit, checksum }, signal)) ??
    modifiedAt
  );
}

function fetchCommits(
  store: Store,
  commits: readonly CommitFile[],
  signal: AbortSignal | undefined,
): Promise<Uint8Array[]> {
  return mapLimit(commits, LANES, (commit) => readLogFile(store, commit, signal));
}

function replayCommits(
  replay: Replay,
  gathered: Gathered,
  commits: readonly CommitKey[],
  files: readonly Uint8Array[],
): void {
  commits.forEach((commit, index) => {
    gathered.inCommitTimestamp = undefined;
    gathered.writtenAt = undefined;
    const bytes = files[index];
    if (bytes === undefined)
      throw new TableError('INTERNAL', 'A commit was not fetched.', { version: commit.version });
    replay.commit(bytes, { version: commit.version, file: commit.key }, (action) =>
      takeAction(gathered, action),
    );
  });
}
