import { type ChildProcess, spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';

/** What a process wrote, and how it ended. */
export interface Ran {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Waits for a process to end. `onTold` hears what it has told people so far, and may send signals. */
export function ran(
  child: ChildProcess,
  onTold?: (stderr: string, kill: (signal: NodeJS.Signals) => void) => void,
): Promise<Ran> {
  let stdout = '';
  let stderr = '';
  child.stdout!.setEncoding('utf8').on('data', (text: string) => {
    stdout += text;
  });
  child.stderr!.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
    onTold?.(stderr, (signal) => child.kill(signal));
  });
  return new Promise((resolve) => child.on('close', (code) => resolve({ code, stdout, stderr })));
}

/**
 * Runs a script of test/support with one JSON argument in a process of its own, `flags` being those of Node; gives its JSON lines, or throws with its standard
 * error.
 */
export async function runProcess<T>(
  script: string,
  argument: unknown,
  flags: readonly string[] = [],
): Promise<T[]> {
  const path = fileURLToPath(new URL(script, import.meta.url));
  const child = spawn(process.execPath, [...flags, path, JSON.stringify(argument)], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const { code, stdout, stderr } = await ran(child);
  if (code !== 0) throw new Error(`${script} ended with ${code}: ${stderr}`);
  return stdout
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as T);
}
