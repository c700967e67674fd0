import { afterAll, describe, expect, test } from 'vitest';
import {
  createRuntime,
  createTable,
  openTable,
  type Row,
  type Runtime,
  type Table,
} from '../../../src/index.js';
import { openStore } from '../../../src/store/open.js';
import { fakeContext } from '../../support/fake-context.js';

const runtimes: Runtime[] = [createRuntime({ workers: 1 }), createRuntime({ workers: 1 })];
let url: string;
let ours: Table;
let theirs: Table;
let names = 0;

/** Two processes' views of one table. */
async function race(
  schema: string,
  rows: Row[],
  options: { partitionBy?: string[]; properties?: Record<string, string> } = {},
) {
  url = `memory://conflict-${names++}`;
  ours = await createTable(url, { schema, rows, ...options, runtime: runtimes[0] });
  theirs = await openTable(url, { runtime: runtimes[1] });
}

async function ids(table: Table, column = 'id'): Promise<number[]> {
  const rows = await table.scan().toArray();
  return rows.map((row) => Number(row[column])).sort((a, b) => a - b);
}

/** Data files and vectors in the store. */
async function objects(): Promise<string[]> {
  const keys: string[] = [];
  for await (const page of openStore(url, fakeContext()).list(''))
    keys.push(...page.map(({ key }) => key).filter((key) => /\.(parquet|bin)$/.test(key)));
  return keys;
}

afterAll(async () => {
  for (const runtime of runtimes) await runtime.close();
});

describe.each([false, true])(
  'a verb that reads, beaten by another commit (deletion vectors: %s)',
  (vectors) => {
    const properties: Record<string, string> = vectors ? { 'delta.enableDeletionVectors': 'true' } : {};

    test('keeps its work when the winner touched nothing that it read', async () => {
      await race(
        'id long, n long',
        [
          { id: 1, n: 1 },
          { id: 2, n: 2 },
        ],
        { properties },
      );
      const staged = await ours.stage([], { verb: 'update', set: { n: 'n + 10' }, where: 'id = 2' });
      const files = staged.files.map(({ path }) => path);
      await theirs.append([{ id: 100, n: 5 }]);
      expect(await staged.commit()).toMatchObject({ status: 'committed', version: 2, attempts: 2 });
      expect(staged.files.map(({ path }) => path)).toEqual(files);
      expect(await ids(ours, 'n')).toEqual([1, 5, 12]);
    });

    test('is executed again when the winner added rows that match, and leaves no abandoned files', async () => {
      await race('id long', [{ id: 1 }, { id: 5 }], { properties });
      const staged = await ours.stage([], { verb: 'delete', where: 'id > 3' });
      await theirs.append([{ id: 2 }, { id: 7 }]);
      expect(await staged.commit()).toMatchObject({ version: 2, rows: { deleted: 2 } });
      expect(await ids(ours)).toEqual([1, 2]);
      expect(await objects()).toHaveLength(3);
    });

    test('is executed again when the winner changed a file that it read: both changes count', async () => {
      await race(
        'id long, n long',
        [
          { id: 1, n: 0 },
          { id: 2, n: 0 },
        ],
        { properties },
      );
      const staged = await ours.stage([], { verb: 'update', set: { n: 'n + 1' }, where: 'id = 1' });
      await theirs.update({ set: { n: 'n + 10' }, where: 'id = 1' });
      await staged.commit();
      expect(await ids(ours, 'n')).toEqual([0, 11]);
    });

    test('merges of one new key from two writers make one row', async () => {
      await race('id long, n long', [{ id: 1, n: 0 }], { properties });
      const staged = await ours.stage([{ id: 5, n: 1 }], {
        verb: 'merge',
        on: ['id'],
        whenMatched: { update: { n: 'target.n + source.n' } },
      });
      await theirs.merge([{ id: 5, n: 40 }], { on: ['id'] });
      expect(await staged.commit()).toMatchObject({ rows: { inserted: 0, updated: 1 } });
      expect(await ids(ours, 'n')).toEqual([0, 41]);
    });

    test('two overwrites of one region end with the rows of one of them', async () => {
      await race('id long', [{ id: 1 }, { id: 5 }, { id: 6 }], { properties });
      const staged = await ours.stage([{ id: 50 }], { verb: 'overwrite', where: 'id >= 5' });
      await theirs.overwrite([{ id: 60 }, { id: 61 }], { where: 'id >= 5' });
      await staged.commit();
      expect(await ids(ours)).toEqual([1, 50]);
    });

    test('many writers that change one row lose no change', async () => {
      await race(
        'id long, n long',
        [
          { id: 1, n: 0 },
          { id: 2, n: 0 },
        ],
        { properties },
      );
      const add = (table: Table) => table.update({ set: { n: 'n + 1' }, where: 'id = 1' });
      await Promise.all([ours, theirs, ours, theirs, ours, theirs].map(add));
      expect(await ids(ours, 'n')).toEqual([0, 6]);
    });
  },
);

test('a verb that finds nothing to do looks at the newest version before it says so', async () => {
  await race('id long, n long', [{ id: 1, n: 1 }]);
  await theirs.append([{ id: 2, n: 2 }]);
  expect(await ours.update({ set: { n: '20' }, where: 'id = 2' })).toMatchObject({ rows: { updated: 1 } });
  const staged = await ours.stage([], { verb: 'delete', where: 'id = 3' });
  await theirs.append([{ id: 3, n: 3 }]);
  expect(await staged.commit()).toMatchObject({ status: 'committed', rows: { deleted: 1 } });
  await theirs.append([{ id: 4, n: 4 }]);
  expect(await ours.overwrite([], { where: 'id = 4' })).toMatchObject({ status: 'committed' });
  expect(await ids(ours)).toEqual([1, 2]);
});

test.each(['date', 'timestamp'])(
  'thirty backfills of one %s each at once all commit, one commit each',
  async (type) => {
    const day = (i: number) =>
      `2024-01-${String(i + 1).padStart(2, '0')}${type === 'date' ? '' : 'T00:00:00Z'}`;
    const days = Array.from({ length: 30 }, (_, i) => day(i));
    await race(
      `id long, d ${type}`,
      days.map((d, i) => ({ id: i, d })),
      { partitionBy: ['d'] },
    );
    const results = await Promise.all(
      days.map((d, i) =>
        (i % 2 ? ours : theirs).overwrite([{ id: 100 + i, d }], { where: `d = ${type} '${d}'` }),
      ),
    );
    expect(results.map(({ version }) => version).sort((a, b) => a - b)).toEqual(days.map((_, i) => i + 1));
    expect(results.every(({ removed }) => removed.files === 1)).toBe(true);
    expect(await ids(ours)).toEqual(days.map((_, i) => 100 + i));
  },
);

test('a table of many keys merged into itself changes nothing but its files', async () => {
  const rows = Array.from({ length: 100_000 }, (_, i) => ({ id: i, n: i % 9 }));
  await race('id long, n long', rows);
  const result = await ours.merge(ours.scan().batches(), { on: ['id'] });
  expect(result.rows).toEqual({ inserted: 0, updated: 100_000, deleted: 0, copied: 0 });
  expect(await ours.count()).toBe(100_000);
});

describe('a blind overwrite of a partition', () => {
  test('is planned again, its files as they are', async () => {
    await race('id long, p string', [{ id: 1, p: 'a' }], { partitionBy: ['p'] });
    const staged = await ours.stage([{ id: 2, p: 'a' }], { verb: 'overwrite', where: "p = 'a'" });
    const files = staged.files.map(({ path }) => path);
    await theirs.overwrite([{ id: 3, p: 'a' }], { where: "p = 'a'" });
    expect(await staged.commit()).toMatchObject({ version: 2, removed: { files: 1 } });
    expect(staged.files.map(({ path }) => path)).toEqual(files);
    expect(await ids(ours)).toEqual([2]);
  });
});

describe('a plan', () => {
  test('says what a commit does, and commits nothing', async () => {
    await race(
      'id long, p string',
      [
        { id: 1, p: 'a' },
        { id: 2, p: 'a' },
        { id: 3, p: 'b' },
      ],
      { partitionBy: ['p'] },
    );
    const staged = await ours.stage([], { verb: 'delete', where: 'id = 1' });
    expect(await staged.plan()).toMatchObject({
      version: 0,
      added: { files: 1, rows: 1 },
      removed: { files: 1, rows: 2 },
      rewritten: { files: 1, rows: 2 },
      rows: { inserted: 0, updated: 0, deleted: 1, copied: 1 },
      partitions: [{ p: 'a' }],
    });
    expect((await ours.snapshot()).version).toBe(0);
    await staged.discard();
    expect(await objects()).toHaveLength(2);
  });

  test('binds: other removals than planned are a conflict, unless planned again', async () => {
    await race('id long, p string', [{ id: 1, p: 'a' }], { partitionBy: ['p'] });
    const write = () => ours.stage([{ id: 9, p: 'a' }], { verb: 'overwrite', where: "p = 'a'" });
    const bound = await write();
    await bound.plan();
    const again = await write();
    await again.plan();
    await theirs.append([{ id: 2, p: 'a' }]);
    await expect(bound.commit()).rejects.toMatchObject({
      code: 'COMMIT_CONFLICT',
      context: { what: 'plan' },
    });
    expect(await again.commit({ replan: true })).toMatchObject({ removed: { files: 2 } });
    expect(await ids(ours)).toEqual([9]);
  });

  test('holds when others touch other files', async () => {
    await race('id long, p string', [{ id: 1, p: 'a' }], { partitionBy: ['p'] });
    const staged = await ours.stage([{ id: 9, p: 'a' }], { verb: 'overwrite', where: "p = 'a'" });
    await staged.plan();
    await theirs.append([{ id: 2, p: 'b' }]);
    expect(await staged.commit()).toMatchObject({ status: 'committed', version: 2 });
  });

  test('guards count the rows that go, at every attempt', async () => {
    await race('id long', [{ id: 1 }, { id: 5 }]);
    const staged = await ours.stage([], { verb: 'delete', where: 'id > 3' }, { maxRowsRemoved: 1 });
    await theirs.append([{ id: 7 }]);
    await expect(staged.commit()).rejects.toMatchObject({
      code: 'GUARD_REFUSED',
      context: { guard: 'maxRowsRemoved', planned: '2' },
    });
    expect(await ids(ours)).toEqual([1, 5, 7]);
    expect(await objects()).toHaveLength(2);
  });
});

describe('write-serializable', () => {
  const isolation = 'write-serializable' as const;

  test('keeps the work when others only appended, and says so in the commit', async () => {
    await race('id long', [{ id: 1 }, { id: 5 }]);
    const staged = await ours.stage([], { verb: 'delete', where: 'id > 3' }, { isolation });
    const files = staged.files.map(({ path }) => path);
    await theirs.append([{ id: 7 }, { id: 2 }]);
    await theirs.append([{ id: 8 }]);
    expect(await staged.commit()).toMatchObject({ version: 3, rows: { deleted: 1 } });
    expect(staged.files.map(({ path }) => path)).toEqual(files);
    expect(await ids(ours)).toEqual([1, 2, 7, 8]);
    for await (const { commitInfo } of ours.history({ limit: 1 }))
      expect(commitInfo).toMatchObject({ isolationLevel: 'WriteSerializable', isBlindAppend: false });
  });

  test('leaves all that was appended, or takes it all: also files that would go whole', async () => {
    const rows = [
      { id: 1, p: 'a' },
      { id: 2, p: 'b' },
    ];
    await race('id long, p string', rows, { partitionBy: ['p'] });
    const where = "p = 'a' or (p = 'b' and id > 1)";
    const staged = await ours.stage([], { verb: 'delete', where }, { isolation });
    await theirs.append([
      { id: 10, p: 'a' },
      { id: 20, p: 'b' },
      { id: 0, p: 'b' },
    ]);
    await staged.commit();
    expect(await ids(ours)).toEqual([0, 10, 20]);
  });

  test('executes again on everything when another commit read before it wrote', async () => {
    await race('id long, n long', [
      { id: 1, n: 1 },
      { id: 5, n: 1 },
    ]);
    const staged = await ours.stage(
      [],
      { verb: 'update', set: { n: 'n + 1' }, where: 'id > 3' },
      { isolation },
    );
    await theirs.append([{ id: 7, n: 1 }]);
    await theirs.update({ set: { n: 'n + 10' }, where: 'id = 5' });
    expect(await staged.commit()).toMatchObject({ version: 3, rows: { updated: 2 } });
    expect(await ids(ours, 'n')).toEqual([1, 2, 12]);
  });

  test('executes again when another commit may have read what was appended, and the rows as they were', async () => {
    await race(
      'id long, p string',
      [
        { id: 1, p: 'a' },
        { id: 5, p: 'a' },
      ],
      { partitionBy: ['p'] },
    );
    const where = "p = 'a' and id > 3";
    const staged = await ours.stage([], { verb: 'delete', where }, { isolation });
    await theirs.append([
      { id: 7, p: 'a' },
      { id: 2, p: 'a' },
    ]);
    await theirs.merge([{ id: 100, p: 'b' }], { on: ['id'] });
    expect(await staged.commit()).toMatchObject({ rows: { deleted: 2 } });
    const kept = await ours.stage([], { verb: 'delete', where: "p = 'a'" }, { isolation });
    await theirs.merge([{ id: 101, p: 'b' }], { on: ['id'] });
    await theirs.append([{ id: 8, p: 'b' }]);
    expect(await kept.commit()).toMatchObject({ rows: { deleted: 2 } });
    expect(await ids(ours)).toEqual([8, 100, 101]);
  });

  test('executes again when a file that would go whole was replaced meanwhile', async () => {
    await race(
      'id long, p string',
      [
        { id: 1, p: 'a' },
        { id: 2, p: 'b' },
      ],
      { partitionBy: ['p'] },
    );
    const where = "p = 'a' or id > 1";
    const staged = await ours.stage([], { verb: 'delete', where }, { isolation });
    await theirs.append([{ id: 3, p: 'b' }]);
    await theirs.overwrite([{ id: 9, p: 'a' }], { where: "p = 'a'" });
    expect(await staged.commit()).toMatchObject({ rows: { deleted: 3 } });
    expect(await ids(ours)).toEqual([]);
  });

  test('executes again when the commits in between are gone', async () => {
    await race('id long', [{ id: 1 }, { id: 5 }]);
    const staged = await ours.stage([], { verb: 'delete', where: 'id > 3' }, { isolation });
    await theirs.append([{ id: 7 }]);
    await theirs.checkpoint();
    await openStore(url, fakeContext()).delete('_delta_log/00000000000000000001.json');
    await ours.snapshot();
    expect(await staged.commit()).toMatchObject({ rows: { deleted: 2 } });
    expect(await ids(ours)).toEqual([1]);
  });

  test('takes for appended meanwhile only what came after the verb began', async () => {
    await race('id long', [{ id: 1 }]);
    await theirs.append([{ id: 7 }]);
    const staged = await ours.stage([{ id: 9 }], { verb: 'overwrite', where: 'id > 3' }, { isolation });
    await theirs.append([{ id: 8 }, { id: 2 }]);
    expect(await staged.commit()).toMatchObject({ rows: { deleted: 1 } });
    expect(await ids(ours)).toEqual([1, 2, 8, 9]);
  });

  test('does not count for a write that changes the schema', async () => {
    await race('id long', [{ id: 1 }, { id: 5 }]);
    const options = { isolation, evolve: 'add-columns' } as const;
    const staged = await ours.stage([{ id: 5, n: 2 }], { verb: 'merge', on: ['id'] }, options);
    await theirs.append([{ id: 5 }]);
    await staged.commit();
    expect(await ours.scan({ where: 'id = 5' }).toArray()).toEqual([
      { id: 5n, n: 2 },
      { id: 5n, n: 2 },
    ]);
  });

  test('is one of two words', async () => {
    await race('id long', [{ id: 1 }]);
    const wrong = { where: 'id = 1', isolation: 'snapshot' as 'serializable' };
    await expect(ours.delete(wrong)).rejects.toMatchObject({ code: 'INVALID_INPUT' });
    expect(await ids(ours)).toEqual([1]);
    expect(await objects()).toHaveLength(1);
  });
});
