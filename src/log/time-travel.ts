import { TableError } from '../errors.js';
import type { Context } from '../runtime/context.js';
import type { Store } from '../store/store.js';
import type { MetadataAction } from './actions.js';
import { type DatedVersion, datedVersions } from './commit-dates.js';
import { readInCommitTimestamp } from './commit-time.js';
import { type LogListing, listLog } from './listing.js';
import { tableProperties } from './properties.js';

/**
 * The newest version committed at or before an instant (milliseconds since the Unix epoch), among those that can still be loaded. `metadata` is that of the newest
 * version: from the version on at which it says in-commit timestamps were enabled those count, before it the modification times of the commits, made to rise
 * (protocol: In-Commit Timestamps, Recommendations for Readers). An instant after the last commit and not after now gives the last one.
 * Throws `VERSION_NOT_FOUND`, which names the earliest or latest time, for an instant before the first version or in the future.
 * One listing, and with in-commit timestamps a few commits.
 */
export async function timestampToVersion(
  store: Store,
  ctx: Context,
  timestamp: number,
  metadata: MetadataAction,
  signal?: AbortSignal,
): Promise<number> {
  const listing = await listLog(store, { signal });
  const dated = datedVersions(listing);
  const first = dated[0];
  const last = dated.at(-1);
  if (!first || !last)
    throw new TableError('NOT_A_TABLE', `There is no Delta table at ${store.url}.`, { url: store.url });
  const properties = tableProperties(metadata.configuration);
  const enablement = properties.inCommitTimestamps
    ? (properties.inCommitTimestampEnablement ?? { version: 0, timestamp: Number.NEGATIVE_INFINITY })
    : undefined;
  const inCommit = enablement ? dated.filter(({ version }) => version >= enablement.version) : [];
  const byFile = enablement ? dated.filter(({ version }) => version < enablement.version) : dated;
  const time = inCommitTimes(store, listing, signal);
  if (timestamp > ctx.clock.now()) {
    const newest = inCommit.length > 0 ? await time(last) : last.modifiedAt;
    if (timestamp > newest) {
      throw outOfRange(
        store.url,
        timestamp,
        `it is in the future; the last commit, version ${last.version}, is of ${iso(newest)}`,
        { latest: newest },
      );
    }
  }
  if (enablement && timestamp >= enablement.timestamp) {
    const found = await lastAtMost(inCommit, timestamp, time);
    if (found) return found.version;
  } else {
    const found = byFile.findLast(({ modifiedAt }) => modifiedAt <= timestamp);
    if (found) return found.version;
  }
  const earliest = byFile.length > 0 && byFile[0] === first ? first.modifiedAt : await time(first);
  throw outOfRange(
    store.url,
    timestamp,
    `the earliest version that can be loaded, ${first.version}, is of ${iso(earliest)}`,
    { earliest },
  );
}

/** In-commit timestamps, each read once; a version whose commit and checksum are gone has its file's time. */
function inCommitTimes(
  store: Store,
  listing: LogListing,
  signal: AbortSignal | undefined,
): (dated: DatedVersion) => Promise<number> {
  const known = new Map<number, Promise<number>>();
  return (dated) => {
    const { version, modifiedAt } = dated;
    let time = known.get(version);
    if (!time) {
      const files = {
        version,
        commit: listing.commits.get(version),
        checksum: listing.checksums.get(version),
      };
      time = readInCommitTimestamp(store, files, signal).then((found) => found ?? modifiedAt);
      known.set(version, time);
    }
    return time;
  };
}

/** Binary search: in-commit timestamps rise with versions. */
async function lastAtMost(
  versions: readonly DatedVersion[],
  timestamp: number,
  time: (dated: DatedVersion) => Promise<number>,
): Promise<DatedVersion | undefined> {
  let low = 0;
  let high = versions.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((await time(versions[middle]!)) <= timestamp) low = middle + 1;
    else high = middle;
  }
  return versions[low - 1];
}

function outOfRange(
  url: string,
  timestamp: number,
  why: string,
  context: Record<string, number>,
): TableError {
  return new TableError('VERSION_NOT_FOUND', `No version of ${url} is as of ${iso(timestamp)}: ${why}.`, {
    url,
    timestamp,
    ...context,
  });
}

function iso(ms: number): string {
  return Math.abs(ms) <= 8.64e15 ? new Date(ms).toISOString() : `${ms} ms`;
}

const TIMESTAMP =
  /^(\d{4})-(\d{2})-(\d{2})(?:[T ](\d{2}):(\d{2})(?::(\d{2})(?:[.,](\d{1,9}))?)?\s*(Z|[+-]\d{2}(?::?\d{2})?)?)?$/i;

/**
 * The instant a text names, in whole milliseconds since the Unix epoch, rounded down: a date, or a date and time with or without seconds, fraction and zone.
 * Without a zone it is UTC, whatever the zone of the machine, so that one command means one version everywhere. Anything else is `INVALID_INPUT`.
 */
export function parseTimestampArgument(text: string): number {
  const [, year, month, day, hour = '0', minute = '0', second = '0', fraction = '', zone = 'Z'] =
    TIMESTAMP.exec(text.trim()) ?? [];
  if (year !== undefined) {
    const [y, mo, d, h, mi, s] = [year, month, day, hour, minute, second].map(Number) as [
      number,
      number,
      number,
      number,
      number,
      number,
    ];
    const date = new Date(0);
    // Not Date.UTC, which takes the years 0 to 99 for 1900 to 1999.
    date.setUTCFullYear(y, mo - 1, d);
    date.setUTCHours(h, mi, s, Number(fraction.padEnd(3, '0').slice(0, 3)));
    const offset = offsetMinutes(zone);
    const exists = date.getUTCMonth() === mo - 1 && date.getUTCDate() === d && h < 24 && mi < 60 && s < 60;
    if (exists && offset !== undefined) return date.getTime() - offset * 60_000;
  }
  throw new TableError(
    'INVALID_INPUT',
    `'${text}' is not a time. Give it as 2024-01-31, 2024-01-31T12:00:00 (UTC) or 2024-01-31T12:00:00+01:00.`,
    { value: text },
  );
}

function offsetMinutes(zone: string): number | undefined {
  if (/^z$/i.test(zone)) return 0;
  const [, sign, hours, minutes = '0'] = /^([+-])(\d{2}):?(\d{2})?$/.exec(zone) ?? [];
  if (Number(hours) > 18 || Number(minutes) > 59) return undefined;
  return (sign === '-' ? -1 : 1) * (Number(hours) * 60 + Number(minutes));
}
