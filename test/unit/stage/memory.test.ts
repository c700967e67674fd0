import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Hold, type Slice, shareSlices } from '../../../src/stage/memory.js';

const chunk = fc.record({ start: fc.nat(100), rows: fc.integer({ min: 1, max: 50 }), bytes: fc.nat(1000) });

/** Each row of the slices, by its chunk and its place there. */
const rowsOf = (slices: readonly Slice[]) =>
  slices.flatMap(({ hold, start, rows }) =>
    Array.from({ length: rows }, (_, i) => `${hold.memory.byteLength}:${start + i}`),
  );

describe('slices in shares', () => {
  it('hold every row once, in order and evenly, and every cut is one user more', () => {
    fc.assert(
      fc.property(
        fc.array(chunk, { minLength: 1, maxLength: 6 }),
        fc.integer({ min: 1, max: 4 }),
        (list, most) => {
          const slices = list.map((each, i): Slice => {
            const hold: Hold = { memory: new SharedArrayBuffer(i), whole: true, users: 1 };
            return { hold, at: 0, ...each };
          });
          const rows = rowsOf(slices);
          const count = Math.min(most, rows.length);
          const shares = shareSlices(slices, count);
          expect(shares.flatMap(rowsOf)).toEqual(rows);
          for (const share of shares)
            expect(Math.abs(rowsOf(share).length - rows.length / count)).toBeLessThan(1);
          for (const { hold } of slices)
            expect(hold.users).toBe(shares.flat().filter((each) => each.hold === hold).length);
        },
      ),
    );
  });
});
