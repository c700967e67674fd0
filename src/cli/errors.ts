import { CommanderError } from 'commander';
import { type ErrorCode, isTableError } from '../errors.js';

/** The exit codes of `tablectl`. */
export const EXIT = {
  done: 0,
  failed: 1,
  usage: 2,
  partial: 3,
  conflict: 4,
  found: 5,
  refused: 6,
  unknown: 7,
  interrupted: 130,
} as const;

const BY_CODE: Partial<Record<ErrorCode, number>> = {
  ABORTED: EXIT.interrupted,
  COMMIT_CONFLICT: EXIT.conflict,
  COMMIT_STATE_UNKNOWN: EXIT.unknown,
  GUARD_REFUSED: EXIT.refused,
};

/** A command line that is wrong, as only the table could tell. */
export class UsageError extends Error {
  readonly context: Readonly<Record<string, unknown>>;

  constructor(message: string, context: Readonly<Record<string, unknown>>) {
    super(message);
    this.context = context;
  }
}

/** What a pipeline's own code threw, with the place of it. */
export class PipelineError extends Error {
  readonly context: Readonly<Record<string, unknown>>;

  constructor(message: string, context: Readonly<Record<string, unknown>>, cause: unknown) {
    super(message, { cause });
    this.context = context;
  }
}

/** The one document that `--json` prints when a command fails (spec/schema/error.json). */
export interface ErrorDocument {
  readonly error: {
    readonly code: string;
    readonly kind: string;
    readonly message: string;
    readonly context: Readonly<Record<string, unknown>>;
    readonly exitCode: number;
  };
}

/** The exit code that an error stands for. */
export function exitCodeOf(error: unknown): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.done : EXIT.usage;
  if (error instanceof UsageError) return EXIT.usage;
  return isTableError(error) ? (BY_CODE[error.code] ?? EXIT.failed) : EXIT.failed;
}

/** What `--json` prints of an error. */
export function errorDocument(error: unknown): ErrorDocument {
  const exitCode = exitCodeOf(error);
  if (isTableError(error)) {
    const { code, kind, message, context } = error;
    return { error: { code, kind, message, context, exitCode } };
  }
  if (error instanceof CommanderError || error instanceof UsageError) {
    const context = error instanceof UsageError ? error.context : {};
    const message = withoutPrefix(error.message);
    return { error: { code: 'USAGE', kind: 'input', message, context, exitCode } };
  }
  if (error instanceof PipelineError) {
    const { message, context } = error;
    return { error: { code: 'PIPELINE', kind: 'input', message, context, exitCode } };
  }
  return { error: { code: 'INTERNAL', kind: 'bug', message: messageOf(error), context: {}, exitCode } };
}

/** What people read: the message, and what the code asks of them. */
export function errorLines(error: unknown): string[] {
  if (!isTableError(error)) return [`error: ${messageOf(error)}`];
  const lines = [`error: ${error.message}`];
  if (error.code === 'COMMIT_CONFLICT')
    lines.push('Nothing was committed; it is safe to run the command again.');
  // A question that was not answered is no limit that could be raised.
  if (error.code === 'GUARD_REFUSED' && error.context.guard !== 'yes')
    lines.push(
      'The guards of the command line are --max-partitions, --max-files-removed and --max-rows-removed.',
    );
  if (error.code === 'COMMIT_STATE_UNKNOWN')
    lines.push("Look at 'tablectl history' for the transaction before you run the command again.");
  return lines;
}

/** What an error says; of what is none, its text. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

function withoutPrefix(message: string): string {
  return message.replace(/^error: /, '');
}
