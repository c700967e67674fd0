import fc from 'fast-check';
import { expect, test } from 'vitest';
import { compareKeys, folderOf } from '../../../src/store/keys.js';

test('keys compare as their UTF-8 bytes do', () => {
  const key = fc.string({
    unit: fc.constantFrom('a', '/', '-', 'é', '\ud7ff', '\ue000', '\uffff', '\u{10000}', '\u{1f600}'),
  });
  fc.assert(
    fc.property(key, key, (a, b) => {
      expect(Math.sign(compareKeys(a, b))).toBe(Buffer.compare(Buffer.from(a), Buffer.from(b)));
    }),
  );
});

test('the folder of a key ends with its slash', () => {
  expect([folderOf('a/b/c'), folderOf('a/'), folderOf('a'), folderOf('')]).toEqual(['a/b/', 'a/', '', '']);
});
