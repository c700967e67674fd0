import { isTableError } from '../errors.js';
import type { ObjectMeta, Store } from '../store/store.js';
import { parseActionLine } from './action-lines.js';
import type { Action, CommitInfoAction, MetadataAction } from './actions.js';
import { parseVersionChecksum } from './checksum-file.js';
import { readLogFile } from './limits.js';
import type { CommitFile } from './listing.js';
import { tableProperties } from './properties.js';
import { OTHER_LINE, scanActionSpans } from './scan-lines.js';

/** Commits up to this are read whole; of larger ones the head is asked first, because writers put `commitInfo` there. */
const WHOLE_BYTES = 2 ** 18;
const HEAD_BYTES = 2 ** 16;

/** The `commitInfo` of a commit, or undefined where it has none. One request, unless the commit is large and does not start with it. */
export async function readCommitInfo(
  store: Store,
  commit: CommitFile,
  signal?: AbortSignal,
): Promise<CommitInfoAction | undefined> {
  if (commit.size > WHOLE_BYTES) {
    const head = await store.getRange(commit.key, 0, HEAD_BYTES, { signal });
    const end = head.lastIndexOf(NEWLINE);
    const found = end > 0 ? findCommitInfo(head.subarray(0, end), commit) : undefined;
    if (found) return found;
  }
  return findCommitInfo(await readLogFile(store, commit, signal), commit);
}

const NEWLINE = 0x0a;

/** The `commitInfo` among the lines of a commit; the lines of files are not parsed. Throws `CORRUPT_LOG` where a line before it cannot be read. */
export function findCommitInfo(
  bytes: Uint8Array,
  commit: Pick<CommitFile, 'version' | 'key'>,
): CommitInfoAction | undefined {
  const { count, kinds, starts, ends } = scanActionSpans(bytes);
  for (let i = 0; i < count; i++) {
    if (kinds[i] !== OTHER_LINE) continue;
    const actions: Action[] = [];
    parseActionLine(bytes, starts[i]!, ends[i]!, { version: commit.version, file: commit.key }, actions);
    for (const action of actions) if ('commitInfo' in action) return action.commitInfo;
  }
  return undefined;
}

/** True when the time of `version` is its in-commit timestamp rather than its file's modification time (protocol: In-Commit Timestamps). */
export function hasInCommitTimestamp(metadata: MetadataAction, version: number): boolean {
  const properties = tableProperties(metadata.configuration);
  if (!properties.inCommitTimestamps) return false;
  return version >= (properties.inCommitTimestampEnablement?.version ?? 0);
}

/**
 * The in-commit timestamp of a version in milliseconds, from its commit or, where that was cleaned up, from its checksum file; undefined where neither tells.
 */
export async function readInCommitTimestamp(
  store: Store,
  files: {
    readonly version: number;
    readonly commit: CommitFile | undefined;
    readonly checksum: ObjectMeta | undefined;
  },
  signal?: AbortSignal,
): Promise<number | undefined> {
  const { version, commit, checksum } = files;
  if (commit) return (await readCommitInfo(store, commit, signal))?.inCommitTimestamp;
  if (!checksum) return undefined;
  try {
    return parseVersionChecksum(await readLogFile(store, checksum, signal), { version, file: checksum.key })
      ?.inCommitTimestamp;
  } catch (error) {
    if (isTableError(error, 'NOT_FOUND', 'LIMIT_EXCEEDED')) return undefined;
    throw error;
  }
}
