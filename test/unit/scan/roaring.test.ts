import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { RoaringBitmap } from '../../../src/scan/roaring.js';

/** Positions below 2^32 as the portable format has them, each container in the form asked for. */
function serialize(positions: readonly number[], form: 'plain' | 'runs'): Uint8Array {
  const groups = new Map<number, number[]>();
  for (const position of positions) {
    const key = Math.floor(position / 65_536);
    const group = groups.get(key) ?? [];
    groups.set(key, group);
    group.push(position % 65_536);
  }
  const containers = [...groups].sort(([a], [b]) => a - b);
  const words: number[] = [];
  const bytes: number[] = [];
  const u16 = (value: number) => bytes.push(value & 255, value >> 8);
  const u32 = (value: number) =>
    bytes.push(value & 255, (value >> 8) & 255, (value >> 16) & 255, value >>> 24);
  u32(1_681_511_377);
  u32(containers.length === 0 ? 0 : 1);
  u32(0);
  if (containers.length === 0) return Uint8Array.from(bytes);
  u32(0);
  const start = bytes.length;
  if (form === 'runs') {
    u16(12_347);
    u16(containers.length - 1);
    for (let i = 0; i < containers.length; i += 8) bytes.push((1 << Math.min(8, containers.length - i)) - 1);
  } else {
    u32(12_346);
    u32(containers.length);
  }
  for (const [key, lows] of containers) {
    u16(key);
    u16(lows.length - 1);
  }
  const offsetsAt = bytes.length;
  const hasOffsets = form === 'plain' || containers.length >= 4;
  if (hasOffsets) for (const _ of containers) u32(0);
  for (const [i, [, lows]] of containers.entries()) {
    words.push(bytes.length - start);
    if (hasOffsets) {
      const offset = words[i]!;
      bytes.splice(
        offsetsAt + i * 4,
        4,
        offset & 255,
        (offset >> 8) & 255,
        (offset >> 16) & 255,
        offset >>> 24,
      );
    }
    if (form === 'runs') {
      const runs: [number, number][] = [];
      for (const low of lows) {
        const last = runs.at(-1);
        if (last && last[0] + last[1] + 1 === low) last[1]++;
        else runs.push([low, 0]);
      }
      u16(runs.length);
      for (const [first, more] of runs) {
        u16(first);
        u16(more);
      }
    } else if (lows.length <= 4096) for (const low of lows) u16(low);
    else {
      const bits = new Uint8Array(8192);
      for (const low of lows) bits[low >> 3]! |= 1 << (low & 7);
      for (const byte of bits) bytes.push(byte);
    }
  }
  return Uint8Array.from(bytes);
}

const sets = fc
  .array(
    fc.record({
      from: fc.nat(300_000),
      length: fc.oneof(fc.constant(1), fc.nat(40), fc.constant(9000)),
      step: fc.integer({ min: 1, max: 3 }),
    }),
    { maxLength: 6 },
  )
  .map((ranges) => {
    const all = new Set<number>();
    for (const { from, length, step } of ranges) for (let i = 0; i < length; i++) all.add(from + i * step);
    return [...all].sort((a, b) => a - b);
  });

describe('sets of positions', () => {
  it('hold what was written, in whichever container, for any window', () => {
    fc.assert(
      fc.property(
        sets,
        fc.constantFrom('plain' as const, 'runs' as const),
        fc.nat(320_000),
        fc.nat(70_000),
        (positions, form, start, length) => {
          const bitmap = RoaringBitmap.parse(serialize(positions, form));
          expect(bitmap.cardinality).toBe(positions.length);
          expect(bitmap.end).toBe((positions.at(-1) ?? -1) + 1);
          const flags = new Uint8Array(length);
          const inside = positions.filter((position) => position >= start && position < start + length);
          expect(bitmap.mark(start, flags, 1)).toBe(inside.length);
          const expected = new Uint8Array(length);
          for (const position of inside) expected[position - start] = 1;
          expect(Buffer.compare(flags, expected)).toBe(0);
        },
      ),
      { numRuns: 60 },
    );
  });

  it('refuse bytes that were cut or changed with an error, or read them as another set of the same bytes', () => {
    const bytes = serialize([1, 2, 3, 70_000, 70_001, 200_000], 'runs');
    for (let length = 0; length < bytes.length; length++) {
      expect(() => RoaringBitmap.parse(bytes.subarray(0, length))).toThrow(RangeError);
    }
    fc.assert(
      fc.property(fc.nat(bytes.length - 1), fc.nat(255), (at, value) => {
        const changed = bytes.slice();
        changed[at] = value;
        try {
          expect(RoaringBitmap.parse(changed).cardinality).toBeGreaterThan(0);
        } catch (error) {
          expect(error).toBeInstanceOf(RangeError);
        }
      }),
    );
  });

  it('of four billion rows in a few bytes take no memory for each row', () => {
    const full = Array.from({ length: 3 }, (_, i) => i * 65_536);
    const bytes = serialize(full, 'runs');
    const view = new DataView(bytes.buffer);
    for (let i = 0; i < 3; i++) {
      view.setUint16(21 + i * 4 + 2, 65_535, true);
      view.setUint16(21 + 12 + i * 6 + 4, 65_535, true);
    }
    const bitmap = RoaringBitmap.parse(bytes);
    expect(bitmap.cardinality).toBe(3 * 65_536);
    expect(bitmap.end).toBe(3 * 65_536);
  });
});
