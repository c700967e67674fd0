import { describe, expect, test } from 'vitest';
import { guessJson, guessText, mergeGuess, NONE, schemaOf } from '../../../../src/cli/input/infer.js';
import { parseJson } from '../../../../src/log/json.js';
import { typeText } from '../../../../src/schema/type-text.js';

function ofTexts(...texts: string[]): string {
  const guess = texts.reduce((known, text) => mergeGuess(known, guessText(text)), NONE);
  return typeText(schemaOf(new Map([['c', guess]]), 'f').fields[0]!.dataType);
}

function ofJson(...texts: string[]): string {
  const guess = texts.reduce((known, text) => mergeGuess(known, guessJson(parseJson(text))), NONE);
  return typeText(schemaOf(new Map([['c', guess]]), 'f').fields[0]!.dataType);
}

describe('guessing the type of a column of text', () => {
  test.each([
    [['1', '-2', '+3', '0', '9223372036854775807'], 'bigint'],
    [['9223372036854775808'], 'string'],
    [['1', '2.5', '1e3', '-.5', 'NaN', '-inf'], 'double'],
    [['007'], 'string'],
    [['1', 'x'], 'string'],
    [['true', 'FALSE'], 'boolean'],
    [['2024-01-31'], 'date'],
    [['2024-02-31'], 'string'],
    [['2024-01-31 12:00:00', '2024-01-31T12:00'], 'timestamp_ntz'],
    [['2024-01-31T12:00:00Z', '2024-01-31 12:00:00+01:00'], 'timestamp'],
    [['2024-01-31T12:00:00Z', '2024-01-31T12:00:00'], 'string'],
    [['2024-01-31', '2024-01-31T12:00:00'], 'string'],
    [['12:30'], 'string'],
    [[], 'string'],
  ])('%j is %s', (texts, type) => {
    expect(ofTexts(...texts)).toBe(type);
  });
});

describe('guessing the type of a JSON member', () => {
  test.each([
    [['1', 'null', '9223372036854775807'], 'bigint'],
    [['1', '1.5'], 'double'],
    [['"2024-01-31"'], 'date'],
    [['[1, 2.5]', '[]'], 'array<double>'],
    [['{"a":1}', '{"b":"x","a":2}'], 'struct<a:bigint,b:string>'],
    [['[{"a":null}]', '[{"a":true}]'], 'array<struct<a:boolean>>'],
    [['true'], 'boolean'],
  ])('%j is %s', (texts, type) => {
    expect(ofJson(...texts)).toBe(type);
  });

  test('an input without columns makes no table', () => {
    expect(() => schemaOf(new Map(), 'empty.csv')).toThrow(/empty\.csv has no columns/);
  });
});
