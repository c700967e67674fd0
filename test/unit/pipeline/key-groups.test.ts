import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { KeyGroups } from '../../../src/pipeline/key-groups.js';
import { fakeContext } from '../../support/fake-context.js';

const word = fc.integer({ min: -1, max: 1 }).map((value) => value * 0x7fffffff);
const rows = fc.array(fc.tuple(word, word, word, word, fc.integer({ min: -1, max: 3 })), { maxLength: 60 });

describe('keys in groups', () => {
  test.each([
    ['in memory', 2 ** 20],
    ['on the disk', 100],
  ])('are those that stand in more than one, %s', async (_, memory) => {
    await fc.assert(
      fc.asyncProperty(fc.array(rows, { maxLength: 4 }), async (batches) => {
        const ctx = fakeContext();
        const found = new KeyGroups(ctx, memory);
        const expected = new Map<string, Set<number>>();
        try {
          for (const batch of batches) {
            const hashes = Int32Array.from(batch.flatMap((row) => row.slice(0, 4)));
            await found.add(
              hashes,
              Int32Array.from(batch, (row) => row[4]),
            );
            for (const [a, b, c, d, group] of batch) {
              const key = [a, b, c, d].join(' ');
              if (group >= 0) expected.set(key, (expected.get(key) ?? new Set()).add(group));
            }
          }
          const several = [...expected].filter(([, groups]) => groups.size > 1);
          const all = await found.repeated(1000);
          expect(all.count).toBe(several.length);
          expect(new Map(all.examples.map(({ hash, groups }) => [hash.join(' '), groups]))).toEqual(
            new Map(several),
          );
          const few = await found.repeated(1);
          expect([few.count, few.examples.length]).toEqual([several.length, Math.min(1, several.length)]);
        } finally {
          await found.close();
        }
      }),
      { numRuns: 60 },
    );
  });
});
