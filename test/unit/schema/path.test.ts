import fc from 'fast-check';
import { expect, it } from 'vitest';
import { isWellFormed } from '../../../src/schema/partition-value.js';
import { classifyPath, decodePath, encodePath, hivePartitionFolder } from '../../../src/schema/path.js';

const text = fc
  .string({ unit: 'binary', minLength: 1, maxLength: 400 })
  .filter((s) => isWellFormed(s) && !s.includes('\0'));

it('a key is what its path decodes to, and the path is a URI', () => {
  fc.assert(
    fc.property(text, (key) => {
      const path = encodePath(key);
      expect(decodePath(path)).toBe(key);
      expect(path).toMatch(/^[!-~]*$/);
      expect(path).not.toMatch(/^[A-Za-z][A-Za-z0-9+.-]*:/);
    }),
  );
});

it('a partition folder is one segment a column, inside the table, and a name that disks take', () => {
  fc.assert(
    fc.property(text, fc.option(text), (name, value) => {
      const folder = hivePartitionFolder([name, 'q'], [value, '1']);
      expect(folder.split('/')).toHaveLength(2);
      for (const segment of folder.split('/')) expect(Buffer.byteLength(segment)).toBeLessThanOrEqual(255);
      expect(classifyPath(encodePath(`${folder}/f.parquet`))).toEqual({
        kind: 'relative',
        key: `${folder}/f.parquet`,
      });
    }),
  );
});

it('a lone surrogate in a key is refused', () => {
  expect(() => encodePath('a\ud800')).toThrow(/surrogate/);
});
