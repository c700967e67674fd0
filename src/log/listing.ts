import type { ObjectMeta, Store } from '../store/store.js';
import { parseLogKey, VERSIONED_PREFIX, versionKey } from './paths.js';

/** A JSON file to replay: a commit, or a log compaction file that stands for the commits `from` to `version`. */
export interface CommitFile {
  readonly version: number;
  /** The first version it covers: `version` itself for a commit. */
  readonly from: number;
  readonly key: string;
  readonly size: number;
  /** Milliseconds since the Unix epoch. */
  readonly modifiedAt: number;
}

/** One checkpoint, complete as far as a listing can tell. */
export interface CheckpointFiles {
  readonly version: number;
  readonly kind: 'classic' | 'parts' | 'uuid';
  readonly format: 'parquet' | 'json';
  /** One file, or the parts in their order. */
  readonly files: readonly ObjectMeta[];
}

/** A checkpoint that the listing shows to be unusable, and why. */
export interface UnusableCheckpoint {
  readonly version: number;
  readonly file: string;
  readonly reason: string;
}

/** The files of the log by version, as one listing showed them. Everything whose name the protocol does not know is left out. */
export interface LogListing {
  readonly commits: ReadonlyMap<number, CommitFile>;
  /** By version, ascending; of one version the preferred one last. */
  readonly checkpoints: readonly CheckpointFiles[];
  readonly unusable: readonly UnusableCheckpoint[];
  /** The log compaction files by the first version they cover, the widest last. */
  readonly compacted: ReadonlyMap<number, readonly CommitFile[]>;
  readonly checksums: ReadonlyMap<number, ObjectMeta>;
  /** The greatest version with a commit or a file of a checkpoint; -1 where there is none. */
  readonly newest: number;
}

/** The least that a Parquet file (two magic words and a footer length) and a JSON checkpoint (one action) can have. */
const LEAST_BYTES = { parquet: 12, json: 2 } as const;

/**
 * Lists the versions `from` to `to` of the log, both included. Stores that list in order are not asked further than `to`. Leftovers of crashed writers and
 * files in sub-folders are passed over.
 */
export async function listLog(
  store: Store,
  range: { readonly from?: number; readonly to?: number; readonly signal?: AbortSignal },
): Promise<LogListing> {
  const { from = 0, to = Number.MAX_SAFE_INTEGER, signal } = range;
  const files: ObjectMeta[] = [];
  const after = from > 0 ? versionKey(from) : undefined;
  const beyond = to < Number.MAX_SAFE_INTEGER ? versionKey(to + 1) : undefined;
  for await (const page of store.list(VERSIONED_PREFIX, { after, signal })) {
    let past = false;
    for (const file of page) {
      if (beyond !== undefined && file.key >= beyond) past = true;
      else files.push(file);
    }
    if (past && store.ordered) break;
  }
  return arrange(files, from, to);
}

function arrange(files: readonly ObjectMeta[], from: number, to: number): LogListing {
  const commits = new Map<number, CommitFile>();
  const compacted = new Map<number, CommitFile[]>();
  const checksums = new Map<number, ObjectMeta>();
  const whole: CheckpointFiles[] = [];
  const parts = new Map<string, { version: number; parts: number; found: Map<number, ObjectMeta> }>();
  const unusable: UnusableCheckpoint[] = [];
  let newest = -1;
  for (const file of files) {
    const name = parseLogKey(file.key);
    if (name === undefined || name.version < from || name.version > to) continue;
    if (name.kind === 'checksum') {
      checksums.set(name.version, file);
      continue;
    }
    if (name.kind === 'compacted') {
      const list = compacted.get(name.from) ?? [];
      list.push({
        version: name.version,
        from: name.from,
        key: file.key,
        size: file.size,
        modifiedAt: file.modifiedAt,
      });
      compacted.set(name.from, list);
      continue;
    }
    newest = Math.max(newest, name.version);
    if (name.kind === 'commit') {
      commits.set(name.version, {
        version: name.version,
        from: name.version,
        key: file.key,
        size: file.size,
        modifiedAt: file.modifiedAt,
      });
      continue;
    }
    const format = name.kind === 'uuid' ? name.format : 'parquet';
    if (file.size < LEAST_BYTES[format]) {
      unusable.push({ version: name.version, file: file.key, reason: `has ${file.size} bytes` });
    } else if (name.kind === 'part') {
      const group = `${name.version}/${name.parts}`;
      const set = parts.get(group) ?? { version: name.version, parts: name.parts, found: new Map() };
      set.found.set(name.part, file);
      parts.set(group, set);
    } else {
      whole.push({ version: name.version, kind: name.kind, format, files: [file] });
    }
  }
  for (const { version, parts: count, found } of parts.values()) {
    const present = [...found].sort(([a], [b]) => a - b).map(([, file]) => file);
    if (present.length === count) whole.push({ version, kind: 'parts', format: 'parquet', files: present });
    else
      unusable.push({
        version,
        file: present[0]!.key,
        reason: `has only ${present.length} of its ${count} parts`,
      });
  }
  for (const list of compacted.values()) list.sort((a, b) => a.version - b.version);
  whole.sort(
    (a, b) =>
      a.version - b.version || RANK[a.kind] - RANK[b.kind] || (a.files[0]!.key < b.files[0]!.key ? -1 : 1),
  );
  return { commits, checkpoints: whole, unusable, compacted, checksums, newest };
}

/** Of several checkpoints of one version the one written in one piece and with the newer form is preferred; all hold the same. */
const RANK = { parts: 0, classic: 1, uuid: 2 } as const;

/** The versions that a listing of the whole log lets one load, as ranges in ascending order (both ends included). */
export function loadableRanges(listing: LogListing): { first: number; last: number }[] {
  const starts = new Set(listing.checkpoints.map((checkpoint) => checkpoint.version));
  const versions = [...new Set([...starts, ...listing.commits.keys()])].sort((a, b) => a - b);
  const ranges: { first: number; last: number }[] = [];
  for (const version of versions) {
    const current = ranges.at(-1);
    if (current?.last === version - 1 && listing.commits.has(version)) current.last = version;
    else if (starts.has(version) || version === 0) {
      if (current?.last === version - 1) current.last = version;
      else ranges.push({ first: version, last: version });
    }
  }
  return ranges;
}
