import { readdir, readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';

const SPEC = new URL('../../spec/', import.meta.url);

test('every rule of FORMAT.md stands in a case, and every case names rules that exist', async () => {
  const page = await readFile(new URL('FORMAT.md', SPEC), 'utf8');
  const rules = new Set([...page.matchAll(/\*\*([A-Z]+-\d+)\*\*/g)].map(([, rule]) => rule!));
  const cased = new Set<string>();
  for (const entry of await readdir(new URL('cases/', SPEC), { recursive: true, withFileTypes: true })) {
    if (!entry.isFile() || !entry.name.endsWith('.json')) continue;
    const { cases } = JSON.parse(await readFile(`${entry.parentPath}/${entry.name}`, 'utf8')) as {
      cases: { must?: string[] }[];
    };
    for (const { must = [] } of cases) for (const rule of must) cased.add(rule);
  }
  expect([...rules].filter((rule) => !cased.has(rule))).toEqual([]);
  expect([...cased].filter((rule) => !rules.has(rule))).toEqual([]);
});
