import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { createRuntime, createTable, openTable } from '../../../src/index.js';
import { create } from '../../../src/write/create.js';

const runtime = createRuntime({ workers: 1 });
const root = mkdtempSync(join(tmpdir(), 'intervale-create-'));
afterAll(async () => {
  await runtime.close();
  rmSync(root, { recursive: true, force: true });
});

it('a table made where another was removed knows nothing of that one', async () => {
  const url = join(root, 'again');
  for (const id of [1n, 2n]) {
    rmSync(url, { recursive: true, force: true });
    const table = await createTable(url, { schema: 'id long', runtime });
    expect((await table.append([{ id }])).version).toBe(1);
    expect(readdirSync(join(url, '_delta_log')).filter((name) => name.endsWith('.json'))).toHaveLength(2);
    expect(await table.scan().toArray()).toEqual([{ id }]);
  }
});

/** Names of everything under a folder, none where there is no folder. */
const files = (url: string): string[] => {
  try {
    return readdirSync(url, { recursive: true, encoding: 'utf8' });
  } catch {
    return [];
  }
};

describe('a table that is created with rows', () => {
  const schema = 'id long, p string';
  const rows = [
    { id: 1, p: 'a' },
    { id: 2, p: 'b' },
  ];

  it.each([
    'append',
    'overwritePartitions',
    { verb: 'overwrite', where: 'id < 5' },
    { verb: 'overwrite', all: true },
    { verb: 'replaceUsing', columns: ['id'] },
    { verb: 'merge', on: ['id'] },
  ] as const)('has them and their token in version 0, by %j', async (verb) => {
    const url = join(root, `verb-${JSON.stringify(verb).replace(/\W/g, '')}`);
    const definition = { schema, partitionBy: ['p'] };
    const options = { rows, verb, txn: { appId: 'loader', version: 3 } };
    const context = runtime.table(url);
    expect(await create(context, definition, options)).toMatchObject({
      status: 'committed',
      version: 0,
      rows: { inserted: 2, deleted: 0 },
      added: { files: 2, rows: 2 },
    });
    const table = await openTable(url, { runtime });
    expect(await table.count()).toBe(2);
    expect((await table.snapshot()).appTransactions).toEqual(new Map([['loader', 3]]));
    const before = files(url);
    expect(await create(context, definition, options)).toMatchObject({
      status: 'skipped',
      version: 0,
      recorded: { appId: 'loader', version: 3, commit: 0 },
    });
    const later = { ...options, txn: { appId: 'loader', version: 4 } };
    await expect(create(context, definition, later)).rejects.toMatchObject({ code: 'TABLE_EXISTS' });
    await expect(create(context, definition, { rows })).rejects.toMatchObject({ code: 'TABLE_EXISTS' });
    expect(files(url)).toEqual(before);
  });

  it('is not created where the verb or a guard refuses them', async () => {
    const url = join(root, 'refused');
    const txn = { appId: 'loader', version: 1 };
    const refusals = [
      [{ rows, verb: { verb: 'overwrite', where: 'id < 2' }, txn }, 'OUTSIDE_TARGET'],
      [{ rows, maxPartitions: 1 }, 'GUARD_REFUSED'],
      [{ rows: [...rows, ...rows], verb: { verb: 'merge', on: ['id'] } }, 'DUPLICATE_KEY'],
      [{ rows: [{ id: null }], verb: { verb: 'replaceUsing', columns: ['id'] } }, 'INVALID_ROW'],
      [{ rows: [], verb: 'overwritePartitions', txn }, 'INVALID_INPUT'],
      [{ rows, verb: { verb: 'delete', where: 'true' } as never }, 'INVALID_INPUT'],
    ] as const;
    for (const [options, code] of refusals) {
      const creating = create(runtime.table(url), { schema, partitionBy: ['p'] }, options);
      await expect(creating, code).rejects.toMatchObject({ code });
    }
    expect(files(url).filter((name) => /\.(json|parquet)$/.test(name))).toEqual([]);
  });

  it('is created once by many who carry one token, and each says so', async () => {
    const url = join(root, 'raced');
    const txn = { appId: 'loader', version: 1 };
    const results = await Promise.all(
      Array.from({ length: 6 }, () => create(runtime.table(url), { schema }, { rows, txn })),
    );
    expect(results.map(({ status }) => status).sort()).toEqual(['committed', ...Array(5).fill('skipped')]);
    expect(await (await openTable(url, { runtime })).count()).toBe(2);
    expect(files(url).filter((name) => name.endsWith('.parquet'))).toHaveLength(1);
  });

  it('is opened where the token is there, and compared where that is asked', async () => {
    const url = join(root, 'compared');
    const options = { schema, txn: { appId: 'x', version: 1 }, onReplay: 'compare', runtime } as const;
    await createTable(url, { ...options, rows });
    expect(await (await createTable(url, { ...options, rows })).count()).toBe(2);
    const others = createTable(url, { ...options, rows: [{ id: 9 }] });
    await expect(others).rejects.toMatchObject({ code: 'REPLAY_DIFFERS' });
  });
});
