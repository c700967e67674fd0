import { describe, expect, test } from 'vitest';
import { exportFormat } from '../../../../src/cli/export-format.js';
import { formatOf } from '../../../../src/cli/input/format.js';

describe('the format of a file', () => {
  test('is what its name ends in, whatever the case', () => {
    expect(
      ['a.parquet', 'b.CSV', 'c.d/e.jsonl', 'f.ndjson', 'g.arrow', 'h.feather'].map((name) =>
        formatOf(name, undefined),
      ),
    ).toEqual(['parquet', 'csv', 'ndjson', 'ndjson', 'arrow', 'arrow']);
    expect(exportFormat('a.jsonl', undefined)).toBe('ndjson');
  });

  test('is what was stated, first of all', () => {
    expect(formatOf('a.txt', 'csv')).toBe('csv');
    expect(exportFormat(undefined, 'arrow')).toBe('arrow');
  });

  test.each(['-', 'data', 'a.b/c', 'x.constructor'])('%s does not say', (name) => {
    expect(() => formatOf(name, undefined)).toThrow(/--format/);
    expect(() => exportFormat(name, undefined)).toThrow(/--format/);
  });
});
