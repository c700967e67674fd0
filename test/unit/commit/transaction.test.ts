import { expect, test } from 'vitest';
import { transact } from '../../../src/commit/transaction.js';
import type { TableContext } from '../../../src/runtime/table-context.js';
import { MemoryObjects, MemoryStore } from '../../../src/store/memory.js';
import { FakeClock, fakeContext } from '../../support/fake-context.js';
import { add, metadata, PROTOCOL, putCommit } from '../../support/log-table.js';
import { tableContextOver } from '../../support/table-context.js';

/** Commits a file and gives how often it had to try. */
async function commit(table: TableContext, path: string): Promise<number> {
  const { attempts } = await transact(table, async () => ({
    plan: {
      operation: 'WRITE',
      parameters: {},
      metrics: {},
      isBlindAppend: true,
      actions: [add(path)],
    },
    result: undefined,
  }));
  return attempts;
}

test('a writer that has not looked for long learns of all versions since by one loss', async () => {
  const clock = new FakeClock();
  const objects = new MemoryObjects();
  const open = () => {
    const ctx = fakeContext(clock);
    return tableContextOver(new MemoryStore(ctx, 'memory://t', objects), ctx);
  };
  const [rare, busy] = [open(), open()];
  await putCommit(rare.store, 0, [PROTOCOL, { metaData: metadata() }]);
  expect(await commit(rare, 'first')).toBe(1);
  for (let i = 0; i < 40; i++) {
    clock.advance(2_000);
    expect(await commit(busy, `other-${i}`)).toBe(1);
  }
  expect(await commit(rare, 'second')).toBe(2);
  expect((await rare.latest.get()).version).toBe(42);
});

test('a writer that has not looked for long does not go on in the log of another table at the same place', async () => {
  const clock = new FakeClock();
  const objects = new MemoryObjects();
  const ctx = fakeContext(clock);
  const table = tableContextOver(new MemoryStore(ctx, 'memory://t', objects), ctx);
  await putCommit(table.store, 0, [PROTOCOL, { metaData: metadata() }]);
  for (const path of ['first', 'second']) expect(await commit(table, path)).toBe(1);
  await table.latest.get();
  for (const key of objects.keys()) objects.delete(key);
  const other = metadata({ id: '11111111-0000-4000-8000-000000000000' });
  await putCommit(table.store, 0, [PROTOCOL, { metaData: other }]);
  for (let version = 1; version <= 5; version++)
    await putCommit(table.store, version, [add(`of-another-table-${version}`)]);
  clock.advance(5_000);
  await expect(commit(table, 'third')).rejects.toMatchObject({ code: 'COMMIT_CONFLICT' });
  expect((await table.latest.get()).version).toBe(5);
});
