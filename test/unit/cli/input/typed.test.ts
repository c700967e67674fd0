import { describe, expect, test } from 'vitest';
import { fromJson, fromText } from '../../../../src/cli/input/typed.js';
import { parseJson } from '../../../../src/log/json.js';
import { parseDdlType } from '../../../../src/schema/ddl.js';

describe('reading text as a type', () => {
  test.each<[string, string, unknown]>([
    ['bigint', '9007199254740993', 9007199254740993n],
    ['bigint', '+12', 12],
    ['bigint', '1.0', '1.0'],
    ['int', '-7', -7],
    ['double', '1e3', 1000],
    ['double', 'NaN', Number.NaN],
    ['double', '-Infinity', Number.NEGATIVE_INFINITY],
    ['double', '0x10', '0x10'],
    ['boolean', 'TRUE', true],
    ['boolean', 'yes', 'yes'],
    ['decimal(10,2)', '+1.50', '1.50'],
    ['binary', 'aGk=', new Uint8Array([104, 105])],
    ['binary', '!!', '!!'],
    ['string', ' 1 ', ' 1 '],
    ['array<bigint>', '[1,9007199254740993]', [1, 9007199254740993n]],
    ['map<string,double>', '{"a":"NaN"}', [['a', Number.NaN]]],
    ['struct<a:bigint>', '{"A":"5"}', { A: 5 }],
    ['array<int>', '[1', '[1'],
  ])('%s of %s', (type, text, value) => {
    expect(fromText(parseDdlType(type), undefined)(text)).toEqual(value);
  });

  test('a time without a zone is taken as UTC only where that was said', () => {
    const type = parseDdlType('timestamp');
    expect(fromText(type, 'utc')('2024-01-31 12:00:00')).toBe('2024-01-31 12:00:00Z');
    expect(fromText(type, 'utc')('2024-01-31T12:00:00+01:00')).toBe('2024-01-31T12:00:00+01:00');
    expect(fromText(type, undefined)('2024-01-31 12:00:00')).toBe('2024-01-31 12:00:00');
  });
});

describe('reading JSON as a type', () => {
  test.each<[string, string, unknown]>([
    ['bigint', '"9007199254740993"', 9007199254740993n],
    ['decimal(20,10)', '1234567890.0123456789', '1234567890.0123456789'],
    ['double', '9007199254740993', 9007199254740992],
    ['double', '"Infinity"', Number.POSITIVE_INFINITY],
    ['binary', '"aGk="', new Uint8Array([104, 105])],
    [
      'map<bigint,string>',
      '[["1","x"],[2,null]]',
      [
        [1, 'x'],
        [2, null],
      ],
    ],
    ['array<struct<b:binary>>', '[{"b":"aGk="},null]', [{ b: new Uint8Array([104, 105]) }, null]],
    ['string', '5', 5],
  ])('%s of %s', (type, text, value) => {
    expect(fromJson(parseDdlType(type), undefined)(parseJson(text))).toEqual(value);
  });
});
