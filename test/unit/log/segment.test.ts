import { describe, expect, test } from 'vitest';
import { classicCheckpointKey, commitPath } from '../../../src/log/paths.js';
import { listSegment, refreshSegment } from '../../../src/log/segment.js';
import { MemoryStore } from '../../../src/store/memory.js';
import type { ObjectMeta, RequestOptions } from '../../../src/store/store.js';
import { fakeContext } from '../../support/fake-context.js';

const COMMIT = new TextEncoder().encode('{"commitInfo":{}}\n');

async function storeOf(
  ...keys: string[]
): Promise<{ store: MemoryStore; ctx: ReturnType<typeof fakeContext> }> {
  const ctx = fakeContext();
  const store = new MemoryStore(ctx);
  for (const key of keys) await store.put(key, COMMIT);
  ctx.events.length = 0;
  return { store, ctx };
}

/** Lists backwards, one object a page, as a store without order may. */
class UnorderedStore extends MemoryStore {
  override readonly ordered = false as never;
  override async *list(
    prefix: string,
    options?: RequestOptions & { readonly after?: string },
  ): AsyncGenerator<readonly ObjectMeta[]> {
    const all: ObjectMeta[] = [];
    for await (const page of super.list(prefix, options)) all.push(...page);
    for (const object of all.reverse()) yield [object];
  }
}

/** Hides an object from the first listings, as a page that was listed before the object was written does. */
class LateStore extends MemoryStore {
  hidden = '';
  listings = 0;
  hiddenFor = 1;
  override async *list(
    prefix: string,
    options?: RequestOptions & { readonly after?: string },
  ): AsyncGenerator<readonly ObjectMeta[]> {
    const hide = ++this.listings <= this.hiddenFor;
    for await (const page of super.list(prefix, options))
      yield page.filter(({ key }) => !hide || key !== this.hidden);
  }
}

describe('listSegment', () => {
  test('puts the files of an unordered store in order and stops at the version wanted', async () => {
    const ctx = fakeContext();
    const store = new UnorderedStore(ctx);
    for (const version of [0, 1, 2, 3, 4]) await store.put(commitPath(version), COMMIT);
    await store.put(classicCheckpointKey(2), COMMIT);
    const segment = await listSegment(store, ctx, { version: 3 });
    expect([segment.checkpoint?.version, segment.commits.map(({ version }) => version)]).toEqual([2, [3]]);
  });

  test('lists once more before a gap is an error', async () => {
    const ctx = fakeContext();
    const store = new LateStore(ctx);
    store.hidden = commitPath(1);
    for (const version of [0, 1, 2]) await store.put(commitPath(version), COMMIT);
    expect((await listSegment(store, ctx)).commits).toHaveLength(3);
    expect(store.listings).toBe(2);
    store.hiddenFor = 10;
    await expect(listSegment(store, ctx)).rejects.toMatchObject({
      code: 'CORRUPT_LOG',
      context: { version: 1 },
    });
  });

  test('tells the commit of the checkpoint version, sizes and times', async () => {
    const { store, ctx } = await storeOf(commitPath(0), commitPath(1), classicCheckpointKey(1));
    const segment = await listSegment(store, ctx);
    expect(segment.checkpointCommit).toMatchObject({ version: 1, size: COMMIT.length });
    expect(segment.modifiedAt).toBe(ctx.clock.now());
  });

  test('reads 10,000 commits in one listing', async () => {
    const { store, ctx } = await storeOf(
      ...Array.from({ length: 10_000 }, (_, version) => commitPath(version)),
    );
    expect((await listSegment(store, ctx, { version: 9_999 })).commits).toHaveLength(10_000);
  });

  test('stops when the caller aborts', async () => {
    const { store, ctx } = await storeOf(commitPath(0));
    await expect(listSegment(store, ctx, { signal: AbortSignal.abort() })).rejects.toMatchObject({
      code: 'ABORTED',
    });
  });
});

describe('refreshSegment', () => {
  test('asks once when there is nothing new', async () => {
    const { store, ctx } = await storeOf(commitPath(0), commitPath(1), commitPath(2));
    expect(await refreshSegment(store, 2)).toEqual({
      outcome: 'commits',
      version: 2,
      commits: [],
      known: expect.objectContaining({ version: 2 }),
    });
    expect(ctx.events.filter(({ type }) => type === 'request')).toHaveLength(1);
  });

  test('tells the new commits in order', async () => {
    const { store } = await storeOf(commitPath(3), commitPath(2), commitPath(4), commitPath(1));
    expect(await refreshSegment(store, 2)).toMatchObject({
      outcome: 'commits',
      version: 4,
      commits: [{ version: 3 }, { version: 4 }],
    });
  });

  test('asks for a new segment when the known version is gone', async () => {
    const { store } = await storeOf(commitPath(12), classicCheckpointKey(12));
    expect(await refreshSegment(store, 2)).toEqual({ outcome: 'reload' });
    expect(await refreshSegment(store, 20)).toEqual({ outcome: 'reload' });
  });

  test('asks for a new segment when commits between were cleaned up', async () => {
    const { store } = await storeOf(
      commitPath(2),
      commitPath(3),
      commitPath(12),
      classicCheckpointKey(12),
      commitPath(13),
    );
    expect(await refreshSegment(store, 2)).toEqual({ outcome: 'reload' });
  });

  test('a gap that nothing explains is listed once more, then an error', async () => {
    const ctx = fakeContext();
    const store = new LateStore(ctx);
    store.hidden = commitPath(3);
    for (const version of [2, 3, 4]) await store.put(commitPath(version), COMMIT);
    expect(await refreshSegment(store, 2)).toMatchObject({ version: 4 });
    store.hiddenFor = 10;
    await expect(refreshSegment(store, 2)).rejects.toMatchObject({
      code: 'CORRUPT_LOG',
      context: { version: 3 },
    });
  });
});
