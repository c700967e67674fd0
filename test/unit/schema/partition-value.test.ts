import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  isWellFormed,
  parsePartitionValue,
  partitionKey,
  serializePartitionValue,
} from '../../../src/schema/partition-value.js';
import { compareDatum } from '../../../src/schema/value.js';
import { datumOf, primitiveType } from './arbitraries.js';

/** Types and values that may be partition values: text that UTF-8 and the protocol can hold. */
const partition = primitiveType
  .filter((type) => type.type !== 'binary')
  .chain((type) => fc.tuple(fc.constant(type), datumOf(type), datumOf(type)))
  .filter(
    ([type, a, b]) =>
      type.type !== 'string' ||
      (a !== '' && b !== '' && isWellFormed(a as string) && isWellFormed(b as string)),
  );

describe('partition values', () => {
  it('are read as they were written', () => {
    fc.assert(
      fc.property(partition, ([type, value]) => {
        expect(parsePartitionValue(type, serializePartitionValue(type, value))).toEqual(value);
      }),
    );
  });

  it('have one key where they are equal, and two where they are not', () => {
    fc.assert(
      fc.property(partition, ([type, a, b]) => {
        const [x, y] = [a, b].map((value) => partitionKey([type], [serializePartitionValue(type, value)]));
        expect(x === y).toBe(compareDatum(type, a, b) === 0);
      }),
    );
  });

  it('do not run into each other in a key', () => {
    const raws = fc.array(fc.option(fc.string({ unit: fc.constantFrom('a', ':', ';', '1', '-') })), {
      minLength: 2,
      maxLength: 2,
    });
    const types = [{ type: 'string' }, { type: 'string' }] as const;
    fc.assert(
      fc.property(raws, raws, (a, b) => {
        expect(partitionKey(types, a) === partitionKey(types, b)).toBe(
          JSON.stringify(a) === JSON.stringify(b),
        );
      }),
    );
  });

  it('do not depend on the time zone of the process', () => {
    const before = process.env.TZ;
    try {
      for (const zone of ['Europe/Berlin', 'America/New_York', 'Pacific/Apia']) {
        process.env.TZ = zone;
        expect(parsePartitionValue({ type: 'timestamp' }, '2024-01-15 16:00:00')).toBe(
          1_705_334_400_000_000n,
        );
        expect(parsePartitionValue({ type: 'date' }, '2024-01-01')).toBe(19_723);
        expect(serializePartitionValue({ type: 'date' }, 19_723)).toBe('2024-01-01');
      }
    } finally {
      if (before === undefined) delete process.env.TZ;
      else process.env.TZ = before;
    }
  });

  it('name the zone that is none', () => {
    const read = () =>
      parsePartitionValue({ type: 'timestamp' }, '2024-01-15 16:00:00', { legacyTimestampZone: 'Mars/Base' });
    expect(read).toThrow(/Mars\/Base/);
  });
});
