import { describe, expect, test } from 'vitest';
import { withoutNaive } from '../../../../src/cli/input/naive.js';
import { parseDdl, printDdl } from '../../../../src/schema/ddl.js';

const input = parseDdl('at timestamp_ntz, tags array<struct<t:timestamp_ntz>>, id long');

describe('zone-less timestamps of an input', () => {
  test('become instants with utc, nested ones too', () => {
    expect(printDdl(withoutNaive(input, undefined, 'utc', 'f'))).toBe(
      'at timestamp, tags array<struct<t: timestamp>>, id bigint',
    );
  });

  test('stay with keep', () => {
    expect(withoutNaive(input, undefined, 'keep', 'f')).toEqual(input);
  });

  test('are asked about for a new table, with what each answer costs', () => {
    expect(() => withoutNaive(input, undefined, undefined, 'f')).toThrow(
      /'at'.*utc.*version 1.*keep.*timestampNtz/,
    );
  });

  test('fit a table that has them so without a question', () => {
    expect(withoutNaive(input, input, undefined, 'f')).toEqual(input);
  });

  test('are no instants for a table of instants unless that is said; keep is no answer there', () => {
    const target = parseDdl('at timestamp, id long');
    const only = parseDdl('at timestamp_ntz');
    expect(() => withoutNaive(only, target, undefined, 'f')).toThrow(/--ntz-as utc/);
    expect(() => withoutNaive(only, target, 'keep', 'f')).toThrow(/--ntz-as utc/);
    expect(printDdl(withoutNaive(only, target, 'utc', 'f'))).toBe('at timestamp');
  });
  test('are asked about where the table gets the column, or a field of it', () => {
    for (const [columns, has] of [
      ['at timestamp_ntz', 'id long'],
      ['s struct<a:int, t:timestamp_ntz>', 's struct<a:int>'],
    ] as const) {
      const target = parseDdl(has);
      const only = parseDdl(columns);
      expect(withoutNaive(only, target, undefined, 'f')).toEqual(only);
      expect(() => withoutNaive(only, target, undefined, 'f', true)).toThrow(/utc.*keep/);
      expect(withoutNaive(only, target, 'keep', 'f', true)).toEqual(only);
    }
  });
});
