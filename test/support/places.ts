import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { RuntimeOptions } from '../../src/index.js';
import { startS3Server } from './s3-server.js';

/** Where a test keeps its tables. */
export interface Place {
  readonly url: (name: string) => string;
  readonly s3?: RuntimeOptions['s3'];
  readonly stop: () => Promise<void>;
}

/** A fresh local folder. */
export async function localPlace(): Promise<Place> {
  const folder = await mkdtemp(join(tmpdir(), 'intervale-place-'));
  return { url: (name) => join(folder, name), stop: () => rm(folder, { recursive: true, force: true }) };
}

/** A local folder, and an S3 server; no way to open the latter where there is none here. For `describe.each`. */
export async function places(): Promise<[string, (() => Promise<Place>) | undefined][]> {
  const server = await startS3Server();
  const s3Place = server && {
    url: (name: string) => `s3://${server.bucket}/${name}`,
    s3: server.options,
    stop: () => server.stop(),
  };
  return [
    ['a local folder', localPlace],
    ['an S3 server', s3Place && (async () => s3Place)],
  ];
}
