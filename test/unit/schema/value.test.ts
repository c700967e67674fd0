import fc from 'fast-check';
import { Temporal } from 'temporal-polyfill';
import { describe, expect, it } from 'vitest';
import {
  civilFromDays,
  dateText,
  daysFromCivil,
  instantMicros,
  parseDateText,
  parseTimestampText,
  quickInstant,
  timestampText,
} from '../../../src/schema/calendar-text.js';
import { doubleText, floatText } from '../../../src/schema/number-text.js';
import {
  compareDatum,
  compareUtf8,
  datumFromJsonToken,
  datumFromText,
  datumText,
  datumToJs,
  datumToStatJson,
} from '../../../src/schema/value.js';
import { datumOf, primitiveType } from './arbitraries.js';

const typed = primitiveType.chain((type) =>
  fc.tuple(fc.constant(type), datumOf(type), datumOf(type), datumOf(type)),
);

describe('values', () => {
  it('have a total order', () => {
    fc.assert(
      fc.property(typed, ([type, a, b, c]) => {
        expect(Math.sign(compareDatum(type, a, b))).toBe(-Math.sign(compareDatum(type, b, a)) + 0);
        if (compareDatum(type, a, b) <= 0 && compareDatum(type, b, c) <= 0)
          expect(compareDatum(type, a, c)).toBeLessThanOrEqual(0);
        expect(compareDatum(type, a, a)).toBe(0);
      }),
    );
  });

  it('order strings as their UTF-8 bytes', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.string({ unit: 'binary' }), (a, b) => {
        expect(Math.sign(compareUtf8(a, b))).toBe(Math.sign(Buffer.compare(Buffer.from(a), Buffer.from(b))));
      }),
    );
  });

  it('lie within the statistics written for them', () => {
    fc.assert(
      fc.property(typed, ([type, value]) => {
        for (const bound of ['min', 'max'] as const) {
          const token = datumToStatJson(type, value, bound);
          if (token === undefined) continue;
          JSON.parse(token);
          const sign = compareDatum(type, datumFromJsonToken(type, token, bound)!, value);
          expect(bound === 'min' ? -sign : sign).toBeGreaterThanOrEqual(0);
        }
      }),
    );
  });

  it('are read back from the text of a literal', () => {
    fc.assert(
      fc.property(typed, ([type, value]) => {
        if (type.type === 'binary') return;
        expect(compareDatum(type, datumFromText(type, datumText(type, value))!, value)).toBe(0);
      }),
    );
  });

  it('of long strings stay below a cut maximum', () => {
    const unit = fc.constantFrom('a', '\u{10ffff}', '\uffff', '😀', 'z');
    fc.assert(
      fc.property(fc.string({ unit, minLength: 30, maxLength: 80 }), (text) => {
        const max = datumToStatJson({ type: 'string' }, text, 'max');
        if (max !== undefined) expect(compareUtf8(JSON.parse(max), text)).toBeGreaterThanOrEqual(0);
        expect(
          compareUtf8(JSON.parse(datumToStatJson({ type: 'string' }, text, 'min')!), text),
        ).toBeLessThanOrEqual(0);
      }),
    );
  });
});

describe('calendar', () => {
  it('agrees with Temporal', () => {
    fc.assert(
      fc.property(fc.integer({ min: -90_000_000, max: 90_000_000 }), (days) => {
        const date = new Temporal.PlainDate(1970, 1, 1).add({ days });
        expect(civilFromDays(days)).toEqual({ year: date.year, month: date.month, day: date.day });
        expect(daysFromCivil(date.year, date.month, date.day)).toBe(days);
        expect(parseDateText(dateText(days))).toBe(days);
      }),
    );
  });

  it('writes instants as Temporal does, and reads them by either way', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: -62_135_596_800_000_000n, max: 253_402_300_799_999_999n }), (micros) => {
        const text = `${timestampText(micros, 'T', 'micros')}Z`;
        expect(text).toBe(new Temporal.Instant(micros * 1000n).toString({ fractionalSecondDigits: 6 }));
        expect(quickInstant(text) ?? micros).toBe(micros);
        expect(instantMicros(parseTimestampText(text)!)).toBe(micros);
      }),
    );
  });

  it.each([
    '2024-01-01T24:00:00Z',
    '2024-13-01T00:00:00Z',
    '2024-02-30T00:00:00Z',
    '2024-01-01T00:00:00+19:00',
    '2024-01-01Z',
    '',
    'T00:00',
  ])('refuses %j', (text) => {
    expect(parseTimestampText(text)).toBeUndefined();
    expect(quickInstant(text)).toBeUndefined();
  });
});

describe('numbers', () => {
  it('read back from their text', () => {
    fc.assert(
      fc.property(fc.double({ noNaN: true }), (value) => {
        expect(Number(doubleText(value))).toBe(value);
      }),
    );
    fc.assert(
      fc.property(fc.float({ noNaN: true }), (value) => {
        expect(Math.fround(Number(floatText(value)))).toBe(value);
      }),
    );
  });
});

describe('what rows get', () => {
  it('is the form asked for', () => {
    expect(datumToJs({ type: 'long' }, 5n)).toBe(5n);
    expect(datumToJs({ type: 'long' }, 5n, { int64: 'number' })).toBe(5);
    expect(datumToJs({ type: 'long' }, 5n, { int64: 'string' })).toBe('5');
    expect(String(datumToJs({ type: 'date' }, -5151))).toBe('1955-11-25');
    expect(datumToJs({ type: 'date' }, -5151, { timestamp: 'date' })).toEqual(
      new Date('1955-11-25T00:00:00Z'),
    );
    expect(String(datumToJs({ type: 'timestamp' }, -1n))).toBe('1969-12-31T23:59:59.999999Z');
    expect(datumToJs({ type: 'timestamp' }, 1000n, { timestamp: 'date' })).toEqual(new Date(1));
    expect(String(datumToJs({ type: 'timestamp_ntz' }, -1n))).toBe('1969-12-31T23:59:59.999999');
    expect(datumToJs({ type: 'decimal', precision: 29, scale: 2 }, -1_234_567n)).toBe('-12345.67');
    expect(datumToJs({ type: 'long' }, null)).toBeNull();
  });

  it('is an error where the form cannot hold it', () => {
    expect(() => datumToJs({ type: 'long' }, 2n ** 53n, { int64: 'number' })).toThrow(/2\^53/);
    expect(() => datumToJs({ type: 'timestamp' }, 1n, { timestamp: 'date' })).toThrow(/microseconds/);
    expect(() => datumToJs({ type: 'timestamp' }, 2n ** 63n - 1n)).toThrow(/range/);
    expect(() => datumToJs({ type: 'date' }, 2 ** 31 - 1)).toThrow(/range/);
  });
});
