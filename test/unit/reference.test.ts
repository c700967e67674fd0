import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { loadLibrary } from '../reference/library.js';
import { checkReference } from '../reference/reference.js';
import { referenceDir } from '../support/reference-dir.js';

const folder = referenceDir();

it.skipIf(folder === undefined)(
  'gives exactly what the reference tables expect, and refuses those that must be refused',
  async () => {
    const lib = await loadLibrary(new URL('../../dist/', import.meta.url));
    const scratch = await mkdtemp(join(tmpdir(), 'intervale-reference-'));
    const failures: string[] = [];
    let cases = 0;
    try {
      for await (const { name, passed, reason } of checkReference(lib, folder!, scratch)) {
        cases++;
        if (!passed) failures.push(`${name}: ${reason}`);
      }
    } finally {
      await rm(scratch, { recursive: true, force: true });
    }
    expect(failures).toEqual([]);
    expect(cases).toBeGreaterThan(0);
  },
  180_000,
);
