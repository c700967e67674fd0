import { homedir } from 'node:os';
import { resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { TableError } from '../errors.js';

/** Where a store is, taken apart. `prefix` has no slash at either end and is '' for a whole bucket. */
export type Location =
  | { readonly kind: 's3'; readonly bucket: string; readonly prefix: string }
  | { readonly kind: 'file'; readonly path: string }
  | { readonly kind: 'memory'; readonly name: string };

/**
 * Takes apart what a person may write for a table: `s3://bucket/prefix` (`s3a://` and `s3n://` too), `file:///path`, `memory://name`, or a
 * local path, relative to the working folder or with `~/`. An S3 URL is taken as it stands (`%20` is three characters of the key); a file URL
 * is percent-decoded. Trailing slashes mean nothing. Throws `INVALID_INPUT`; touches no disk and no network.
 */
export function parseLocation(text: string): Location {
  const scheme = /^([a-z][a-z0-9+.-]+):\/\//i.exec(text)?.[1]?.toLowerCase();
  if (scheme === undefined) return parsePath(text);
  const rest = text.slice(scheme.length + 3);
  if (scheme === 's3' || scheme === 's3a' || scheme === 's3n') return parseS3(text, rest);
  if (scheme === 'file') return parseFileUrl(text);
  if (scheme === 'memory') return parseMemory(text, rest);
  throw new TableError('INVALID_INPUT', `'${text}' is not a table's place: ${hint(scheme)}`, {
    url: text,
    scheme,
  });
}

/** The canonical URL of a location: no trailing slash; file paths percent-encoded, S3 keys as they are. */
export function formatLocation(location: Location): string {
  if (location.kind === 's3')
    return location.prefix ? `s3://${location.bucket}/${location.prefix}` : `s3://${location.bucket}`;
  if (location.kind === 'memory') return `memory://${location.name}`;
  return pathToFileURL(location.path).href.replace(/\/+$/, '') || 'file:///';
}

/** The canonical URL of what a person may write for a table; equal for every spelling of one place. See `parseLocation`. */
export function resolveUrl(text: string): string {
  return formatLocation(parseLocation(text));
}

function parsePath(text: string): Location {
  if (text.trim() === '')
    throw new TableError('INVALID_INPUT', 'The URL or path of a table is empty.', { url: text });
  if (text.includes('\0'))
    throw new TableError('INVALID_INPUT', 'A path cannot hold a NUL character.', { url: text });
  if (text === '~' || text.startsWith('~/')) return { kind: 'file', path: resolve(homedir(), text.slice(2)) };
  return { kind: 'file', path: resolve(text) };
}

function parseS3(text: string, rest: string): Location {
  const slash = rest.indexOf('/');
  const bucket = slash < 0 ? rest : rest.slice(0, slash);
  const prefix = slash < 0 ? '' : rest.slice(slash).replace(/^\/+|\/+$/g, '');
  if (!/^[a-z0-9A-Z._-]+$/.test(bucket))
    throw new TableError('INVALID_INPUT', `'${text}' names no bucket; write s3://bucket/prefix.`, {
      url: text,
    });
  return { kind: 's3', bucket, prefix };
}

function parseFileUrl(text: string): Location {
  try {
    const url = new URL(text);
    if (url.search || url.hash) throw new TypeError('a ? or # in a path is written %3F or %23');
    return { kind: 'file', path: resolve(fileURLToPath(url)) };
  } catch (error) {
    throw new TableError(
      'INVALID_INPUT',
      `'${text}' is not the URL of a local file; write file:///path.`,
      { url: text },
      error,
    );
  }
}

function parseMemory(text: string, rest: string): Location {
  const name = rest.replace(/\/+$/, '');
  if (name === '')
    throw new TableError('INVALID_INPUT', `'${text}' has no name; write memory://name.`, { url: text });
  return { kind: 'memory', name };
}

function hint(scheme: string): string {
  if (scheme === 'gs' || scheme === 'gcs')
    return 'Google Cloud Storage is reached as s3:// with its S3 endpoint in AWS_ENDPOINT_URL_S3.';
  if (scheme === 'http' || scheme === 'https')
    return 'write s3://bucket/prefix and put the address of the server into AWS_ENDPOINT_URL_S3.';
  return `'${scheme}' is not supported; write s3://bucket/prefix, file:///path or a local path.`;
}
