import { spawnSync } from 'node:child_process';
import { describe, expect, test } from 'vitest';
import { isTableError } from '../../../src/errors.js';
import { parseDdl } from '../../../src/schema/ddl.js';
import { planStage } from '../../../src/stage/plan.js';
import { Pool } from '../../../src/stage/pool.js';
import { fakeContext } from '../../support/fake-context.js';

/** A column that holds a column is the engine's work, however few its rows. */
const plan = planStage({ schema: parseDdl('a array<long>'), partitionColumns: [] });
/** Rows that are not where the slice says: the task fails in its worker as a corrupt memory would. */
const broken = {
  plan,
  slices: [{ memory: new SharedArrayBuffer(8), at: 0, whole: true, start: 0, rows: 1 }],
};
const empty = { plan, slices: [] };

describe('a pool', () => {
  test('tries a task that broke its worker once more in a new one, then gives up on it alone', async () => {
    const ctx = fakeContext();
    const pool = new Pool(ctx, { workers: 1 });
    const error = await pool.run('encode', broken).catch((caught: unknown) => caught);
    expect(isTableError(error, 'INTERNAL', 'OUT_OF_MEMORY')).toBe(true);
    expect(ctx.events).toEqual([
      { type: 'workerReplaced', reason: 'trap' },
      { type: 'workerReplaced', reason: 'trap' },
    ]);
    expect((await pool.run('encode', empty)).rows).toBe(0);
    await pool.close();
  });

  test('replaces a worker whose engine has grown beyond the bound, after its answer', async () => {
    const ctx = fakeContext();
    const pool = new Pool(ctx, { workers: 1, maxWorkerMemory: 1 });
    expect((await pool.run('encode', empty)).rows).toBe(0);
    expect((await pool.run('encode', empty)).rows).toBe(0);
    expect(ctx.events).toEqual([
      { type: 'workerReplaced', reason: 'memory' },
      { type: 'workerReplaced', reason: 'memory' },
    ]);
    await pool.close();
  });

  test('drops a waiting task when its signal fires, and refuses one whose signal has fired', async () => {
    const pool = new Pool(fakeContext(), { workers: 1 });
    const abort = new AbortController();
    const running = pool.run('encode', empty);
    const waiting = pool.run('encode', empty, { signal: abort.signal });
    abort.abort(new Error('enough'));
    await expect(waiting).rejects.toMatchObject({ code: 'ABORTED' });
    await expect(pool.run('encode', empty, { signal: abort.signal })).rejects.toMatchObject({
      code: 'ABORTED',
    });
    expect((await running).rows).toBe(0);
    await pool.close();
  });

  test('once closed refuses work, and rejects what was waiting', async () => {
    const pool = new Pool(fakeContext(), { workers: 1 });
    const both = [pool.run('encode', empty), pool.run('encode', empty)].map((run) =>
      run.catch((error: unknown) => error),
    );
    await pool.close();
    for (const error of await Promise.all(both)) expect(isTableError(error, 'CLOSED')).toBe(true);
    await expect(pool.run('encode', empty)).rejects.toMatchObject({ code: 'CLOSED' });
  });

  test('keeps the process alive while it works and not after', () => {
    const script = `
      import { Pool } from '${new URL('../../../dist/stage/pool.js', import.meta.url).href}';
      import { planStage } from '${new URL('../../../dist/stage/plan.js', import.meta.url).href}';
      const plan = planStage({ schema: { type: 'struct', fields: [] }, partitionColumns: [] });
      const pool = new Pool({ emit() {} }, { workers: 2 });
      const { rows } = await pool.run('encode', { plan: { ...plan, data: [] }, slices: [] }).catch((e) => ({ rows: e.message }));
      console.log('done', rows);`;
    const run = spawnSync(process.execPath, ['--input-type=module', '-e', script], {
      encoding: 'utf8',
      timeout: 20_000,
    });
    expect(run.stdout).toContain('done');
    expect(run.status).toBe(0);
  });
});
