import { readdir, readFile } from 'node:fs/promises';
import { relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';

const SOURCE = fileURLToPath(new URL('../../src', import.meta.url));
const MAY_TOUCH_THE_MACHINE = /^(store|runtime|cli)\/|^stage\/spill\.ts$/;
const MACHINE =
  /\bDate\.now\(|\bnew Date\(\)|\bperformance\.now\(|\bMath\.random\(|\brandomUUID\(|\bsetTimeout\(|'node:fs/;

async function sources(): Promise<{ file: string; text: string }[]> {
  const entries = await readdir(SOURCE, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile() && entry.name.endsWith('.ts'));
  return Promise.all(
    files.map(async (entry) => {
      const path = `${entry.parentPath}/${entry.name}`;
      return { file: relative(SOURCE, path), text: await readFile(path, 'utf8') };
    }),
  );
}

describe('the source', () => {
  test('reaches clock, chance and files only in the rooms that own them', async () => {
    const found = (await sources()).filter(
      ({ file, text }) => !MAY_TOUCH_THE_MACHINE.test(file) && MACHINE.test(text),
    );
    expect(found.map(({ file }) => file)).toEqual([]);
  });

  test('has no file of more than 400 lines', async () => {
    const long = (await sources()).filter(({ text }) => text.split('\n').length > 401);
    expect(long.map(({ file }) => file)).toEqual([]);
  });
});
