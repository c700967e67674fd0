import { readFile } from 'node:fs/promises';
import { describe, expect, test } from 'vitest';
import { ERROR_CODES, isTableError, TableError } from '../../src/errors.js';

describe('errors', () => {
  test('spec/errors.md lists every code with its kind and meaning, and no other', async () => {
    const page = await readFile(new URL('../../spec/errors.md', import.meta.url), 'utf8');
    const listed = [...page.matchAll(/^\| `(\w+)` \| (\w+) \| (.*) \|$/gm)].map(
      ([, code, kind, meaning]) => ({ code, kind, meaning }),
    );
    const known = Object.entries(ERROR_CODES).map(([code, { kind, meaning }]) => ({ code, kind, meaning }));
    expect(listed).toEqual(known);
  });

  test('codes stand in alphabetical order', () => {
    const codes = Object.keys(ERROR_CODES);
    expect(codes).toEqual([...codes].sort());
  });

  test('an error carries its kind, context and cause', () => {
    const cause = new Error('below');
    const error = new TableError('NOT_FOUND', 'no such object', { key: 'a' }, cause);
    expect(error).toMatchObject({ code: 'NOT_FOUND', kind: 'store', context: { key: 'a' }, cause });
    expect(isTableError(error)).toBe(true);
    expect(isTableError(error, 'NOT_FOUND', 'STORE_FAILED')).toBe(true);
    expect(isTableError(error, 'STORE_FAILED')).toBe(false);
    expect(isTableError(cause)).toBe(false);
  });
});
