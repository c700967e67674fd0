import { spawn } from 'node:child_process';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createRuntime, createTable, openTable } from '../../src/index.js';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'intervale-killed-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

test('a writer killed after staging files leaves the table as it was, and the next writer goes on', async () => {
  const url = join(folder, 'table');
  const runtime = createRuntime({ workers: 1 });
  await createTable(url, {
    schema: 'id long, text string',
    properties: { 'delta.targetFileSize': '64kb' },
    rows: [{ id: -1, text: 'before' }],
    runtime,
  });
  const script = fileURLToPath(new URL('../support/endless-writer.js', import.meta.url));
  const child = spawn(process.execPath, [script, JSON.stringify({ url })], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await new Promise<void>((resolve, reject) => {
    let seen = '';
    child.stdout.on('data', (chunk: Buffer) => {
      seen += chunk.toString();
      if (seen.split('\n').length > 3) resolve();
    });
    child.on('close', () => reject(new Error('the writer ended by itself')));
  });
  child.kill('SIGKILL');
  await new Promise((resolve) => child.on('exit', resolve));

  const staged = (await readdir(url)).filter((name) => name.endsWith('.parquet'));
  expect(staged.length).toBeGreaterThan(1);
  const own = createRuntime({ workers: 1 });
  const table = await openTable(url, { runtime: own });
  expect(await table.scan().toArray()).toEqual([{ id: -1n, text: 'before' }]);
  expect(await table.append([{ id: 1, text: 'after' }])).toMatchObject({ status: 'committed', version: 1 });
  expect(await table.count()).toBe(2);
  await Promise.all([runtime.close(), own.close()]);
});
