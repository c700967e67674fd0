import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parseJson, RawNumber, stringifyJson } from '../../../src/log/json.js';
import type { Json } from '../../../src/schema/types.js';

const decimal = fc
  .tuple(
    fc.boolean(),
    fc.bigInt({ min: 0n, max: 10n ** 38n }),
    fc.integer({ min: 1, max: 38 }),
    fc.option(fc.integer({ min: -330, max: 330 })),
  )
  .map(([negative, digits, scale, exponent]) => {
    const text = digits.toString().padStart(scale + 1, '0');
    const point = text.length - scale;
    return `${negative ? '-' : ''}${text.slice(0, point)}.${text.slice(point)}${exponent === null ? '' : `e${exponent}`}`;
  });

/** The value of a JSON number as a reduced fraction of bigints, the same however it is spelled. */
function exact(token: string): string {
  const [, sign, whole = '', fraction = '', exponent = '0'] = /^(-?)(\d+)\.?(\d*)(?:[eE]([+-]?\d+))?$/.exec(
    token,
  )!;
  const shift = Number(exponent) - fraction.length + 1000;
  return `${sign}${BigInt(whole + fraction) * 10n ** BigInt(shift)}`;
}

describe('parseJson', () => {
  test('reads a safe integer as number, a larger one as bigint, an inexact decimal as RawNumber', () => {
    expect(parseJson('[1,9007199254740993,1.0000000000000000001]')).toEqual([
      1,
      9007199254740993n,
      new RawNumber('1.0000000000000000001'),
    ]);
  });

  test('keeps __proto__ an own property on both of its ways', () => {
    for (const text of ['{"__proto__":{"a":1}}', '{"__proto__":{"a":1},"n":9007199254740993}']) {
      const value = parseJson(text) as Record<string, Json>;
      expect(Object.hasOwn(value, '__proto__')).toBe(true);
      expect(Object.getPrototypeOf(value)).toBe(Object.prototype);
      expect(stringifyJson(value)).toBe(text);
    }
  });

  test('does not take an object with a member raw for a number', () => {
    expect(parseJson('{"raw":"5"}')).not.toBeInstanceOf(RawNumber);
  });

  test('keeps the value of every decimal', () => {
    fc.assert(
      fc.property(decimal, (token) => {
        const written = stringifyJson(parseJson(`{"v":${token}}`)).slice(5, -1);
        expect(exact(written)).toBe(exact(token));
      }),
    );
  });

  test('agrees with JSON.parse on every text that has no inexact number, whichever way it takes', () => {
    fc.assert(
      fc.property(fc.json({ noUnicodeString: false }), fc.boolean(), (text, padded) => {
        // A large integer in front sends the text the slow way.
        const input = padded ? `[9007199254740993,${text}]` : text;
        const parsed = parseJson(input);
        const value = padded ? (parsed as Json[])[1]! : parsed;
        expect(JSON.parse(stringifyJson(value))).toEqual(JSON.parse(text));
      }),
    );
  });

  test('refuses what JSON.parse refuses', () => {
    fc.assert(
      fc.property(fc.json(), fc.nat(), fc.string({ maxLength: 2 }), (text, at, noise) => {
        const input = `[9007199254740993,${text.slice(0, at % (text.length + 1))}${noise}${text.slice(at % (text.length + 1))}]`;
        const succeeds = (parse: () => unknown) => {
          try {
            parse();
            return true;
          } catch {
            return false;
          }
        };
        expect(succeeds(() => parseJson(input))).toBe(succeeds(() => JSON.parse(input)));
      }),
    );
  });

  test('ends quickly on a number of a million digits', () => {
    expect(parseJson('9'.repeat(1_000_000))).toBeInstanceOf(RawNumber);
  });
});

describe('stringifyJson', () => {
  test.each([Number.NaN, Number.POSITIVE_INFINITY, { a: [Number.NEGATIVE_INFINITY] }, () => 1])(
    'refuses %s',
    (value) => {
      expect(() => stringifyJson(value)).toThrow(expect.objectContaining({ code: 'INVALID_INPUT' }));
    },
  );

  test('leaves undefined members out', () => {
    expect(stringifyJson({ a: undefined, b: [undefined], c: null })).toBe('{"b":[null],"c":null}');
  });

  test('refuses a cycle', () => {
    const cycle: Record<string, unknown> = {};
    cycle.self = cycle;
    expect(() => stringifyJson(cycle)).toThrow(expect.objectContaining({ code: 'LIMIT_EXCEEDED' }));
  });
});
