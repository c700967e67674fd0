import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

const SCRIPT = fileURLToPath(new URL('../../scripts/quickstart.js', import.meta.url));

test('the quickstart loads three million flights and replaces a day twice without a change of the count', {
  timeout: 120_000,
}, async () => {
  const { stdout } = await promisify(execFile)(process.execPath, [SCRIPT]);
  expect(stdout).toMatch(/added 3,000,000 rows in 182 files/);
  expect(stdout.match(/# 3000000 rows in 182 files: unchanged/g)).toHaveLength(2);
  expect(stdout).toMatch(/2 .* WRITE .*\n +1 .* WRITE .*\n +0 .* CREATE TABLE/);
});
