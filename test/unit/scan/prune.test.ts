import { describe, expect, it } from 'vitest';
import { bindPredicate } from '../../../src/scan/bind.js';
import { classifyFiles, explainFiles, pruneFiles } from '../../../src/scan/prune.js';
import { type AddedFiles, anyMayMatch } from '../../../src/scan/prune-actions.js';
import { LEAVES, type Leaves, METADATA, SCHEMA, stateOf } from './fixtures.js';

const row = (given: Leaves): Leaves => ({
  ...Object.fromEntries(LEAVES.map(([name]) => [name, null])),
  ...given,
});
const file = (part: string, ids: readonly bigint[]) => ({
  rows: ids.map((id) => row({ id, part })),
  part,
  pday: null,
  without: new Set<string>(),
  ignoresNaN: false,
});
const files = [file('a', [1n, 5n]), file('a', [6n, 9n]), file('b', [1n, 9n])];
const bound = (where: string) => bindPredicate(where, SCHEMA);

describe('pruning', () => {
  it('reads no statistics for a predicate on partition columns', async () => {
    const state = stateOf(files);
    const { ids, ...counts } = await pruneFiles(state, bound("part = 'a'"));
    expect([...ids]).toEqual([0, 1]);
    expect(counts).toEqual({ total: 3, skippedByPartition: 1, skippedByStatistics: 0 });
    expect(state.loads).toBe(0);
  });

  it('reads no statistics when partitions leave nothing', async () => {
    const state = stateOf(files);
    expect((await pruneFiles(state, bound("part = 'c' AND id = 1"))).ids).toHaveLength(0);
    expect(state.loads).toBe(0);
  });

  it('reads none when told so, and then keeps more', async () => {
    const state = stateOf(files);
    const { ids } = await pruneFiles(state, bound("part = 'a' AND id = 1"), { partitionsOnly: true });
    expect([...ids]).toEqual([0, 1]);
    expect(state.loads).toBe(0);
  });

  it('counts what partitions and what statistics left out', async () => {
    const { ids, ...counts } = await pruneFiles(stateOf(files), bound("part = 'a' AND id > 5"));
    expect([...ids]).toEqual([1]);
    expect(counts).toEqual({ total: 3, skippedByPartition: 1, skippedByStatistics: 1 });
  });

  it('tells whole files from those that only may match', async () => {
    const { all, some, none } = await classifyFiles(stateOf(files), bound("part = 'a' AND id > 4"));
    expect([[...all], [...some], [...none]]).toEqual([[1], [0], [2]]);
    const { all: ofPartition } = await classifyFiles(stateOf(files), bound("part = 'a'"));
    expect([...ofPartition]).toEqual([0, 1]);
  });

  it('says why a file is left out', async () => {
    const verdicts = await explainFiles(stateOf(files), bound("part = 'a' AND id > 5"));
    expect(verdicts).toEqual([
      {
        id: 0,
        kept: false,
        skippedBy: 'statistics',
        evidence: [{ column: 'id', min: '1', max: '5', nullCount: 0 }],
      },
      { id: 1, kept: true },
      { id: 2, kept: false, skippedBy: 'partition', evidence: [{ column: 'part', value: 'b' }] },
    ]);
  });
});

describe('adds of another commit', () => {
  const adds = [
    {
      partitionValues: { part: 'a', pday: null },
      stats: '{"numRecords":2,"minValues":{"id":1},"maxValues":{"id":5}}',
    },
  ];
  const touches = (where: string, given: AddedFiles['adds'] = adds) =>
    anyMayMatch({ metadata: METADATA, schema: SCHEMA, adds: given }, bound(where));

  it('match by partition values and statistics', async () => {
    expect(await touches("part = 'a' AND id = 3")).toBe(true);
    expect(await touches("part = 'b'")).toBe(false);
    expect(await touches('id = 6')).toBe(false);
  });

  it('match when nothing is known, and never when there are none', async () => {
    expect(await touches('id = 6', [{ partitionValues: {}, stats: '{' }])).toBe(true);
    expect(await touches('id = 6', [])).toBe(false);
  });
});
