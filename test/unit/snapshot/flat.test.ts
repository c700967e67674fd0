import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, test } from 'vitest';
import type { Action } from '../../../src/log/actions.js';
import { applyCommit, firstState } from '../../../src/snapshot/apply.js';
import type { State } from '../../../src/snapshot/state.js';
import { add, metadata, PROTOCOL, remove } from '../../support/log-table.js';

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;
const DAY_MS = 86_400_000;

/** Buffers are given back some time after a collection: the least of several looks is what is held. */
async function usedBytes(): Promise<number> {
  let least = Number.POSITIVE_INFINITY;
  for (let look = 0; look < 8; look++) {
    collect();
    const { heapUsed, arrayBuffers } = process.memoryUsage();
    least = Math.min(least, heapUsed + arrayBuffers);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  return least;
}

/** A state followed through commits, ten minutes apart, of which each replaces the only file. */
function follow(state: State, commits: number, properties: { readonly from: number }): State {
  let next = state;
  for (let i = 0; i < commits; i++) {
    const version = next.version + 1;
    const timestamp = properties.from + version * 600_000;
    const actions: Action[] = [
      { commitInfo: { timestamp } },
      { txn: { appId: 'app', version, lastUpdated: timestamp } },
      remove(`part-${version - 1}.parquet`, { deletionTimestamp: timestamp }),
      add(`part-${version}.parquet`, { modificationTime: timestamp }),
    ];
    next = applyCommit(next, version, timestamp, actions);
  }
  return next;
}

function start(configuration: Record<string, string> = {}): State {
  return firstState(0, [PROTOCOL, { metaData: metadata({ configuration }) }, add('part-0.parquet')]);
}

test('memory does not grow with the commits that a state was followed through', async () => {
  const from = 1_700_000_000_000;
  let state = follow(start(), 30_000, { from });
  const before = await usedBytes();
  state = follow(state, 30_000, { from });
  expect(((await usedBytes()) - before) / 30_000).toBeLessThan(40);
  expect(state.files.count).toBe(1);
  const paths = (await state.tombstones()).map(({ path }) => path);
  // All removals of the last seven days are still known.
  const kept = (7 * DAY_MS) / 600_000;
  for (let version = 60_000 - kept; version < 60_000; version++)
    expect(paths).toContain(`part-${version}.parquet`);
  expect(paths.length).toBeLessThan(10_000);
});

test('a retention that cannot be read keeps every removal', async () => {
  const state = follow(start({ 'delta.deletedFileRetentionDuration': 'soon' }), 10_000, { from: 0 });
  expect(await state.tombstones()).toHaveLength(10_000);
});
