import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { TableError } from '../../../src/errors.js';
import { serializeActions } from '../../../src/log/action-lines.js';
import { commitPath } from '../../../src/log/paths.js';
import { systemClock } from '../../../src/runtime/system.js';
import type { TableContext } from '../../../src/runtime/table-context.js';
import { Pool } from '../../../src/stage/pool.js';
import { MemoryObjects, MemoryStore } from '../../../src/store/memory.js';
import type { PutIfAbsentResult } from '../../../src/store/store.js';
import { Table } from '../../../src/table.js';
import { create } from '../../../src/write/create.js';
import { fakeContext } from '../../support/fake-context.js';
import { tableContextOver } from '../../support/table-context.js';

const ctx = fakeContext(systemClock);
const pool = new Pool(ctx, { workers: 1 });
const NEVER = 3_600_000;

/** A store whose next commits may be told to fail, or to lose their answer. */
class WrittenStore extends MemoryStore {
  faults: ((store: MemoryStore, key: string, bytes: Uint8Array) => Promise<PutIfAbsentResult>)[] = [];
  /** Answers nothing of the first version. */
  isMute = false;
  override async get(key: string): Promise<Uint8Array> {
    if (this.isMute && key === commitPath(1)) throw new TableError('STORE_TIMEOUT', 'No answer.', {});
    return super.get(key);
  }
  override async putIfAbsent(key: string, bytes: Uint8Array): Promise<PutIfAbsentResult> {
    const fault = this.faults.shift();
    if (this.isMute) return { outcome: 'ambiguous', cause: new Error('no answer') };
    if (fault) return fault({ putIfAbsent: super.putIfAbsent.bind(this) } as MemoryStore, key, bytes);
    return super.putIfAbsent(key, bytes);
  }
}

let store: WrittenStore;
let objects: MemoryObjects;
let name: string;
let context: TableContext;
let table: Table;
let names = 0;

beforeEach(async () => {
  objects = new MemoryObjects();
  name = `memory://writer-${++names}`;
  store = new WrittenStore(ctx, name, objects);
  context = tableContextOver(store, ctx, pool);
  await create(context, { schema: 'id long not null, text string' });
  table = new Table(context);
});
afterAll(() => pool.close());

/** The same table as another process has it. */
function elsewhere(): Table {
  return new Table(tableContextOver(new MemoryStore(ctx, name, objects), ctx, pool));
}

async function ids(): Promise<number[]> {
  return (await elsewhere().scan().toArray()).map(({ id }) => Number(id)).sort((a, b) => a - b);
}

function upTo(count: number): number[] {
  return Array.from({ length: count }, (_, i) => i);
}

async function settled(promise: Promise<unknown>): Promise<boolean> {
  const pending = Symbol();
  await new Promise((resolve) => setImmediate(resolve));
  return (await Promise.race([promise, Promise.resolve(pending)])) !== pending;
}

function held(): { line: Promise<void>; release: () => void } {
  let release: () => void = () => undefined;
  const line = new Promise<void>((resolve) => {
    release = resolve;
  });
  void context.queue.run(() => line);
  return { line, release };
}

describe('a writer', () => {
  test('commits full batches, and the rest when it is closed', async () => {
    const writer = await table.writer({ maxRows: 4, maxDelay: NEVER });
    for (const id of upTo(10)) await writer.write({ id, text: 'x' });
    await writer.close();
    expect(await ids()).toEqual(upTo(10));
    expect((await elsewhere().snapshot()).version).toBe(3);
    expect(context.openings.size).toBe(0);
  });

  test('commits what has waited long enough, and full bytes at once', async () => {
    const patient = await table.writer({ maxDelay: 5 });
    const { committed } = await patient.write({ id: 0 });
    expect(await committed).toBe(1);
    await patient.close();
    const small = await table.writer({ maxBytes: 100, maxDelay: NEVER });
    const large = await small.write({ id: 1, text: 'x'.repeat(200) });
    expect(await large.committed).toBe(2);
    await small.close();
  });

  test('acknowledges no row before its commit', async () => {
    const { release } = held();
    const writer = await table.writer({ maxDelay: NEVER });
    const { committed } = await writer.write({ id: 0 });
    const flushed = writer.flush();
    expect(await settled(committed)).toBe(false);
    expect(await settled(flushed)).toBe(false);
    expect(await ids()).toEqual([]);
    release();
    await flushed;
    expect(await committed).toBe(1);
    expect(await ids()).toEqual([0]);
    await writer.close();
  });

  test('keeps callers waiting while one batch is on its way and another is full', async () => {
    const { release } = held();
    const writer = await table.writer({ maxRows: 2, maxDelay: NEVER });
    const writes = upTo(7).map((id) => writer.write({ id }));
    expect(await Promise.all(writes.map(settled))).toEqual([true, true, true, true, false, false, false]);
    release();
    await Promise.all(writes);
    await writer.flush();
    expect(await ids()).toEqual(upTo(7));
    await writer.close();
  });

  test('refuses a row that does not fit, and only that', async () => {
    const writer = await table.writer({ maxDelay: NEVER });
    await writer.write({ id: 0 });
    await expect(writer.write({ id: 'one' })).rejects.toMatchObject({ code: 'INVALID_ROW' });
    await expect(writer.write({ id: null })).rejects.toMatchObject({ code: 'INVALID_ROW' });
    await expect(writer.write({ id: 1, more: 1 })).rejects.toMatchObject({ code: 'UNKNOWN_COLUMN' });
    await writer.write({ id: 2 });
    await writer.close();
    expect(await ids()).toEqual([0, 2]);
  });

  test('keeps rows as they were when they were written', async () => {
    const writer = await table.writer({ maxDelay: NEVER });
    const row = { id: 0 };
    await writer.write(row);
    row.id = 9;
    await writer.close();
    expect(await ids()).toEqual([0]);
  });

  test('takes no row after close, and closes twice', async () => {
    const writer = await table.writer();
    await Promise.all([writer.close(), writer.close()]);
    await expect(writer.write({ id: 0 })).rejects.toMatchObject({ code: 'CLOSED' });
  });

  test('refuses limits that are none', async () => {
    await expect(table.writer({ maxRows: 0 })).rejects.toMatchObject({ code: 'INVALID_INPUT' });
    await expect(table.writer({ maxDelay: -1 })).rejects.toMatchObject({ code: 'INVALID_INPUT' });
  });
});

describe('a writer with a token', () => {
  const txn = { appId: 'service' };

  test('says where to go on, and takes rows that the table has for done', async () => {
    const first = await table.writer({ txn, maxRows: 3, maxDelay: NEVER });
    expect(first.lastVersion).toBeUndefined();
    for (const id of upTo(5)) expect(await first.write({ id })).toMatchObject({ version: id + 1 });
    await first.flush();
    expect(first.lastVersion).toBe(5);
    await first.close();
    const second = await elsewhere().writer({ txn, maxDelay: NEVER });
    expect(second.lastVersion).toBe(5);
    for (const id of upTo(8)) {
      const { committed } = await second.write({ id }, { version: id + 1 });
      if (id < 5) expect(await committed).toBe(2);
    }
    await second.close();
    expect(await ids()).toEqual(upTo(8));
  });

  test('takes versions with gaps, and none that does not rise', async () => {
    const writer = await table.writer({ txn, maxDelay: NEVER });
    await writer.write({ id: 0 }, { version: 100 });
    await writer.write({ id: 1 }, { version: 250 });
    await expect(writer.write({ id: 2 }, { version: 250 })).rejects.toMatchObject({ code: 'INVALID_INPUT' });
    await expect(writer.write({ id: 2 }, { version: 1.5 })).rejects.toMatchObject({ code: 'INVALID_INPUT' });
    await writer.close();
    expect((await elsewhere().writer({ txn })).lastVersion).toBe(250);
    const without = await table.writer();
    await expect(without.write({ id: 3 }, { version: 1 })).rejects.toMatchObject({ code: 'INVALID_INPUT' });
  });

  test('is stopped by another at work, which it cannot make repeat rows', async () => {
    const slow = await table.writer({ txn, maxDelay: NEVER });
    const quick = await elsewhere().writer({ txn, maxDelay: NEVER });
    for (const id of upTo(4)) await slow.write({ id });
    for (const id of upTo(2)) await quick.write({ id });
    await quick.close();
    await expect(slow.close()).rejects.toMatchObject({ code: 'COMMIT_CONFLICT', context: { what: 'token' } });
    expect(await ids()).toEqual(upTo(2));
  });

  test('adds nothing twice after a commit of which it never learned', async () => {
    const writer = await table.writer({ txn, maxDelay: NEVER, retryFor: 20 });
    const { committed } = await writer.write({ id: 0 });
    store.faults.push(async (own, key, bytes) => {
      await own.putIfAbsent(key, bytes);
      store.isMute = true;
      return { outcome: 'ambiguous', cause: new Error('no answer') };
    });
    await expect(writer.flush()).rejects.toMatchObject({ code: 'COMMIT_STATE_UNKNOWN' });
    await expect(committed).rejects.toMatchObject({ code: 'COMMIT_STATE_UNKNOWN' });
    const again = await elsewhere().writer({ txn, maxDelay: NEVER });
    for (const id of upTo(3)) await again.write({ id }, { version: id + 1 });
    await again.close();
    expect(await ids()).toEqual(upTo(3));
  });
});

describe('a commit of a writer that fails', () => {
  test('in passing is tried again, with no row twice', async () => {
    const writer = await table.writer({ maxDelay: NEVER });
    const { metadata } = await context.latest.get();
    const configuration = { ...metadata.configuration, 'delta.appendOnly': 'true' };
    await writer.write({ id: 0 });
    store.faults.push(async (own, key, bytes) => {
      await own.putIfAbsent(commitPath(1), serializeActions([{ metaData: { ...metadata, configuration } }]));
      return own.putIfAbsent(key, bytes);
    });
    await writer.close();
    expect(await ids()).toEqual([0]);
    expect((await elsewhere().snapshot()).version).toBe(2);
  });

  test('for good ends the writer: rows, flush, close and later writes say why', async () => {
    const writer = await table.writer({ maxRows: 2, maxDelay: NEVER });
    const broken = new Error('the store refuses');
    store.faults.push(() => Promise.reject(broken));
    const { line, release } = held();
    const writes = upTo(5).map((id) => writer.write({ id }));
    const flushed = writer.flush();
    const outcomes = Promise.allSettled([...writes, flushed]);
    release();
    await line;
    const states = (await outcomes).map(({ status }) => status);
    expect(states).toEqual(['fulfilled', 'fulfilled', 'fulfilled', 'fulfilled', 'rejected', 'rejected']);
    for (const write of writes.slice(0, 4)) await expect((await write).committed).rejects.toBe(broken);
    await expect(flushed).rejects.toBe(broken);
    await expect(writer.write({ id: 9 })).rejects.toBe(broken);
    await expect(writer.close()).rejects.toBe(broken);
    expect(await ids()).toEqual([]);
    expect(context.openings.size).toBe(0);
  });

  test('with an unknown outcome and no token is not tried again', async () => {
    const writer = await table.writer({ maxDelay: NEVER, retryFor: 20 });
    await writer.write({ id: 0 });
    store.isMute = true;
    store.faults.push(async () => ({ outcome: 'ambiguous', cause: new Error('no answer') }));
    const error = await writer.close().catch((caught: TableError) => caught);
    expect(error).toMatchObject({ code: 'COMMIT_STATE_UNKNOWN' });
  });
});

describe('a writer that may evolve the schema', () => {
  const columns = async () => (await elsewhere().snapshot()).schema.fields.map(({ name }) => name);

  test('takes columns that the table lacks, which come with the commit of their rows', async () => {
    const writer = await table.writer({ evolve: 'add-columns', maxDelay: NEVER });
    await writer.write({ id: 1 });
    await writer.write({ id: 2, price: 1.5 });
    await writer.write({ id: 3, price: 2n, tags: ['a'] });
    expect(await columns()).toEqual(['id', 'text']);
    await writer.flush();
    expect(await columns()).toEqual(['id', 'text', 'price', 'tags']);
    await writer.write({ id: 4, TAGS: null });
    await writer.close();
    expect(
      await elsewhere()
        .scan({ where: 'id > 1', columns: ['id', 'price', 'tags'] })
        .toArray(),
    ).toEqual([
      { id: 2n, price: 1.5, tags: null },
      { id: 3n, price: 2, tags: ['a'] },
      { id: 4n, price: null, tags: null },
    ]);
    expect((await elsewhere().snapshot()).version).toBe(2);
  });

  test('refuses by itself a row that fits neither the table nor the rows before it', async () => {
    const writer = await table.writer({ evolve: 'add-columns', maxDelay: NEVER });
    await writer.write({ id: 1, price: 1.5 });
    await expect(writer.write({ id: 2, price: 'much' })).rejects.toMatchObject({ code: 'INVALID_ROW' });
    await expect(writer.write({ id: 'x', other: 1 })).rejects.toMatchObject({ code: 'INVALID_ROW' });
    await expect(writer.write({ id: 2, unknown: null })).rejects.toMatchObject({ code: 'UNKNOWN_COLUMN' });
    await writer.close();
    expect(await columns()).toEqual(['id', 'text', 'price']);
    expect(await ids()).toEqual([1]);
  });

  test('is told types ahead, and goes on when another added the column', async () => {
    const writer = await table.writer({
      evolve: 'add-columns',
      evolveTo: 'at timestamp, price decimal(9,2)',
      maxDelay: NEVER,
    });
    await writer.write({ id: 1, price: '1.25', at: null });
    await elsewhere().append([{ id: 9, price: '2.00' }], {
      evolve: 'add-columns',
      evolveTo: 'price decimal(9,2)',
    });
    await writer.write({ id: 2, price: '3.50' });
    await writer.close();
    expect(await columns()).toEqual(['id', 'text', 'price', 'at']);
    expect(await ids()).toEqual([1, 2, 9]);
  });

  test('evolves in the ways of an append', async () => {
    await expect(table.writer({ evolve: 'overwrite' })).rejects.toMatchObject({ code: 'INVALID_INPUT' });
    await expect(table.writer({ evolveTo: 'x int' })).rejects.toMatchObject({ code: 'INVALID_INPUT' });
    expect(context.openings.size).toBe(0);
  });
});
