import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { serializeActions } from '../../../src/log/action-lines.js';
import type { Action } from '../../../src/log/actions.js';
import { writeCheckpoint } from '../../../src/log/checkpoint.js';
import { commitPath } from '../../../src/log/paths.js';
import { bindPredicate } from '../../../src/scan/bind.js';
import { pruneFiles } from '../../../src/scan/prune.js';
import { loadState } from '../../../src/snapshot/load.js';
import type { State } from '../../../src/snapshot/state.js';
import { MemoryStore } from '../../../src/store/memory.js';
import { fakeContext } from '../../support/fake-context.js';
import { addOf, fileArbitrary, METADATA, predicateArbitrary, SCHEMA } from './fixtures.js';

const commit = (version: number, actions: readonly Action[]) =>
  [commitPath(version), serializeActions(actions)] as const;

async function keptPaths(
  state: State,
  trees: readonly Parameters<typeof bindPredicate>[0][],
): Promise<string[][]> {
  const kept: string[][] = [];
  for (const tree of trees) {
    const { ids } = await pruneFiles(state, bindPredicate(tree, SCHEMA));
    kept.push(Array.from(ids, (id) => state.files.path(id)).sort());
  }
  return kept;
}

describe('pruning', () => {
  it('keeps the same files before a checkpoint, after it, and with commits on top', async () => {
    const trees = fc.array(predicateArbitrary, { minLength: 20, maxLength: 20 });
    await fc.assert(
      fc.asyncProperty(
        fc.array(fileArbitrary, { minLength: 3, maxLength: 6 }),
        trees,
        async (files, wheres) => {
          const ctx = fakeContext();
          const store = new MemoryStore(ctx);
          const adds = files.map((file, i): Action => ({ add: addOf(file, `f${i}.parquet`) }));
          const protocol: Action = {
            protocol: {
              minReaderVersion: 3,
              minWriterVersion: 7,
              readerFeatures: ['timestampNtz'],
              writerFeatures: ['timestampNtz'],
            },
          };
          const half = adds.length >> 1;
          for (const [key, bytes] of [
            commit(0, [protocol, { metaData: METADATA }, ...adds.slice(0, half)]),
            commit(1, adds.slice(half, -1)),
          ]) {
            await store.put(key, bytes);
          }
          const before = await loadState(store, ctx);
          const expected = await keptPaths(before, wheres);
          await writeCheckpoint(store, ctx, before);
          for (const version of [0, 1]) await store.delete(commitPath(version));
          expect(await keptPaths(await loadState(store, ctx), wheres)).toEqual(expected);
          const [key, bytes] = commit(2, adds.slice(-1));
          await store.put(key, bytes);
          const later = await keptPaths(await loadState(store, ctx), wheres);
          const last = `f${adds.length - 1}.parquet`;
          expect(later.map((paths) => paths.filter((path) => path !== last))).toEqual(expected);
        },
      ),
      { numRuns: 15 },
    );
  });
});
