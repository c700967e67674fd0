import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';

const SCRIPT = fileURLToPath(new URL('../../scripts/quickstart.js', import.meta.url));

test('the quickstart backfills three million flights day by day, and runs days again without a change of the count', {
  timeout: 180_000,
}, async () => {
  const folder = await mkdtemp(join(tmpdir(), 'quickstart-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const { stdout } = await promisify(execFile)(process.execPath, [SCRIPT, folder]);
  expect(stdout).toMatch(/added 3,000,000 rows in 182 files/);
  expect(stdout).toMatch(/^182 committed in /m);
  expect(stdout.match(/# 3000000 rows in 182 files: unchanged/g)).toHaveLength(3);
  expect(stdout).toMatch(/2001-03-15, attempt 3/);
  expect(stdout).toMatch(/committed 0 rows as version 185: 2001-07-02, attempt 1/);
  expect(stdout).toMatch(/2001-06 {2}\u25a0{30}\n2001-07 {2}\u25a0\u25a1\u00b7\n/);
  expect(stdout).toMatch(/182 done .* 1 empty .* 1 missing/);
  expect(stdout.match(/^2001-\d\d-\d\d same /gm)).toHaveLength(4);
  // Of all days only the one whose source was corrected.
  expect(stdout).toMatch(/--reprocess stale\n1 committed in /);
  expect(stdout).toMatch(/ 186 .* WRITE .*\n.* 185 .* WRITE .*\+0 rows/);
});
