import { readFile } from 'node:fs/promises';
import { dirname, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';

const SOURCE = fileURLToPath(new URL('../../../src', import.meta.url));

/** The packages that a module loads when it is loaded, whatever it may load later. */
async function packagesOf(...files: string[]): Promise<string[]> {
  const packages = new Set<string>();
  const seen = new Set<string>();
  const queue = files.map((file) => resolve(SOURCE, file));
  for (let file = queue.pop(); file !== undefined; file = queue.pop()) {
    if (seen.has(file)) continue;
    seen.add(file);
    const text = await readFile(file, 'utf8');
    for (const [, clause, target] of text.matchAll(/^(?:import|export)\s([^;]*?)\sfrom '([^']+)';$/gms)) {
      if (clause!.startsWith('type ') || isTypesOnly(clause!)) continue;
      if (target!.startsWith('.')) queue.push(resolve(dirname(file), target!.replace(/\.js$/, '.ts')));
      else if (!target!.startsWith('node:')) packages.add(target!);
    }
  }
  expect([...seen].map((file) => relative(SOURCE, file)).length).toBeGreaterThan(files.length);
  return [...packages].sort();
}

function isTypesOnly(clause: string): boolean {
  const names = /^\{(.*)\}$/s.exec(clause.trim())?.[1];
  return names?.split(',').every((name) => name.trim() === '' || name.trim().startsWith('type ')) ?? false;
}

describe('what is loaded before anything is done', () => {
  test('the command line loads the parser of options alone', async () => {
    expect(await packagesOf('cli/main.ts')).toEqual(['commander']);
  });

  test('info on a local table needs neither Arrow, nor the SDK, nor the Parquet engine', async () => {
    const packages = await packagesOf('cli/state.ts', 'cli/table-info.ts', 'runtime/runtime.ts');
    expect(packages.filter((name) => /arrow|aws|parquet|temporal/.test(name))).toEqual([]);
  });
});
