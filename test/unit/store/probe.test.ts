import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { PutIfAbsentResult } from '../../../src/store/store.js';
import { FakeClock, fakeContext } from '../../support/fake-context.js';

const DAY = 24 * 60 * 60 * 1000;
let cache = '';

beforeEach(async () => {
  cache = await mkdtemp(join(tmpdir(), 'intervale-cache-'));
  vi.stubEnv('XDG_CACHE_HOME', cache);
});
afterEach(async () => {
  vi.unstubAllEnvs();
  await rm(cache, { recursive: true });
});

/** The probe as a process that has just started has it. */
async function freshProbe() {
  vi.resetModules();
  return (await import('../../../src/store/probe.js')).probe;
}

function server(
  clock: FakeClock,
  { endpoint = 'http://server.example', bucket = 'bucket', force = false } = {},
) {
  const objects = new Set<string>();
  let puts = 0;
  const target = {
    ctx: fakeContext(clock),
    endpoint,
    bucket,
    store: `s3://${bucket}/table`,
    force,
    putIfAbsent: async (key: string): Promise<PutIfAbsentResult> => {
      puts += 1;
      if (objects.has(key)) return { outcome: 'exists' };
      objects.add(key);
      return { outcome: 'created' };
    },
    delete: async (key: string) => {
      objects.delete(key);
    },
  };
  return { target, puts: () => puts, objects };
}

test('a verdict holds for a day, in the process and in the next one', async () => {
  const clock = new FakeClock();
  const { target, puts, objects } = server(clock);
  const probe = await freshProbe();
  expect(await probe(target)).toBe('honoured');
  expect(puts()).toBe(10);
  expect(objects.size).toBe(0);
  expect(await probe(target)).toBe('honoured');
  const next = await freshProbe();
  clock.advance(DAY - 1_000);
  expect(await next(target)).toBe('honoured');
  expect(puts()).toBe(10);
  clock.advance(2_000);
  expect(await next(target)).toBe('honoured');
  expect(puts()).toBe(20);
});

test('it is for one endpoint and bucket, and a forced probe asks again', async () => {
  const clock = new FakeClock();
  const probe = await freshProbe();
  await probe(server(clock).target);
  for (const other of [
    server(clock, { bucket: 'other' }),
    server(clock, { endpoint: 'http://other.example' }),
    server(clock, { force: true }),
  ]) {
    await probe(other.target);
    expect(other.puts()).toBe(10);
  }
  expect(await readdir(join(cache, 'intervale'))).toHaveLength(3);
});

test('calls at the same time share one trial', async () => {
  const { target, puts } = server(new FakeClock());
  const probe = await freshProbe();
  expect(await Promise.all([probe(target), probe(target), probe(target)])).toEqual([
    'honoured',
    'honoured',
    'honoured',
  ]);
  expect(puts()).toBe(10);
});

test('a cache folder that cannot be written, or that holds nonsense, costs a probe and nothing else', async () => {
  await writeFile(join(cache, 'intervale'), 'a file where the folder should be');
  const { target, puts } = server(new FakeClock());
  expect(await (await freshProbe())(target)).toBe('honoured');
  expect(await (await freshProbe())(target)).toBe('honoured');
  expect(puts()).toBe(20);
  await rm(join(cache, 'intervale'));
  await (await freshProbe())(target);
  for (const name of await readdir(join(cache, 'intervale')))
    await writeFile(join(cache, 'intervale', name), '{"verdict":"trusted","at":1');
  await (await freshProbe())(target);
  expect(puts()).toBe(40);
});
