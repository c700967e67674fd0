import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll } from 'vitest';
import { createRuntime, type Runtime, type RuntimeOptions } from '../../src/index.js';
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

/** A place, and a runtime that reaches it. */
export interface Opened {
  place: Place;
  runtime: Runtime;
}

/** Opens a place for the tests of a `describe` or a file. The members are there once they run; nothing where there is no way to open it. */
export function opened(open: (() => Promise<Place>) | undefined, options: RuntimeOptions = {}): Opened {
  const here = {} as Opened;
  beforeAll(async () => {
    if (!open) return;
    here.place = await open();
    here.runtime = createRuntime({ s3: here.place.s3, ...options });
  });
  afterAll(async () => {
    await here.runtime?.close();
    await here.place?.stop();
  });
  return here;
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
