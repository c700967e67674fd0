import { createHash } from 'node:crypto';
import { TableError } from '../errors.js';

/** The folder name of NULL, as Hive and Spark have it. */
export const NULL_PARTITION_FOLDER = '__HIVE_DEFAULT_PARTITION__';

/** Local file systems take 255 bytes in a name; some room is left for suffixes. */
const LONGEST_FOLDER_BYTES = 240;
const KEPT_FOLDER_BYTES = 200;

// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what Hive escapes.
const HIVE_ESCAPED = /[\u0001-\u001f"#%'*/:=?\\\u007f{[\]^\u0000]/g;

/**
 * The folder of a partition, as an object key below the table (no slash at its end): `p=a%2Fb c%25/q=1`. The characters that Spark escapes are escaped, NULL
 * and '' become the Hive default folder. A name longer than a file system takes is cut and ends with a digest. Folders are cosmetic: by the protocol the
 * values are those of `add.partitionValues`, and two partitions may share a folder. The result is '' when there are no partition columns.
 */
export function hivePartitionFolder(names: readonly string[], rawValues: readonly (string | null)[]): string {
  return names.map((name, i) => folderSegment(name, rawValues[i] ?? null)).join('/');
}

function folderSegment(name: string, raw: string | null): string {
  const value = raw === null || raw === '' ? NULL_PARTITION_FOLDER : hiveEscape(raw);
  const segment = `${hiveEscape(name)}=${value}`;
  if (Buffer.byteLength(segment) <= LONGEST_FOLDER_BYTES) return segment;
  const digest = createHash('sha256').update(segment).digest('hex').slice(0, 16);
  return `${cutToBytes(segment, KEPT_FOLDER_BYTES)}-${digest}`;
}

function hiveEscape(text: string): string {
  return text.replace(HIVE_ESCAPED, (c) => `%${c.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`);
}

/** The longest beginning of at most `bytes` bytes that ends neither inside a character nor inside an escape. */
function cutToBytes(text: string, bytes: number): string {
  let end = 0;
  let size = 0;
  for (const unit of text.match(/%[0-9A-F]{2}|[\s\S]/gu) ?? []) {
    size += Buffer.byteLength(unit);
    if (size > bytes) break;
    end += unit.length;
  }
  return text.slice(0, end);
}

/** What stands in a URI path as it is; RFC 3986 unreserved characters and the delimiters that mean nothing there. */
const URI_SAFE = /[^A-Za-z0-9\-._~!$&'()*+,;=:@/]/gu;

/**
 * The `add.path` of an object key relative to the table: a URI reference (protocol: Add File), each byte of a character outside the URI alphabet
 * percent-encoded, `%` included. `p=a%2Fb c%25/f` becomes `p=a%252Fb%20c%2525/f`. Errors: `INVALID_INPUT` for a lone surrogate.
 */
export function encodePath(objectKey: string): string {
  const encoded = objectKey.replace(URI_SAFE, (c) => percentEncode(c, objectKey));
  // A colon in the first segment would read as a scheme (RFC 3986, 4.2).
  const slash = encoded.indexOf('/');
  const first = slash < 0 ? encoded : encoded.slice(0, slash);
  return first.includes(':') ? first.replaceAll(':', '%3A') + encoded.slice(first.length) : encoded;
}

function percentEncode(character: string, key: string): string {
  try {
    return encodeURIComponent(character);
  } catch (error) {
    throw new TableError(
      'INVALID_INPUT',
      `A path has a lone surrogate, which UTF-8 cannot hold: ${JSON.stringify(key)}.`,
      {},
      error,
    );
  }
}

/**
 * The object key of an `add.path`: percent-escapes decoded exactly once, as `decodeURIComponent` does; `+` stays. Errors: `CORRUPT_LOG` for a malformed
 * escape or a NUL.
 */
export function decodePath(addPath: string): string {
  let key = addPath;
  if (addPath.includes('%')) {
    try {
      key = decodeURIComponent(addPath);
    } catch (error) {
      throw new TableError(
        'CORRUPT_LOG',
        `The log names a file whose path is not a valid URI: ${excerpt(addPath)}.`,
        { path: excerpt(addPath) },
        error,
      );
    }
  }
  if (key.includes('\0')) {
    throw new TableError(
      'CORRUPT_LOG',
      `The log names a file whose path has a NUL character: ${excerpt(addPath)}.`,
      { path: excerpt(addPath) },
    );
  }
  return key;
}

/** Where an `add.path` points. */
export type PathClass =
  /** Inside the table: the object key below its root. */
  | { readonly kind: 'relative'; readonly key: string }
  /** An absolute URI, still encoded; a path without a scheme becomes a `file:` URI. */
  | { readonly kind: 'absolute'; readonly url: string }
  /** Relative with a `..` segment, so that it may leave the table: the decoded path. */
  | { readonly kind: 'parent'; readonly path: string };

/**
 * Tells paths inside the table from those that point elsewhere (absolute URIs, absolute paths, `..` segments however encoded), which callers refuse unless
 * external files are allowed. A folder named `p=..` is inside. Errors: `CORRUPT_LOG` as `decodePath`, and for an empty path.
 */
export function classifyPath(addPath: string): PathClass {
  if (addPath === '')
    throw new TableError('CORRUPT_LOG', 'The log names a file with an empty path.', { path: '' });
  if (/^[A-Za-z][A-Za-z0-9+.-]*:\//.test(addPath)) return { kind: 'absolute', url: addPath };
  if (addPath.startsWith('/'))
    return {
      kind: 'absolute',
      url: `file://${addPath.startsWith('//') ? addPath.replace(/^\/+/, '/') : addPath}`,
    };
  const key = decodePath(addPath);
  if (key.startsWith('/')) return { kind: 'absolute', url: `file://${encodePath(key)}` };
  if (key.split(/[/\\]/).includes('..')) return { kind: 'parent', path: key };
  return { kind: 'relative', key };
}

function excerpt(text: string): string {
  return JSON.stringify(text.length <= 200 ? text : `${text.slice(0, 200)}...`);
}
