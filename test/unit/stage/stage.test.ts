import type { RecordBatch } from 'apache-arrow';
import { afterAll, describe, expect, test } from 'vitest';
import { parseDdl } from '../../../src/schema/ddl.js';
import { decodePath } from '../../../src/schema/path.js';
import { batchFromRows, type Row } from '../../../src/schema/rows-in.js';
import { Pool } from '../../../src/stage/pool.js';
import { stageRows } from '../../../src/stage/stage.js';
import type { StagedFile } from '../../../src/stage/staged.js';
import { MemoryStore } from '../../../src/store/memory.js';
import type { RequestOptions } from '../../../src/store/store.js';
import { fakeContext } from '../../support/fake-context.js';
import { stagedRows } from '../../support/staged-rows.js';

const SCHEMA = parseDdl('id long not null, text string, day date');
const pool = new Pool({ emit: () => {} }, { workers: 2 });
afterAll(() => pool.close());

function batch(rows: readonly Row[]): RecordBatch {
  return batchFromRows(rows, SCHEMA);
}

/** Rows `from` to `to`, days in turn. */
function days(from: number, to: number, count: number, width = 0): RecordBatch {
  const rows: Row[] = [];
  for (let id = from; id < to; id++) {
    const day = String(1 + ((id * 11) % count)).padStart(2, '0');
    rows.push({ id: BigInt(id), text: `row ${id}${'x'.repeat(width)}`, day: `2024-01-${day}` });
  }
  return batch(rows);
}

async function listed(store: MemoryStore): Promise<string[]> {
  const keys: string[] = [];
  for await (const page of store.list('')) keys.push(...page.map(({ key }) => key));
  return keys;
}

async function idsOf(
  store: MemoryStore,
  files: readonly StagedFile[],
  partitionColumns: readonly string[] = ['day'],
): Promise<bigint[][]> {
  return Promise.all(
    files.map(async (file) =>
      (await stagedRows(store, file, SCHEMA, partitionColumns)).map(({ id }) => id as bigint),
    ),
  );
}

describe('staging', () => {
  test('writes one file a partition, with what the log says of it, and nothing else', async () => {
    const ctx = fakeContext();
    const store = new MemoryStore(ctx);
    const source = [
      batch([
        { id: 1, text: 'a', day: '2024-01-01' },
        { id: 2, text: null, day: null },
      ]),
      batch([]),
      batch([{ id: 3, text: 'c', day: '2024-01-01' }]),
    ];
    const files = await stageRows(store, ctx, pool, source, { schema: SCHEMA, partitionColumns: ['day'] });
    expect(files.map(({ partitionValues, rows }) => [partitionValues, rows])).toEqual([
      [{ day: '2024-01-01' }, 2],
      [{ day: null }, 1],
    ]);
    expect(files[0]!.path).toMatch(/^day=2024-01-01\/part-\d{5}-[0-9a-f-]{36}\.c000\.snappy\.parquet$/);
    expect(files[1]!.path).toMatch(/^day=__HIVE_DEFAULT_PARTITION__\/part-/);
    expect(JSON.parse(files[0]!.stats)).toEqual({
      numRecords: 2,
      minValues: { id: 1, text: 'a' },
      maxValues: { id: 3, text: 'c' },
      nullCount: { id: 0, text: 0 },
    });
    expect(files[0]!.modificationTime).toBe(ctx.clock.now());
    expect(await stagedRows(store, files[0]!, SCHEMA, ['day'])).toEqual([
      { id: 1n, text: 'a' },
      { id: 3n, text: 'c' },
    ]);
    expect(await listed(store)).toEqual(files.map(({ path }) => decodePath(path)).sort());
    for (const file of files) expect((await store.get(decodePath(file.path))).length).toBe(file.size);
    expect(ctx.events.filter(({ type }) => type === 'fileStaged').length).toBe(2);
    const staged = ctx.events.filter((event) => event.type === 'rowsStaged').map((event) => event.rows);
    expect(staged.reduce((a, b) => a + b, 0)).toBe(3);
  });

  test('of no rows writes nothing', async () => {
    const ctx = fakeContext();
    const store = new MemoryStore(ctx);
    expect(await stageRows(store, ctx, pool, [], { schema: SCHEMA, partitionColumns: [] })).toEqual([]);
    expect(
      await stageRows(store, ctx, pool, [batch([])], { schema: SCHEMA, partitionColumns: ['day'] }),
    ).toEqual([]);
    expect(await listed(store)).toEqual([]);
  });

  test('keeps the order of rows within a partition over batches and threads', async () => {
    const ctx = fakeContext();
    const store = new MemoryStore(ctx);
    const source = [0, 1, 2, 3].map((i) => days(i * 20_000, (i + 1) * 20_000, 5));
    const files = await stageRows(store, ctx, pool, source, { schema: SCHEMA, partitionColumns: ['day'] });
    expect(files.length).toBe(5);
    for (const ids of await idsOf(store, files))
      expect(ids).toEqual(ids.slice().sort((a, b) => (a < b ? -1 : 1)));
    expect(files.reduce((sum, { rows }) => sum + rows, 0)).toBe(80_000);
  });

  test('closes files at the target size', async () => {
    const ctx = fakeContext();
    const store = new MemoryStore(ctx);
    const source = function* () {
      for (let i = 0; i < 20; i++) yield days(i * 10_000, (i + 1) * 10_000, 1, 100);
    };
    const files = await stageRows(store, ctx, pool, source(), {
      schema: SCHEMA,
      partitionColumns: [],
      targetFileSize: 200_000,
    });
    expect(files.length).toBeGreaterThan(3);
    const ids = (await idsOf(store, files, [])).flat();
    expect(ids).toEqual(Array.from({ length: 200_000 }, (_, i) => BigInt(i)));
  });

  test('goes to the local disk when memory would not do, with the same result', async () => {
    const ctx = fakeContext();
    const store = new MemoryStore(ctx);
    const source = function* () {
      for (let i = 0; i < 10; i++) yield days(i * 8000, (i + 1) * 8000, 28, 1000);
    };
    const files = await stageRows(store, ctx, pool, source(), {
      schema: SCHEMA,
      partitionColumns: ['day'],
      memory: 40 * 2 ** 20,
    });
    expect(ctx.events.some(({ type }) => type === 'spilled')).toBe(true);
    expect(files.length).toBe(28);
    for (const ids of await idsOf(store, files)) {
      expect(ids.length).toBeGreaterThan(2800);
      expect(ids.every((id, i) => i === 0 || id === ids[i - 1]! + 28n)).toBe(true);
    }
    expect(files.reduce((sum, { rows }) => sum + rows, 0)).toBe(80_000);
  });

  test('takes two writings of one typed value for one partition', async () => {
    const ctx = fakeContext();
    const store = new MemoryStore(ctx);
    const schema = parseDdl('id long, x double');
    const source = [
      batchFromRows(
        [0, -0, Number.NaN, 0, Number.NaN].map((x, id) => ({ id, x })),
        schema,
      ),
    ];
    const files = await stageRows(store, ctx, pool, source, { schema, partitionColumns: ['x'] });
    expect(files.map(({ partitionValues, rows }) => [partitionValues.x, rows])).toEqual([
      ['0.0', 3],
      ['NaN', 2],
    ]);
  });

  test('puts a partition column that begins with an underscore into a folder of its name', async () => {
    const ctx = fakeContext();
    const store = new MemoryStore(ctx);
    const schema = parseDdl('id long, `_group` string');
    const source = [batchFromRows([{ id: 1, _group: 'a/b' }], schema)];
    const [file] = await stageRows(store, ctx, pool, source, { schema, partitionColumns: ['_group'] });
    expect(file!.path).toMatch(/^_group=a%252Fb\/part-/);
    expect(await listed(store)).toEqual([expect.stringMatching(/^_group=a%2Fb\/part-/)]);
  });
});

describe('staging that fails', () => {
  test("deletes what it stored and throws the source's own error", async () => {
    const ctx = fakeContext();
    const store = new MemoryStore(ctx);
    const boom = new Error('the source broke');
    const source = async function* () {
      for (let i = 0; i < 10; i++) yield days(i * 10_000, (i + 1) * 10_000, 1, 100);
      throw boom;
    };
    const spec = { schema: SCHEMA, partitionColumns: [], targetFileSize: 100_000 };
    await expect(stageRows(store, ctx, pool, source(), spec)).rejects.toBe(boom);
    expect(await listed(store)).toEqual([]);
  });

  test("throws the store's first error and deletes what was or may have been stored", async () => {
    const ctx = fakeContext();
    const full = new Error('no space');
    let puts = 0;
    class Full extends MemoryStore {
      override async put(key: string, bytes: Uint8Array, options?: RequestOptions): Promise<void> {
        await super.put(key, bytes, options);
        if (++puts === 3) throw full;
      }
    }
    const store = new Full(ctx);
    const spec = { schema: SCHEMA, partitionColumns: ['day'] };
    await expect(stageRows(store, ctx, pool, [days(0, 1000, 10)], spec)).rejects.toBe(full);
    expect(await listed(store)).toEqual([]);
  });

  test('names what it could not delete in a warning and keeps the first error', async () => {
    const ctx = fakeContext();
    class Stuck extends MemoryStore {
      override delete(): Promise<void> {
        return Promise.reject(new Error('not allowed'));
      }
    }
    const store = new Stuck(ctx);
    const boom = new Error('late');
    const source = async function* () {
      for (let i = 0; i < 4; i++) yield days(i * 10_000, (i + 1) * 10_000, 1, 100);
      throw boom;
    };
    const spec = { schema: SCHEMA, partitionColumns: [], targetFileSize: 100_000 };
    await expect(stageRows(store, ctx, pool, source(), spec)).rejects.toBe(boom);
    const warned = ctx.events.filter((event) => event.type === 'warning').map((event) => event.file);
    expect(warned.sort()).toEqual(expect.arrayContaining(await listed(store)));
  });

  test('ends at once when its signal fires, though the source stands still', async () => {
    const ctx = fakeContext();
    const store = new MemoryStore(ctx);
    const abort = new AbortController();
    let closed = false;
    const source: AsyncIterable<RecordBatch> = {
      [Symbol.asyncIterator]: () => ({
        next: () => new Promise(() => {}),
        return: async () => {
          closed = true;
          return { done: true, value: undefined };
        },
      }),
    };
    const staging = stageRows(store, ctx, pool, source, {
      schema: SCHEMA,
      partitionColumns: [],
      signal: abort.signal,
    });
    setTimeout(() => abort.abort(new Error('enough')), 10);
    await expect(staging).rejects.toMatchObject({ code: 'ABORTED' });
    expect(closed).toBe(true);
    const after = stageRows(store, ctx, pool, [days(0, 1, 1)], {
      schema: SCHEMA,
      partitionColumns: [],
      signal: abort.signal,
    });
    await expect(after).rejects.toMatchObject({ code: 'ABORTED' });
    expect(await listed(store)).toEqual([]);
  });

  test('refuses a partition value that a partition cannot have, and a partition column that is none', async () => {
    const ctx = fakeContext();
    const store = new MemoryStore(ctx);
    const rows = [batch([{ id: 1, text: '', day: null }])];
    await expect(
      stageRows(store, ctx, pool, rows, { schema: SCHEMA, partitionColumns: ['text'] }),
    ).rejects.toMatchObject({
      code: 'INVALID_ROW',
    });
    await expect(
      stageRows(store, ctx, pool, rows, { schema: SCHEMA, partitionColumns: ['no'] }),
    ).rejects.toMatchObject({
      code: 'UNKNOWN_COLUMN',
    });
    expect(await listed(store)).toEqual([]);
  });

  test('asks the source for no more than a slow store lets through', async () => {
    const ctx = fakeContext();
    let stored = 0;
    class Slow extends MemoryStore {
      override async put(key: string, bytes: Uint8Array, options?: RequestOptions): Promise<void> {
        await new Promise((resolve) => setTimeout(resolve, 5));
        await super.put(key, bytes, options);
        stored += 1;
      }
    }
    let asked = 0;
    let ahead = 0;
    const same = days(0, 10_000, 1, 800);
    const source = function* () {
      for (; asked < 40; asked++) {
        ahead = Math.max(ahead, asked - stored);
        yield same;
      }
    };
    const spec = { schema: SCHEMA, partitionColumns: [], targetFileSize: 1000, memory: 16 * 2 ** 20 };
    const files = await stageRows(new Slow(ctx), ctx, pool, source(), spec);
    expect(files.length).toBeGreaterThan(20);
    expect(ahead).toBeLessThan(16);
  });
});
