import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { diagnoseStore } from '../../../src/store/doctor.js';
import { LocalStore } from '../../../src/store/local.js';
import { MemoryStore } from '../../../src/store/memory.js';
import { testContext } from '../../support/store-context.js';

const ctx = testContext();
let root = '';
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'intervale-doctor-'));
});
afterAll(() => rm(root, { recursive: true }));

test('a healthy folder passes every check and is left as it was', async () => {
  const report = await diagnoseStore(new LocalStore(ctx, root), ctx);
  expect(report).toMatchObject({ ok: true, s3: null, conditionalWrites: 'honoured' });
  expect(report.checks.map(({ name, status }) => [name, status])).toEqual([
    ['credentials', 'ok'],
    ['list', 'ok'],
    ['write', 'ok'],
    ['read', 'ok'],
    ['conditionalWrites', 'ok'],
    ['delete', 'ok'],
  ]);
  for (const ms of Object.values(report.latencyMs)) expect(ms).toBeGreaterThanOrEqual(0);
  expect(await readdir(root)).toEqual([]);
});

test('a folder that is not there is said to be missing, and is not made', async () => {
  const report = await diagnoseStore(new LocalStore(ctx, join(root, 'typo')), ctx);
  expect(report).toMatchObject({ ok: false, conditionalWrites: null, latencyMs: { put: null } });
  expect(report.checks[1]).toMatchObject({ name: 'list', status: 'failed', code: 'NOT_FOUND' });
  expect(report.checks[2]).toMatchObject({ status: 'skipped' });
  expect(await readdir(root)).toEqual([]);
});

test('a store that lets a second create win fails the check', async () => {
  class Lying extends MemoryStore {
    override async putIfAbsent(key: string, bytes: Uint8Array) {
      await this.put(key, bytes);
      return { outcome: 'created' } as const;
    }
  }
  const report = await diagnoseStore(new Lying(ctx), ctx);
  expect(report.checks.find(({ status }) => status === 'failed')).toMatchObject({
    name: 'conditionalWrites',
    code: 'UNSAFE_STORE',
  });
});
