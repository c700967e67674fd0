import { describe, expect, it } from 'vitest';
import type { RowsPart } from '../../../src/scan/file-rows.js';
import { Outbox, takeOver } from '../../../src/scan/handover.js';

const NOTHING = new Set<ArrayBufferLike>();

/** Two batches of one row group: text of which both show their part. */
function parts(letters: number): RowsPart[] {
  const values = new Uint8Array(letters).map((_, i) => i % 251);
  const offsets = Int32Array.of(0, 3, letters);
  const slice = (from: number) => ({
    length: 1,
    nullCount: 0,
    offsets: offsets.subarray(from, from + 2),
    values,
  });
  const validity = Uint8Array.of(0);
  const inner = { length: 1, nullCount: 1, validity, values: new Uint8Array(8) };
  return [0, 1].map((from) => ({
    rows: 1,
    columns: [slice(from), { length: 1, nullCount: 0, children: [inner] }],
  }));
}

describe('rows handed over between threads', () => {
  it('are the same on the other side, and stand in memory of their own', () => {
    const outbox = new Outbox([]);
    const lots = [outbox.add(parts(100), NOTHING), outbox.add(parts(1000), NOTHING)];
    expect(outbox.slabs).toHaveLength(1);
    const sent = structuredClone(lots);
    const taken = sent.map(takeOver);
    for (const slab of outbox.slabs) new Uint8Array(slab).fill(255);
    expect(taken).toEqual([parts(100), parts(1000)]);
    const [first, second] = taken[0]!;
    expect(first!.columns[0]!.values!.buffer).toBeInstanceOf(ArrayBuffer);
    expect(first!.columns[0]!.values!.buffer).toBe(second!.columns[0]!.values!.buffer);
  });

  it('use slabs again, and go over for good where they are larger than those', () => {
    const slab = new SharedArrayBuffer(8 << 20);
    const outbox = new Outbox([slab]);
    outbox.add(parts(5 << 20), NOTHING);
    outbox.add(parts(5 << 20), NOTHING);
    const large = outbox.add(parts(33 << 20), NOTHING);
    expect(outbox.slabs[0]).toBe(slab);
    expect(outbox.slabs).toHaveLength(2);
    expect(outbox.owned).toEqual([large.parts[0]!.columns[0]!.values!.buffer]);
    expect(takeOver(large)).toBe(large.parts);
  });

  it('leave no memory behind but what is lent', () => {
    const [kept, gone] = [parts(1 << 20), parts(1 << 20)];
    const lent = kept[0]!.columns[0]!.values!;
    const outbox = new Outbox([]);
    outbox.add(kept, new Set([lent.buffer]));
    outbox.add(gone, NOTHING);
    expect(lent.length).toBe(1 << 20);
    expect(gone[0]!.columns[0]!.values!.length).toBe(0);
  });
});
