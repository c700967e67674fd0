import { expect, test } from 'vitest';
import { readHistory } from '../../../src/log/history.js';
import { commitPath } from '../../../src/log/paths.js';
import { MemoryStore } from '../../../src/store/memory.js';
import { fakeContext } from '../../support/fake-context.js';

const metadata = {
  id: 'i',
  format: { provider: 'parquet', options: {} },
  schemaString: '{}',
  partitionColumns: [],
  configuration: {},
};

async function storeOf(commits: string[]) {
  const ctx = fakeContext();
  const store = new MemoryStore(ctx);
  for (const [version, text] of commits.entries())
    await store.put(commitPath(version), new TextEncoder().encode(text));
  ctx.events.length = 0;
  return {
    store,
    reads: () => ctx.events.filter((event) => event.type === 'request' && event.operation !== 'list').length,
  };
}

const versions = async (entries: AsyncIterable<{ version: number }>) => {
  const found: number[] = [];
  for await (const { version } of entries) found.push(version);
  return found;
};

test('history reads no more commits than asked for', async () => {
  const { store, reads } = await storeOf(
    Array.from({ length: 50 }, (_, i) => `{"commitInfo":{"operation":"${i}"}}`),
  );
  expect(await versions(readHistory(store, { metadata, limit: 3 }))).toEqual([49, 48, 47]);
  expect(reads()).toBe(3);
});

test('history of a range, newest first', async () => {
  const { store } = await storeOf(Array.from({ length: 50 }, () => '{"commitInfo":{}}'));
  expect(await versions(readHistory(store, { metadata, from: 40, to: 43 }))).toEqual([43, 42, 41, 40]);
});

test('of a large commit only the head is read', async () => {
  const add = `{"add":{"path":"${'x'.repeat(1000)}"}}\n`;
  const { store, reads } = await storeOf([
    `{"commitInfo":{"operation":"WRITE"}}\n${add.repeat(500)}`,
    `${add.repeat(500)}{"commitInfo":{"operation":"LAST"}}\n`,
  ]);
  const operations: unknown[] = [];
  for await (const { commitInfo } of readHistory(store, { metadata })) operations.push(commitInfo?.operation);
  expect(operations).toEqual(['LAST', 'WRITE']);
  expect(reads()).toBe(3);
});

test('a torn commit is an error at its place, after the entries before it', async () => {
  const { store } = await storeOf(['{"commitInfo":{}}', '{"commitInfo":', '{"commitInfo":{}}']);
  const entries = readHistory(store, { metadata });
  expect((await entries.next()).value).toMatchObject({ version: 2 });
  await expect(entries.next()).rejects.toMatchObject({ code: 'CORRUPT_LOG', context: { version: 1 } });
});

test('a version that is cleaned up while history is read is left out', async () => {
  const { store } = await storeOf(Array.from({ length: 5 }, () => '{"commitInfo":{}}'));
  const entries = readHistory(store, { metadata });
  expect((await entries.next()).value).toMatchObject({ version: 4 });
  await store.delete(commitPath(0));
  expect(await versions(entries)).toEqual([3, 2, 1]);
});
