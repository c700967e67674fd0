// @ts-check
// Side by side with the peers, in one run: `npm run bench [-- --only NAME,NAME] [--rounds N] [--json]`. Ratios count; times say nothing about another machine.
// Needs a build (`npm run build`). Data and virtual environment are made on first use; results are kept in bench/results/.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { commandCases } from './cases/command.js';
import { lookupCases } from './cases/lookup.js';
import { mergeCases } from './cases/merge.js';
import { openCases } from './cases/open.js';
import { parquetCases } from './cases/parquet.js';
import { pipelineCases } from './cases/pipelines.js';
import { readCases } from './cases/read.js';
import { s3Cases } from './cases/s3.js';
import { writeCases } from './cases/write.js';
import { makeData, python, Worker } from './process.js';
import { printRows, versionsOf } from './report.js';

const ROOT = new URL('..', import.meta.url).pathname;

/** @type {Record<string, import('./measure.js').Case>} */
const CASES = {
  ...openCases,
  ...writeCases,
  ...mergeCases,
  ...readCases,
  ...lookupCases,
  ...s3Cases,
  ...pipelineCases,
  ...parquetCases,
  ...commandCases,
};

const { values } = parseArgs({
  options: {
    only: { type: 'string' },
    rounds: { type: 'string', default: '5' },
    json: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});

if (values.help) {
  console.log(
    `npm run bench [-- --only NAME,NAME] [--rounds N] [--json]\n\nNames: ${Object.keys(CASES).join(', ')}`,
  );
  process.exit(0);
}

// `write` measures the bytes as well.
const chosen = values.only?.split(',') ?? Object.keys(CASES).filter((name) => name !== 'write-bytes');
const unknown = chosen.filter((name) => !(name in CASES));
if (unknown.length > 0) {
  console.error(`no such measurement: ${unknown.join(', ')}. There are: ${Object.keys(CASES).join(', ')}`);
  process.exit(2);
}

const data = join(ROOT, '.cache/bench');
mkdirSync(data, { recursive: true });
makeData(data, process.env.REFERENCE_DIR ?? join(ROOT, '../shared/reference'));
const scratch = mkdtempSync(join(data, 'scratch-'));
const started = new Date();
/** @type {import('./measure.js').ResultRow[]} */
const rows = [];
const failures = [];
try {
  for (const name of chosen) {
    console.error(`measuring ${name}`);
    const folder = join(scratch, name);
    mkdirSync(folder);
    const ours = new Worker(process.execPath, [join(ROOT, 'bench/ours.js')]);
    const peer = new Worker(python(), ['-u', join(ROOT, 'bench/peer.py')]);
    try {
      rows.push(
        ...(await CASES[name]({ name, data, scratch: folder, ours, peer, rounds: Number(values.rounds) })),
      );
    } catch (error) {
      failures.push(name);
      console.error(`${name} failed:`, error);
    } finally {
      await Promise.all([ours.stop(), peer.stop()]);
      rmSync(folder, { recursive: true, force: true });
    }
  }
} finally {
  rmSync(scratch, { recursive: true, force: true });
}

const report = { started: started.toISOString(), ...(await versionsOf()), rows, failures };
const results = join(ROOT, 'bench/results');
mkdirSync(results, { recursive: true });
const file = join(results, `${started.toISOString().replaceAll(':', '-').slice(0, 19)}.json`);
writeFileSync(file, `${JSON.stringify(report, null, 2)}\n`);
if (values.json) console.log(JSON.stringify(report, null, 2));
else printRows(rows);
console.error(`kept in ${file}`);
if (failures.length > 0) process.exitCode = 1;
