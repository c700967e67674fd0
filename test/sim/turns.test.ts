import { afterAll, expect, test } from 'vitest';
import { transact } from '../../src/commit/transaction.js';
import type { TableContext } from '../../src/runtime/table-context.js';
import { loadState } from '../../src/snapshot/load.js';
import { add, metadata, PROTOCOL, putCommit } from '../support/log-table.js';
import { type FaultyStore, idlePool, World } from './world.js';

const NOW = '2024-01-09T00:30:00Z';
const COMMITS = 25;

const pool = idlePool();
afterAll(() => pool.close());

/** Commits one file after the other, each of which takes a while to prepare; gives the versions. */
async function writer(world: World, table: TableContext, name: string): Promise<number[]> {
  const versions: number[] = [];
  for (let i = 0; i < COMMITS; i++) {
    await world.clock.sleep(10 + 20 * world.random());
    const { version } = await transact(table, async () => ({
      plan: {
        operation: 'WRITE',
        parameters: {},
        metrics: {},
        isBlindAppend: true,
        actions: [add(`${name}-${i}`)],
      },
      result: undefined,
    }));
    versions.push(version);
  }
  return versions;
}

test.each([
  [1, 1, 2],
  [2, 2, 5],
  [3, 8, 12],
  [4, 8, 12],
  [5, 20, 30],
])(
  'seed %i: of %i processes none gives up, every version is one of theirs, at most %i calls a commit',
  async (seed, count, most) => {
    const world = new World(seed, NOW, pool);
    await putCommit(world.table().store, 0, [PROTOCOL, { metaData: metadata() }]);
    const tables = Array.from({ length: count }, () => world.table());
    const versions = await Promise.all(tables.map((table, i) => writer(world, table, `w${i}`)));
    expect(versions.flat().sort((a, b) => a - b)).toEqual(
      Array.from({ length: count * COMMITS }, (_, i) => i + 1),
    );
    const calls = tables.reduce((sum, { store }) => sum + (store as FaultyStore).calls, 0);
    expect(calls / (count * COMMITS)).toBeLessThan(most);
    for (const table of tables) {
      const known = await table.latest.get();
      const fresh = await loadState(table.store, table.ctx, {});
      expect(known.version).toBe(count * COMMITS);
      expect(paths(known)).toEqual(paths(fresh));
    }
  },
);

function paths({ files }: Awaited<ReturnType<typeof loadState>>): string[] {
  return [...files.ids()].map((id) => files.path(id)).sort();
}
