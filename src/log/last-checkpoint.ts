import { createHash } from 'node:crypto';
import { isTableError } from '../errors.js';
import type { Context } from '../runtime/context.js';
import type { Json, JsonObject } from '../schema/types.js';
import type { Store } from '../store/store.js';
import { parseJson, RawNumber, stringifyJson } from './json.js';
import { LOG_LIMITS } from './limits.js';
import { LAST_CHECKPOINT_KEY } from './paths.js';

/** The content of `_last_checkpoint` (protocol: Last Checkpoint File Schema). A hint: nothing but `version` is ever relied on. */
export interface LastCheckpoint {
  readonly version: number;
  /** The number of actions in the checkpoint. */
  readonly size: number;
  /** The number of files of a multi-part checkpoint. */
  readonly parts?: number;
  readonly sizeInBytes?: number;
  readonly numOfAddFiles?: number;
  /** The name of a UUID-named checkpoint. */
  readonly v2Path?: string;
}

/**
 * The hint, or undefined where there is none or it cannot be used: torn, not JSON, without a version, with a checksum that does not fit, or too large. Then a
 * warning names the file, because everything can be learned from a listing. One request. Only a store that fails is an error.
 */
export async function readLastCheckpoint(
  store: Store,
  ctx: Context,
  signal?: AbortSignal,
): Promise<LastCheckpoint | undefined> {
  let bytes: Uint8Array;
  try {
    bytes = await store.getRange(LAST_CHECKPOINT_KEY, 0, LOG_LIMITS.hintBytes + 1, { signal });
  } catch (error) {
    if (isTableError(error, 'NOT_FOUND')) return undefined;
    throw error;
  }
  const problem = (what: string): undefined => {
    ctx.emit({
      type: 'warning',
      message: `${LAST_CHECKPOINT_KEY} of ${store.url} ${what}; the log is listed from its start instead.`,
      file: LAST_CHECKPOINT_KEY,
    });
    return undefined;
  };
  if (bytes.length > LOG_LIMITS.hintBytes) return problem('is too large');
  return parseLastCheckpoint(bytes) ?? problem('is torn or does not hold what the protocol says');
}

/** Undefined for anything that is not a sound hint. */
export function parseLastCheckpoint(bytes: Uint8Array): LastCheckpoint | undefined {
  let value: unknown;
  try {
    value = parseJson(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch {
    return undefined;
  }
  if (!isObject(value)) return undefined;
  const hint = value as Record<string, Json>;
  const count = (name: string): number | undefined =>
    isCount(hint[name]) ? (hint[name] as number) : undefined;
  const version = count('version');
  if (version === undefined) return undefined;
  if (typeof hint.checksum === 'string' && hint.checksum !== jsonChecksum(hint)) return undefined;
  const v2: unknown = hint.v2Checkpoint;
  const v2Path = isObject(v2) && typeof v2.path === 'string' ? v2.path : undefined;
  return {
    version,
    size: count('size') ?? 0,
    parts: count('parts'),
    sizeInBytes: count('sizeInBytes'),
    numOfAddFiles: count('numOfAddFiles'),
    v2Path,
  };
}

/** The bytes of `_last_checkpoint` for a classic checkpoint, with the checksum that the protocol asks writers for. */
export function serializeLastCheckpoint(hint: Omit<LastCheckpoint, 'v2Path'>): Uint8Array {
  const { version, size, parts, sizeInBytes, numOfAddFiles } = hint;
  const object: Record<string, Json> = { version, size };
  if (parts !== undefined) object.parts = parts;
  if (sizeInBytes !== undefined) object.sizeInBytes = sizeInBytes;
  if (numOfAddFiles !== undefined) object.numOfAddFiles = numOfAddFiles;
  return new TextEncoder().encode(stringifyJson({ ...object, checksum: jsonChecksum(object) }));
}

/** The MD5 of the canonical form without the top-level `checksum` (protocol: JSON checksum), 32 hexadecimal digits. */
export function jsonChecksum(value: JsonObject): string {
  return createHash('md5').update(canonicalJson(value)).digest('hex');
}

/** The canonical form that the checksum is taken of (protocol: JSON checksum). */
export function canonicalJson(value: JsonObject): string {
  const leaves: { path: string; value: string }[] = [];
  for (const [key, member] of Object.entries(value)) {
    if (key !== 'checksum') collect(canonicalText(key), member, leaves);
  }
  // Paths are ASCII after encoding, so the order of UTF-16 units is that of bytes.
  leaves.sort((a, b) => (a.path < b.path ? -1 : a.path > b.path ? 1 : 0));
  return leaves.map((leaf) => `${leaf.path}=${leaf.value}`).join(',');
}

function collect(path: string, value: Json, leaves: { path: string; value: string }[]): void {
  if (Array.isArray(value)) {
    for (const [index, element] of value.entries()) collect(`${path}+${index}`, element, leaves);
  } else if (isObject(value)) {
    for (const [key, member] of Object.entries(value))
      collect(`${path}+${canonicalText(key)}`, member, leaves);
  } else {
    leaves.push({ path, value: typeof value === 'string' ? canonicalText(value) : stringifyJson(value) });
  }
}

/** Quoted, with every octet but letters, digits and `-._~` percent-encoded. */
function canonicalText(text: string): string {
  let encoded = '"';
  for (const byte of new TextEncoder().encode(text)) {
    const char = String.fromCharCode(byte);
    encoded += /[A-Za-z0-9\-._~]/.test(char) ? char : `%${byte.toString(16).toUpperCase().padStart(2, '0')}`;
  }
  return `${encoded}"`;
}

function isCount(value: unknown): boolean {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

function isObject(value: unknown): value is JsonObject {
  return (
    typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof RawNumber)
  );
}
