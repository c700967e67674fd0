import type { Readable, Writable } from 'node:stream';

/** A stream that people or programs read; `isTTY` and `columns` are set where it is a terminal. */
export type OutputStream = Writable & { readonly isTTY?: boolean; readonly columns?: number };

/** What a command talks to: the process's own streams, or a test's. */
export interface Terminal {
  readonly stdin: Readable & { readonly isTTY?: boolean };
  readonly stdout: OutputStream;
  readonly stderr: OutputStream;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** The reader of standard output went away, as `head` does: the end of the command, and no fault. */
export class PipeClosed extends Error {}

/** The process's own streams. */
export function processTerminal(): Terminal {
  return { stdin: process.stdin, stdout: process.stdout, stderr: process.stderr, env: process.env };
}

/** Writes and waits until the stream takes more. Throws `PipeClosed` where its reader is gone. */
export function writeTo(stream: OutputStream, data: string | Uint8Array): Promise<void> {
  return new Promise((resolve, reject) => {
    stream.write(data, (error) => {
      if (!error) resolve();
      else reject(isPipeError(error) ? new PipeClosed() : error);
    });
  });
}

/** True for what a stream says when its reader went away. */
export function isPipeError(error: unknown): boolean {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  return code === 'EPIPE' || code === 'ERR_STREAM_DESTROYED' || code === 'ERR_STREAM_WRITE_AFTER_END';
}

const STYLES = {
  bold: [1, 22],
  dim: [2, 22],
  red: [31, 39],
  green: [32, 39],
  yellow: [33, 39],
  cyan: [36, 39],
} as const;
export type Style = keyof typeof STYLES;
/** Puts text in a style, or leaves it as it is where the stream shows none. */
export type Paint = (style: Style, text: string) => string;

/** Colours for a terminal; none in a pipe, with NO_COLOR or on a dumb terminal. */
export function paintFor(stream: OutputStream, env: Terminal['env']): Paint {
  const isPlain = stream.isTTY !== true || (env.NO_COLOR ?? '') !== '' || env.TERM === 'dumb';
  if (isPlain) return (_, text) => text;
  return (style, text) => `\u001b[${STYLES[style][0]}m${text}\u001b[${STYLES[style][1]}m`;
}
