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
