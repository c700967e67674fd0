import { TableError } from '../errors.js';

/** The folder of the log, as the prefix of its keys. */
export const LOG_PREFIX = '_delta_log/';

/**
 * The prefix of every file named by a version. Versions have 20 digits and fit 2^53, so all start with four zeros; listing by this prefix leaves
 * sidecars, staged commits and other folders out.
 */
export const VERSIONED_PREFIX = '_delta_log/0000';

export const LAST_CHECKPOINT_KEY = '_delta_log/_last_checkpoint';
export const SIDECAR_PREFIX = '_delta_log/_sidecars/';

/** What the name of a file directly in the log folder says (protocol: Delta Log Entries, Checkpoints, Log Compaction Files, Version Checksum File). */
export type LogFileName =
  | { readonly kind: 'commit'; readonly version: number }
  | { readonly kind: 'checksum'; readonly version: number }
  | { readonly kind: 'compacted'; readonly from: number; readonly version: number }
  | { readonly kind: 'classic'; readonly version: number }
  | { readonly kind: 'part'; readonly version: number; readonly part: number; readonly parts: number }
  | {
      readonly kind: 'uuid';
      readonly version: number;
      readonly uuid: string;
      readonly format: 'json' | 'parquet';
    };

const NAME = /^_delta_log\/(\d{20})\.(.+)$/;
const PART = /^checkpoint\.(\d{10})\.(\d{10})\.parquet$/;
const UUID = /^checkpoint\.([0-9a-zA-Z-]+)\.(json|parquet)$/;
const COMPACTED = /^(\d{20})\.compacted\.json$/;

/** Undefined for every key that is not one of the names of the protocol: temporary files, other folders, versions beyond 2^53. */
export function parseLogKey(key: string): LogFileName | undefined {
  const [, digits, rest] = NAME.exec(key) ?? [];
  if (digits === undefined || rest === undefined) return undefined;
  const version = Number(digits);
  if (!Number.isSafeInteger(version)) return undefined;
  if (rest === 'json') return { kind: 'commit', version };
  if (rest === 'crc') return { kind: 'checksum', version };
  if (rest === 'checkpoint.parquet') return { kind: 'classic', version };
  const part = PART.exec(rest);
  if (part) {
    const [index, parts] = [Number(part[1]), Number(part[2])];
    return index >= 1 && index <= parts ? { kind: 'part', version, part: index, parts } : undefined;
  }
  const uuid = UUID.exec(rest);
  if (uuid) return { kind: 'uuid', version, uuid: uuid[1]!, format: uuid[2] as 'json' | 'parquet' };
  const compacted = COMPACTED.exec(rest);
  if (compacted) {
    const last = Number(compacted[1]);
    return Number.isSafeInteger(last) && last > version
      ? { kind: 'compacted', from: version, version: last }
      : undefined;
  }
  return undefined;
}

/** `_delta_log/00000000000000000007`: every file of version 7 comes after it and starts with it. */
export function versionKey(version: number): string {
  if (!Number.isSafeInteger(version) || version < 0)
    throw new TableError('INTERNAL', `${version} is not a version.`, { version });
  return `${LOG_PREFIX}${String(version).padStart(20, '0')}`;
}

export function commitPath(version: number): string {
  return `${versionKey(version)}.json`;
}

export function checksumKey(version: number): string {
  return `${versionKey(version)}.crc`;
}

export function classicCheckpointKey(version: number): string {
  return `${versionKey(version)}.checkpoint.parquet`;
}

/** `part` counts from 1. */
export function checkpointPartKey(version: number, part: number, parts: number): string {
  const [index, count] = [part, parts].map((n) => String(n).padStart(10, '0'));
  return `${versionKey(version)}.checkpoint.${index}.${count}.parquet`;
}

export function uuidCheckpointKey(version: number, uuid: string, format: 'json' | 'parquet'): string {
  return `${versionKey(version)}.checkpoint.${uuid}.${format}`;
}

export function compactedKey(from: number, to: number): string {
  return `${versionKey(from)}.${versionKey(to).slice(LOG_PREFIX.length)}.compacted.json`;
}

/**
 * The key of a sidecar by the URI-encoded path that a checkpoint gives it. Sidecars live in the table's own sidecar folder (protocol: Sidecar File
 * Information), so a path with folders must end in that one, and only the name counts.
 */
export function sidecarKey(path: string): string {
  const cut = path.lastIndexOf('/') + 1;
  const folder = path.slice(0, cut);
  let name: string;
  try {
    name = decodeURIComponent(path.slice(cut));
  } catch {
    name = '';
  }
  const own = folder === '' || `/${folder}`.endsWith(`/${SIDECAR_PREFIX}`);
  if (!own || name === '' || name === '.' || name === '..' || name.includes('/')) {
    throw new TableError(
      'CORRUPT_LOG',
      `A checkpoint names the sidecar ${JSON.stringify(path)}, which is no file of ${SIDECAR_PREFIX}.`,
      { path },
    );
  }
  return `${SIDECAR_PREFIX}${name}`;
}

/** True for the files that make a folder a table: commits and checkpoints. */
export function isLogFile(key: string): boolean {
  const kind = parseLogKey(key)?.kind;
  return kind !== undefined && kind !== 'checksum' && kind !== 'compacted';
}
