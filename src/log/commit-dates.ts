import { type LogListing, loadableRanges } from './listing.js';

/** A version that can be loaded, with the time its files show. */
export interface DatedVersion {
  readonly version: number;
  /**
   * Milliseconds: the modification time of the commit, or of the checkpoint where the commit is gone, and at least one more than that of the version before:
   * clocks and copies of folders put files in any order, but versions have one.
   */
  readonly modifiedAt: number;
}

/** Every version that can be loaded, ascending. */
export function datedVersions(listing: LogListing): DatedVersion[] {
  const ranges = loadableRanges(listing);
  const dated: DatedVersion[] = [];
  let range = 0;
  for (const [version, modifiedAt] of timesOf(listing)) {
    while (range < ranges.length && ranges[range]!.last < version) range++;
    const current = ranges[range];
    if (current && version >= current.first) dated.push({ version, modifiedAt });
  }
  return dated;
}

/** The times of the versions of a listing, ascending. They are those of the log where the listing begins with it, or early enough. */
export function timesOf(listing: LogListing): Map<number, number> {
  const found = new Map<number, number>();
  for (const checkpoint of listing.checkpoints)
    found.set(checkpoint.version, checkpoint.files.at(-1)!.modifiedAt);
  for (const commit of listing.commits.values()) found.set(commit.version, commit.modifiedAt);
  const times = new Map<number, number>();
  let last = Number.NEGATIVE_INFINITY;
  for (const version of [...found.keys()].sort((a, b) => a - b)) {
    last = Math.max(found.get(version)!, last + 1);
    times.set(version, last);
  }
  return times;
}
