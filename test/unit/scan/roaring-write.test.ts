import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { decodeBase85, encodeBase85 } from '../../../src/scan/base85.js';
import { RoaringBitmap } from '../../../src/scan/roaring.js';
import { serializeRoaring } from '../../../src/scan/roaring-write.js';

function roundTrip(flags: Uint8Array): Uint8Array {
  const bitmap = RoaringBitmap.parse(serializeRoaring(flags));
  const back = new Uint8Array(flags.length);
  bitmap.mark(0, back, 1);
  expect(bitmap.cardinality).toBe(flags.reduce((sum, flag) => sum + flag, 0));
  return back;
}

describe('a written bitmap', () => {
  test('is read back as the same set: few, many, runs, across containers', () => {
    const stretch = fc.record({
      start: fc.integer({ min: 0, max: 200_000 }),
      length: fc.integer({ min: 1, max: 70_000 }),
      step: fc.integer({ min: 1, max: 40 }),
    });
    fc.assert(
      fc.property(
        fc.array(stretch, { maxLength: 5 }),
        fc.integer({ min: 1, max: 270_000 }),
        (parts, size) => {
          const flags = new Uint8Array(size);
          for (const { start, length, step } of parts)
            for (let i = start; i < Math.min(size, start + length); i += step) flags[i] = 1;
          expect(Buffer.compare(roundTrip(flags), flags)).toBe(0);
        },
      ),
      { numRuns: 60 },
    );
  });

  test('of one run takes a few bytes, whatever its length', () => {
    expect(serializeRoaring(new Uint8Array(60_000).fill(1)).length).toBeLessThan(60);
  });

  test('of nothing is the empty set', () => {
    expect(RoaringBitmap.parse(serializeRoaring(new Uint8Array(10))).cardinality).toBe(0);
  });
});

test('base85 is read back as the same bytes', () => {
  fc.assert(
    fc.property(fc.uint8Array({ minLength: 16, maxLength: 16 }), (bytes) => {
      expect(Buffer.from(decodeBase85(encodeBase85(bytes)))).toEqual(Buffer.from(bytes));
    }),
  );
});
