import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { covers, difference, gaps, intersection, union } from '../../../src/interval/set.js';

const spans = fc.array(
  fc.tuple(fc.integer({ min: 0, max: 40 }), fc.integer({ min: 0, max: 6 })).map(([startMs, length]) => ({
    startMs,
    endMs: startMs + length,
  })),
  { maxLength: 8 },
);
const inside = (set: readonly { startMs: number; endMs: number }[], ms: number): boolean =>
  set.some(({ startMs, endMs }) => ms >= startMs && ms < endMs);

describe('sets of intervals', () => {
  test('hold the instants that sets of instants would', () => {
    fc.assert(
      fc.property(spans, spans, (a, b) => {
        const [all, left, both, holes] = [
          union(a, b),
          difference(a, b),
          intersection(a, b),
          gaps({ startMs: 0, endMs: 50 }, a),
        ];
        for (let ms = 0; ms < 50; ms++) {
          expect(covers(all, ms)).toBe(inside(a, ms) || inside(b, ms));
          expect(covers(left, ms)).toBe(inside(a, ms) && !inside(b, ms));
          expect(covers(both, ms)).toBe(inside(a, ms) && inside(b, ms));
          expect(covers(holes, ms)).toBe(!inside(a, ms));
        }
        for (const set of [all, left, both, holes])
          for (let i = 1; i < set.length; i++) expect(set[i]!.startMs).toBeGreaterThan(set[i - 1]!.endMs - 1);
      }),
    );
  });

  test('join what touches', () => {
    expect(union([{ startMs: 3, endMs: 5 }], [{ startMs: 0, endMs: 3 }])).toEqual([{ startMs: 0, endMs: 5 }]);
  });
});
