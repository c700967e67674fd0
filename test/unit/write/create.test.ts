import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { createRuntime, createTable } from '../../../src/index.js';

const runtime = createRuntime({ workers: 1 });
const root = mkdtempSync(join(tmpdir(), 'intervale-create-'));
afterAll(async () => {
  await runtime.close();
  rmSync(root, { recursive: true, force: true });
});

it('a table made where another was removed knows nothing of that one', async () => {
  const url = join(root, 'again');
  for (const id of [1n, 2n]) {
    rmSync(url, { recursive: true, force: true });
    const table = await createTable(url, { schema: 'id long', runtime });
    expect((await table.append([{ id }])).version).toBe(1);
    expect(readdirSync(join(url, '_delta_log')).filter((name) => name.endsWith('.json'))).toHaveLength(2);
    expect(await table.scan().toArray()).toEqual([{ id }]);
  }
});
