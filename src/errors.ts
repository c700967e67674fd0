/** What the caller does next: try again, mend the input, mend the table, mend the store, report a bug. */
export type ErrorKind = 'retry' | 'input' | 'table' | 'store' | 'bug';

/** Every error code with its kind and meaning. `spec/errors.md` repeats this table and a test compares the two. */
export const ERROR_CODES = {
  ABORTED: { kind: 'retry', meaning: 'The caller aborted the operation by its signal.' },
  APPEND_ONLY: { kind: 'table', meaning: 'The table forbids removing rows (delta.appendOnly).' },
  CALENDAR_CHANGED: {
    kind: 'input',
    meaning: 'A pipeline is defined otherwise than when its runs were recorded.',
  },
  CLOSED: { kind: 'input', meaning: 'The runtime, table or stream was closed before the call.' },
  COMMIT_CONFLICT: { kind: 'retry', meaning: 'Another commit made this one invalid; nothing was committed.' },
  COMMIT_STATE_UNKNOWN: {
    kind: 'retry',
    meaning: 'It could not be learned whether the commit landed; nothing was deleted.',
  },
  CORRUPT_DATA_FILE: {
    kind: 'table',
    meaning: 'A data file or deletion vector does not hold what the log says.',
  },
  CORRUPT_LOG: {
    kind: 'table',
    meaning: 'A file of the transaction log cannot be read as the protocol says.',
  },
  DUPLICATE_KEY: { kind: 'input', meaning: 'Several source rows have the same key.' },
  FEED_UNAVAILABLE: { kind: 'table', meaning: 'The change data feed of that range cannot be given.' },
  FILE_NOT_FOUND: { kind: 'table', meaning: 'An object that the log names is not in the store.' },
  GUARD_REFUSED: { kind: 'input', meaning: 'The write would touch more than its guard allows.' },
  INTERNAL: { kind: 'bug', meaning: 'A fault of this library; please report it.' },
  INVALID_INPUT: { kind: 'input', meaning: 'An argument, option or file given is not valid.' },
  INVALID_PREDICATE: { kind: 'input', meaning: 'A predicate cannot be parsed or does not fit the schema.' },
  INVALID_ROW: { kind: 'input', meaning: 'A row does not fit the schema of the table.' },
  INVALID_SCHEMA: { kind: 'input', meaning: 'A schema is not one that a Delta table can have.' },
  LIMIT_EXCEEDED: { kind: 'table', meaning: 'Something in the table is larger than this library will load.' },
  NOT_A_TABLE: { kind: 'input', meaning: 'There is no Delta table at that URL.' },
  NOT_FOUND: { kind: 'store', meaning: 'The store has no object of that key.' },
  NO_CREDENTIALS: {
    kind: 'store',
    meaning: 'No credentials for the object store were found, or it refused them.',
  },
  OUTSIDE_TARGET: { kind: 'input', meaning: 'A row lies outside what the overwrite is told to replace.' },
  OUT_OF_MEMORY: { kind: 'retry', meaning: 'A worker ran out of memory twice on the same file.' },
  PERMISSION_DENIED: {
    kind: 'store',
    meaning: 'The store refused the operation; the message names the permission.',
  },
  REPLAY_DIFFERS: {
    kind: 'input',
    meaning: 'The rows of a token already recorded are not those it was recorded with.',
  },
  SCOPE_OVERLAP: {
    kind: 'input',
    meaning: 'Two pipelines would replace the same rows of a table.',
  },
  STORE_FAILED: { kind: 'store', meaning: 'The store failed after every retry in the time allowed.' },
  STORE_TIMEOUT: { kind: 'retry', meaning: 'The store did not answer within the time allowed.' },
  STORE_UNSUPPORTED: { kind: 'store', meaning: 'The store cannot do an operation that tables need.' },
  TABLE_EXISTS: { kind: 'input', meaning: 'There is a table at that URL already.' },
  UNKNOWN_COLUMN: { kind: 'input', meaning: 'A column named is not in the schema of the table.' },
  UNSAFE_STORE: {
    kind: 'store',
    meaning: 'The store ignores If-None-Match, so two writers would lose commits.',
  },
  UNSUPPORTED_FEATURE: {
    kind: 'table',
    meaning: 'The table needs a feature that this library does not support for the operation.',
  },
  VERSION_NOT_FOUND: {
    kind: 'input',
    meaning: 'The version or time asked for is outside what the log still holds.',
  },
} as const satisfies Record<string, { kind: ErrorKind; meaning: string }>;

export type ErrorCode = keyof typeof ERROR_CODES;

/** Plain data that says where and with what an error happened; printed by `tablectl --json`. */
export type ErrorContext = Readonly<Record<string, unknown>>;

/**
 * The one error class. `message` says what happened, where, and what to do; `code` is stable; `kind` says what the caller does next;
 * `context` holds the values named in the message.
 */
export class TableError extends Error {
  readonly code: ErrorCode;
  readonly kind: ErrorKind;
  readonly context: ErrorContext;

  constructor(code: ErrorCode, message: string, context: ErrorContext = {}, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = 'TableError';
    this.code = code;
    this.kind = ERROR_CODES[code].kind;
    this.context = context;
  }
}

/** True for a `TableError`, of this copy of the library or another, optionally with one of the codes given. */
export function isTableError(error: unknown, ...codes: ErrorCode[]): error is TableError {
  if (!(error instanceof Error) || error.name !== 'TableError' || !('code' in error)) return false;
  return codes.length === 0 || codes.includes(error.code as ErrorCode);
}
