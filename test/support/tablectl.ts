import { spawn } from 'node:child_process';
import { Readable, Writable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { main } from '../../src/cli/main.js';
import { type Ran, ran } from './processes.js';

export type { Ran } from './processes.js';

const COMMAND = fileURLToPath(new URL('../../bin/tablectl.js', import.meta.url));

export interface RunOptions {
  readonly cwd?: string;
  readonly input?: string | Uint8Array;
  readonly env?: Readonly<Record<string, string>>;
}

/** Runs the built command in a process of its own. */
export async function tablectlProcess(args: readonly string[], options: RunOptions = {}): Promise<Ran> {
  const child = spawn(process.execPath, [COMMAND, ...args], {
    cwd: options.cwd,
    env: { ...process.env, ...options.env },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  child.stdin.on('error', () => undefined);
  child.stdin.end(options.input ?? '');
  return ran(child);
}

class Gathered extends Writable {
  readonly pieces: Buffer[] = [];
  isTTY?: boolean;
  columns?: number;

  override _write(piece: Buffer, _encoding: string, done: () => void): void {
    this.pieces.push(piece);
    done();
  }
}

/** Runs the command in this process: quicker, and the same but for the process. */
export async function tablectl(
  args: readonly string[],
  options: Pick<RunOptions, 'input' | 'env'> & {
    /** Standard output is a terminal. */
    readonly tty?: boolean;
    /** Standard input and error are one too, so that there is somebody to ask. */
    readonly answers?: boolean;
  } = {},
): Promise<Ran & { readonly bytes: Buffer }> {
  const stdout = new Gathered();
  const stderr = new Gathered();
  if (options.tty) Object.assign(stdout, { isTTY: true, columns: 80 });
  const stdin = Readable.from(options.input === undefined ? [] : [Buffer.from(options.input)]);
  if (options.answers) for (const stream of [stdin, stderr]) Object.assign(stream, { isTTY: true });
  const code = await main(args, { stdin, stdout, stderr, env: options.env ?? {} });
  const bytes = Buffer.concat(stdout.pieces);
  return { code, bytes, stdout: bytes.toString(), stderr: Buffer.concat(stderr.pieces).toString() };
}
