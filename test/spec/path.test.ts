import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { isTableError } from '../../src/errors.js';
import { classifyPath, decodePath, encodePath, hivePartitionFolder } from '../../src/schema/path.js';

interface PathCase {
  name: string;
  names?: string[];
  values?: (string | null)[];
  folder?: string;
  repeat?: [string, number];
  longest?: number;
  path?: string;
  key?: string;
  kind?: string;
  refused?: string;
}

const text = await readFile(new URL('../../spec/cases/path/paths.json', import.meta.url), 'utf8');

test.each(JSON.parse(text).cases as PathCase[])('$name', (c) => {
  if (c.repeat !== undefined) {
    const folder = hivePartitionFolder(c.names!, [c.repeat[0].repeat(c.repeat[1])]);
    expect(Buffer.byteLength(folder)).toBeLessThanOrEqual(c.longest!);
    expect(decodePath(encodePath(folder))).toBe(folder);
    expect(folder).not.toBe(hivePartitionFolder(c.names!, [c.repeat[0].repeat(c.repeat[1] + 1)]));
  } else if (c.names !== undefined) {
    const folder = hivePartitionFolder(c.names, c.values!);
    expect(folder).toBe(c.folder);
    expect(encodePath(folder)).toBe(c.path);
    expect(decodePath(c.path!)).toBe(folder);
  } else if (c.refused !== undefined) {
    expect(() => classifyPath(c.path!)).toThrow(
      expect.toSatisfy((error) => isTableError(error, 'CORRUPT_LOG') && c.refused === 'CORRUPT_LOG'),
    );
  } else if (c.kind !== undefined) {
    expect(classifyPath(c.path!).kind).toBe(c.kind);
  } else {
    expect(decodePath(c.path!)).toBe(c.key);
    expect(classifyPath(c.path!)).toEqual({ kind: 'relative', key: c.key });
  }
});
