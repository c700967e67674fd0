import { isTableError, TableError } from '../errors.js';

/** The system's error name (`ENOENT`), or undefined for an error that did not come from the disk. */
export function errnoOf(error: unknown): string | undefined {
  if (isTableError(error) || !(error instanceof Error) || !('syscall' in error) || !('code' in error))
    return undefined;
  return typeof error.code === 'string' ? error.code : undefined;
}

/** True where the file, or a folder on the way to it, is not there. */
export function isMissing(error: unknown): boolean {
  const errno = errnoOf(error);
  return errno === 'ENOENT' || errno === 'ENOTDIR';
}

/** What the disk said, as a `TableError` that says what to do; anything else passes as it is. */
export function diskError(error: unknown, operation: string, store: string, key: string): unknown {
  const errno = errnoOf(error);
  if (errno === undefined) return error;
  const context = { store, key, operation, errno };
  if (errno === 'EACCES' || errno === 'EPERM' || errno === 'EROFS')
    return new TableError(
      'PERMISSION_DENIED',
      `The system refused ${operation} of '${key}' in ${store} (${errno}): check who owns the folder and its permissions.`,
      context,
      error,
    );
  if (errno === 'ENAMETOOLONG')
    return new TableError(
      'INVALID_INPUT',
      `A name in '${key}' is longer than the file system of ${store} allows.`,
      context,
      error,
    );
  if (errno === 'ENOSPC' || errno === 'EDQUOT')
    return new TableError(
      'STORE_FAILED',
      `No space is left for '${key}' in ${store} (${errno}).`,
      context,
      error,
    );
  if (errno === 'EMFILE' || errno === 'ENFILE')
    return new TableError(
      'STORE_FAILED',
      `Too many files are open (${errno}); raise the limit of open files (ulimit -n).`,
      context,
      error,
    );
  const said = error instanceof Error ? error.message : String(error);
  return new TableError(
    'STORE_FAILED',
    `The disk failed at ${operation} of '${key}' in ${store}: ${said}.`,
    context,
    error,
  );
}
