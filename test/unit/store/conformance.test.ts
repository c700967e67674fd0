import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, it } from 'vitest';
import { storeConformance } from '../../../src/store/conformance.js';
import { LocalStore } from '../../../src/store/local.js';
import { MemoryStore } from '../../../src/store/memory.js';
import { testContext } from '../../support/store-context.js';

const ctx = testContext();

describe('MemoryStore', () => {
  const store = new MemoryStore(ctx);
  for (const { name, run } of storeConformance()) it(name, () => run(store, ctx));
});

describe('LocalStore', () => {
  let root = '';
  beforeAll(async () => {
    root = await mkdtemp(join(tmpdir(), 'intervale-store-'));
  });
  afterAll(() => rm(root, { recursive: true }));
  for (const { name, run } of storeConformance())
    it(name, () => run(new LocalStore(ctx, root, { fsync: false }), ctx));
  it('creates once with fsync too', async () => {
    const store = new LocalStore(ctx, root);
    await storeConformance()
      .find(({ name }) => name.startsWith('creates by putIfAbsent'))
      ?.run(store, ctx);
  });
});
