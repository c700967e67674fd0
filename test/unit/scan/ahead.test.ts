import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { mapAhead } from '../../../src/scan/ahead.js';

const pause = (ms: number) => new Promise((done) => setTimeout(done, ms));

describe('working ahead', () => {
  it('keeps the order and both bounds, whatever takes how long', async () => {
    const items = fc.array(fc.record({ ms: fc.nat(3), weight: fc.integer({ min: 1, max: 5 }) }), {
      maxLength: 12,
    });
    const limits = fc.record({
      count: fc.integer({ min: 1, max: 4 }),
      weight: fc.integer({ min: 1, max: 8 }),
      slowStart: fc.boolean(),
    });
    await fc.assert(
      fc.asyncProperty(items, limits, async (list, limit) => {
        let running = 0;
        let weight = 0;
        const source = async function* () {
          for (const [i, item] of list.entries()) {
            if (i % 3 === 2) await pause(1);
            yield { ...item, i };
          }
        };
        const work = async (item: { ms: number; weight: number; i: number }) => {
          running++;
          weight += item.weight;
          expect(running).toBeLessThanOrEqual(limit.count);
          if (running > 1) expect(weight - item.weight).toBeLessThan(limit.weight);
          await pause(item.ms);
          return item;
        };
        const seen: number[] = [];
        for await (const item of mapAhead(source(), work, { ...limit, weightOf: (each) => each.weight })) {
          running--;
          weight -= item.weight;
          seen.push(item.i);
        }
        expect(seen).toEqual(list.map((_, i) => i));
      }),
      { numRuns: 60 },
    );
  });

  it('fails at the place of the failure, and closes its source when the consumer stops', async () => {
    let closed = 0;
    const source = async function* () {
      try {
        for (let i = 0; ; i++) yield i;
      } finally {
        closed++;
      }
    };
    const seen: number[] = [];
    const read = async () => {
      const work = async (i: number) => {
        if (i === 3) throw new Error('three');
        return i;
      };
      for await (const i of mapAhead(source(), work, { count: 8 })) seen.push(i);
    };
    await expect(read()).rejects.toThrow('three');
    expect(seen).toEqual([0, 1, 2]);
    for await (const i of mapAhead(source(), async (each) => each, { count: 2 })) if (i === 1) break;
    expect(closed).toBe(2);
  });
});
