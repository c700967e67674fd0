/** What is wrong with a file: it contradicts itself, needs what this decoder lacks, or asks for more memory than is allowed. */
export type FlatFaultReason = 'corrupt' | 'unsupported' | 'limit';

/**
 * Thrown inside the flat decoder. It never leaves the folder's callers: they know the file's name and whether it is part of the log or data, and turn it
 * into a `TableError`, or, for `unsupported`, into a second try by another engine.
 */
export class FlatFault extends Error {
  readonly reason: FlatFaultReason;

  constructor(reason: FlatFaultReason, message: string) {
    super(message);
    this.name = 'FlatFault';
    this.reason = reason;
  }
}

export function corrupt(message: string): FlatFault {
  return new FlatFault('corrupt', message);
}

export function unsupported(message: string): FlatFault {
  return new FlatFault('unsupported', message);
}
