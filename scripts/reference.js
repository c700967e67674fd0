// Runs every table and case of the reference set against the built library; prints a line a group and the reason of each failure.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { loadLibrary } from '../test/reference/library.js';
import { checkReference } from '../test/reference/reference.js';

const root = fileURLToPath(new URL('..', import.meta.url));
const folder = resolve(process.env.REFERENCE_DIR ?? join(root, '../shared/reference'));
const lib = await loadLibrary(new URL('../dist/', import.meta.url));
const scratch = await mkdtemp(join(tmpdir(), 'intervale-reference-'));
const groups = new Map();
let failures = 0;
try {
  for await (const result of checkReference(lib, folder, scratch)) {
    const group = groups.get(result.group) ?? { cases: 0, failed: [] };
    groups.set(result.group, group);
    group.cases++;
    if (!result.passed) group.failed.push(result);
  }
} finally {
  await rm(scratch, { recursive: true, force: true });
}
for (const [name, { cases, failed }] of groups) {
  failures += failed.length;
  console.log(`${failed.length === 0 ? 'ok  ' : 'FAIL'} ${name}: ${cases - failed.length} of ${cases}`);
  for (const { name: testCase, reason } of failed) console.log(`  ${testCase}\n    ${reason}`);
}
if (groups.size === 0) {
  console.error(`There is no case in ${folder}.`);
  failures = 1;
}
process.exitCode = failures === 0 ? 0 : 1;
