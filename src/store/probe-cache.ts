import { createHash } from 'node:crypto';
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import type { ConditionalWrites } from './probe.js';

interface Remembered {
  readonly verdict: ConditionalWrites;
  /** Milliseconds since the Unix epoch. */
  readonly at: number;
}

const KEPT_MS = 24 * 60 * 60 * 1000;

const inProcess = new Map<string, Remembered>();

/** The verdict on an endpoint and bucket that this process, or any of this user, reached within the last day. */
export async function readVerdict(
  endpoint: string,
  bucket: string,
  now: number,
): Promise<ConditionalWrites | undefined> {
  const file = fileOf(endpoint, bucket);
  const found = inProcess.get(file) ?? (await readFileQuietly(file));
  if (!found || found.at > now || now - found.at > KEPT_MS) return undefined;
  inProcess.set(file, found);
  return found.verdict;
}

/** Keeps a verdict for the process, and for the user where the cache folder can be written. */
export async function writeVerdict(
  endpoint: string,
  bucket: string,
  verdict: ConditionalWrites,
  now: number,
): Promise<void> {
  const file = fileOf(endpoint, bucket);
  inProcess.set(file, { verdict, at: now });
  const text = `${JSON.stringify({ endpoint, bucket, verdict, at: now })}\n`;
  try {
    await mkdir(join(file, '..'), { recursive: true });
    const temporary = `${file}.${process.pid}`;
    await writeFile(temporary, text);
    await rename(temporary, file);
  } catch {
    // A cache that cannot be written costs a probe in the next process, and nothing else.
  }
}

/** One file for each endpoint and bucket, so that processes do not write over each other's verdicts. */
function fileOf(endpoint: string, bucket: string): string {
  const folder = process.env.XDG_CACHE_HOME || join(homedir(), '.cache');
  const name = createHash('sha256').update(`${endpoint}\n${bucket}`).digest('hex').slice(0, 32);
  return join(folder, 'intervale', `probe-${name}.json`);
}

async function readFileQuietly(file: string): Promise<Remembered | undefined> {
  try {
    const { verdict, at } = JSON.parse(await readFile(file, 'utf8'));
    const known = verdict === 'honoured' || verdict === 'ignored' || verdict === 'unsupported';
    return known && typeof at === 'number' ? { verdict, at } : undefined;
  } catch {
    return undefined;
  }
}
