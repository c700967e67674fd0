import { describe, expect, test } from 'vitest';
import { bytesText, counted, countText, durationText } from '../../../../src/cli/render/bytes.js';
import { jsonWriter, textWriter } from '../../../../src/cli/render/cells.js';
import { chartLines } from '../../../../src/cli/render/chart.js';
import { jsonText } from '../../../../src/cli/render/json.js';
import { oneLine, pairLines, tableLines, widthOf } from '../../../../src/cli/render/table.js';
import { parseDdlType } from '../../../../src/schema/ddl.js';

const plain = (_: unknown, text: string): string => text;

describe('amounts', () => {
  test('bytes', () => {
    expect([0, 999, 1000, 12_345, 999_499, 999_950, 17_000_000].map(bytesText)).toEqual([
      '0 B',
      '999 B',
      '1.0 kB',
      '12.3 kB',
      '999 kB',
      '1.0 MB',
      '17.0 MB',
    ]);
  });

  test('counts and times', () => {
    expect([countText(3_000_000), countText(999), counted(1, 'file'), counted(1000, 'file')]).toEqual([
      '3,000,000',
      '999',
      '1 file',
      '1,000 files',
    ]);
    expect([12, 1500, 125_000].map(durationText)).toEqual(['12 ms', '1.5 s', '2 min 5 s']);
  });
});

describe('tables', () => {
  test('columns stand under each other, wide characters counted as two', () => {
    const lines = tableLines(
      [{ title: 'name' }, { title: 'n', align: 'right' }, { title: 'x' }],
      [
        ['東京', '1', 'a'],
        ['b', '22', ''],
      ],
      plain,
    );
    expect(lines).toEqual(['name   n  x', '東京   1  a', 'b     22  ']);
    expect(['abc', '東京', 'e\u0301', '👍🏽'].map(widthOf)).toEqual([3, 4, 1, 2]);
  });

  test('control characters cannot leave their cell', () => {
    expect(oneLine('a\nb\u001b[31m\u0085\u2028"\\')).toBe('a\\nb\\u001b[31m\\u0085\\u2028"\\');
  });

  test('pairs leave out what is not there and indent what has several lines', () => {
    expect(
      pairLines(
        [
          ['a', '1'],
          ['bcd', undefined],
          ['cc', 'x\ny'],
        ],
        plain,
      ),
    ).toEqual(['a   1', 'cc  x\n    y']);
  });
});

describe('charts', () => {
  test('bars are upright, from 0 to the largest', () => {
    const lines = chartLines(
      [
        { label: 'a', value: 1 },
        { label: 'b', value: 2 },
        { label: 'c', value: 0 },
      ],
      20,
      2,
      plain,
    );
    expect(lines).toEqual([' 2 │   ███', ' 0 │██████', '   └─────────', '    a       c']);
  });

  test('more bars than columns become means, a small value still shows, and nothing gives nothing', () => {
    const bars = Array.from({ length: 300 }, (_, i) => ({ label: String(i), value: i === 0 ? 0.001 : 100 }));
    expect(Math.max(...chartLines(bars, 60, 4, plain).map((line) => line.length))).toBeLessThanOrEqual(60);
    expect(
      chartLines(
        [
          { label: 'a', value: 0.001 },
          { label: 'b', value: 1000 },
        ],
        20,
        1,
        plain,
      )[0],
    ).toContain('\u2581');
    expect(chartLines([], 60, 4, plain)).toEqual([]);
  });
});

describe('cells', () => {
  test.each<[string, unknown, string]>([
    ['bigint', 5n, '5'],
    ['bigint', 9007199254740993n, '"9007199254740993"'],
    ['double', Number.NaN, '"NaN"'],
    ['double', -0, '-0.0'],
    ['float', Math.fround(0.1), '0.1'],
    ['decimal(10,2)', '1.50', '"1.50"'],
    ['binary', new Uint8Array([104, 105]), '"aGk="'],
    ['map<string,bigint>', new Map([['a"', 1n]]), '{"a\\"":1}'],
    ['map<int,bigint>', new Map([[1, null]]), '[[1,null]]'],
    ['array<struct<a:string>>', [{ a: 'x' }, null], '[{"a":"x"},null]'],
    ['string', null, 'null'],
  ])('%s as JSON', (type, value, text) => {
    expect(jsonWriter(parseDdlType(type))(value)).toBe(text);
  });

  test('NULL is told apart from text', () => {
    expect(textWriter(parseDdlType('string'))(null)).toBeUndefined();
    expect(textWriter(parseDdlType('string'))('NULL')).toBe('NULL');
  });

  test('documents are exact for bigint and leave out what is undefined', () => {
    expect(
      jsonText({
        a: 2n ** 60n,
        b: undefined,
        c: new Map([['d', Number.POSITIVE_INFINITY]]),
        e: new Uint8Array([104, 105]),
      }),
    ).toBe('{"a":1152921504606846976,"c":{"d":"Infinity"},"e":"aGk="}');
  });
});
