import { readdir, readFile } from 'node:fs/promises';
import type { Sequence } from './generate.js';

const CASES = new URL('../../../spec/cases/differential/', import.meta.url);

/** The sequences that failed once, by name: for `test.each`. */
export async function keptSequences(): Promise<[string, Sequence][]> {
  const files = await Promise.all(
    (await readdir(CASES)).map(async (name) => {
      const { cases } = JSON.parse(await readFile(new URL(name, CASES), 'utf8')) as {
        cases: readonly (Sequence & { readonly name: string })[];
      };
      return cases;
    }),
  );
  return files.flat().map((each) => [each.name, each]);
}
