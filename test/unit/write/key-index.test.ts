import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { DataType, Datum } from '../../../src/schema/types.js';
import { compareDatum } from '../../../src/schema/value.js';
import { columnOfValues } from '../../../src/write/columns.js';
import { KeyIndex } from '../../../src/write/key-index.js';

const long = fc
  .bigInt({ min: -3n, max: 3n })
  .map((n) => (n === 3n ? 2n ** 53n + 1n : n === -3n ? 2n ** 53n : n));
const values: readonly (readonly [DataType, fc.Arbitrary<Datum>])[] = [
  [{ type: 'long' }, long],
  [{ type: 'timestamp' }, long],
  [{ type: 'integer' }, fc.integer({ min: -3, max: 3 })],
  [{ type: 'short' }, fc.integer({ min: -3, max: 3 })],
  [{ type: 'byte' }, fc.integer({ min: -3, max: 3 })],
  [{ type: 'date' }, fc.integer({ min: -3, max: 3 })],
  [{ type: 'boolean' }, fc.boolean()],
  [{ type: 'double' }, fc.constantFrom(0, -0, 1.5, Number.NaN, -1.5, Number.POSITIVE_INFINITY)],
  [{ type: 'float' }, fc.constantFrom(0, -0, 1.5, Number.NaN, -1.5)],
  [{ type: 'decimal', precision: 38, scale: 2 }, fc.constantFrom(0n, -1n, 2n ** 100n, 2n ** 100n + 1n)],
  [{ type: 'string' }, fc.constantFrom('', 'a', 'b', 'a,b', 'é', '😀')],
  [{ type: 'binary' }, fc.constantFrom([], [0], [0, 0], [255]).map((bytes) => Uint8Array.from(bytes))],
];

const table = fc.array(fc.constantFrom(...values), { minLength: 1, maxLength: 3 }).chain((columns) =>
  fc.record({
    types: fc.constant(columns.map(([type]) => type)),
    rows: fc.array(fc.tuple(...columns.map(([, value]) => fc.option(value, { nil: null }))), {
      maxLength: 40,
    }),
    probes: fc.array(fc.tuple(...columns.map(([, value]) => fc.option(value, { nil: null }))), {
      maxLength: 20,
    }),
  }),
);

describe('an index of keys', () => {
  test.each([true, false])(
    'finds what equals by type and value, and nothing else (NULL equals NULL: %s)',
    (nulls) => {
      fc.assert(
        fc.property(table, ({ types, rows, probes }) => {
          const columnsOf = (of: readonly (readonly Datum[])[]) =>
            types.map((type, i) =>
              columnOfValues(
                type,
                of.map((row) => row[i]!),
              ),
            );
          const same = (a: readonly Datum[], b: readonly Datum[]) =>
            types.every(
              (type, i) =>
                (nulls || (a[i] !== null && b[i] !== null)) && compareDatum(type, a[i]!, b[i]!) === 0,
            );
          const index = new KeyIndex(types);
          const duplicates: [number, number][] = [];
          index.add(columnsOf(rows), rows.length, 0, nulls, (kept, row) => {
            duplicates.push([kept, row]);
            return kept;
          });
          const first = (key: readonly Datum[]) => rows.findIndex((row) => same(row, key));
          expect([...index.find(columnsOf(probes), probes.length, nulls)]).toEqual(probes.map(first));
          expect(duplicates).toEqual(
            rows.flatMap((row, i) => {
              const at = first(row);
              return at >= 0 && at < i ? [[at, i]] : [];
            }),
          );
        }),
        { numRuns: 150 },
      );
    },
  );

  test('grows', () => {
    const ids = Array.from({ length: 20_000 }, (_, i) => BigInt(i) * 2n ** 33n);
    const texts = ids.map((id) => `key ${id}`);
    const types: DataType[] = [{ type: 'long' }, { type: 'string' }];
    const columns = [columnOfValues(types[0]!, ids), columnOfValues(types[1]!, texts)];
    const index = new KeyIndex(types);
    index.add(columns, ids.length, 100, true, () => -1);
    expect(index.size).toBe(ids.length);
    expect([...index.find(columns, ids.length, true)]).toEqual(ids.map((_, i) => i + 100));
  });
});
