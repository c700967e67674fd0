// @ts-check
// A service as it runs for months, made short: `node bench/soak.js [--minutes N] [--json FILE]`, or SOAK_MINUTES; an hour by default. One process with one runtime and
// one local table: a writer of single rows, a follower with changes, scans, merges and deletions at once. Says every ten seconds what the process takes, and at
// its end what it took in the second quarter and in the last: memory that goes with the commits made would show. Needs a build (`npm run build`).
import { appendFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { createRuntime, createTable } from '../dist/index.js';

setFlagsFromString('--expose-gc');
const collect = /** @type {() => void} */ (runInNewContext('gc'));

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: process.env.SOAK_MINUTES ?? '60' },
    json: { type: 'string' },
  },
});
const LASTS_MS = Number(values.minutes) * 60_000;
const SAMPLE_MS = Math.min(10_000, LASTS_MS / 40);
/** Rows that the table keeps: older ones are deleted. */
const KEPT = 5_000;
const KEYS = 50;
/** What a process may take more at the end: caches that fill late. */
const GROWTH = 1.1;
const MB = 2 ** 20;

const folder = mkdtempSync(join(tmpdir(), 'intervale-soak-'));
const runtime = createRuntime({ workers: 1, fsync: false });
const table = await createTable(join(folder, 'table'), {
  schema: 'n long not null, key int, at timestamp, text string',
  properties: {
    'delta.enableChangeDataFeed': 'true',
    'delta.enableDeletionVectors': 'true',
    'delta.deletedFileRetentionDuration': 'interval 0 seconds',
  },
  runtime,
});
const end = performance.now() + LASTS_MS;
const stop = new AbortController();
const isOver = () => performance.now() > end;
const done = { rows: 0, followed: 0, changes: 0, scans: 0, merges: 0, deletions: 0 };
/** @type {{ minute: number, rss: number, heap: number, external: number }[]} */
const samples = [];

async function write() {
  const writer = await table.writer({ txn: { appId: 'soak' }, maxDelay: 300 });
  while (!isOver()) {
    const n = done.rows + 1;
    await writer.write({ n, key: n % KEYS, at: new Date(), text: `row ${n} ${'x'.repeat(n % 200)}` });
    done.rows++;
    if (n % 20 === 0) await sleep(100);
  }
  await writer.close();
}

async function follow() {
  for await (const { changes } of table.follow({ changes: true, pollMs: 100, signal: stop.signal })) {
    done.followed++;
    for await (const _ of changes?.rows() ?? []) done.changes++;
  }
}

async function scan() {
  while (!isOver()) {
    for await (const _ of table.scan({ where: `key = ${done.scans % KEYS}` }).rows());
    done.scans++;
    await sleep(500);
  }
}

async function merge() {
  while (!isOver()) {
    const newest = done.rows;
    const rows = Array.from({ length: 20 }, (_, i) => ({
      n: Math.max(1, newest - 3 * i),
      key: i,
      text: 'merged',
    }));
    const unique = [...new Map(rows.map((row) => [row.n, row])).values()];
    await table.merge(unique, {
      on: ['n'],
      whenMatched: [{ update: { text: 'source.text' } }],
      whenNotMatched: [],
    });
    done.merges++;
    await table.delete({ where: `n < ${newest - KEPT}` });
    done.deletions++;
    await sleep(2_000);
  }
}

async function sample() {
  const start = performance.now();
  while (!isOver()) {
    await sleep(SAMPLE_MS);
    collect();
    const { rss, heapUsed, external } = process.memoryUsage();
    const minute = (performance.now() - start) / 60_000;
    samples.push({ minute, rss: rss / MB, heap: heapUsed / MB, external: external / MB });
    const { version } = await table.snapshot();
    const took = samples.at(-1);
    console.log(
      [
        `${minute.toFixed(1)} min`,
        `rss ${took?.rss.toFixed(0)} MB`,
        `heap ${took?.heap.toFixed(1)}`,
        `external ${took?.external.toFixed(1)}`,
        `version ${version}`,
        ...Object.entries(done).map(([name, count]) => `${name} ${count}`),
      ].join('  '),
    );
    if (values.json) appendFileSync(values.json, `${JSON.stringify({ ...took, version, ...done })}\n`);
  }
}

/** What requests under way hold comes and goes: the least of several looks is what stays. @param {'rss' | 'heap' | 'external'} key */
function grown(key) {
  const quarter = samples.length / 4;
  const least = (/** @type {number} */ from, /** @type {number} */ to) =>
    Math.min(...samples.slice(from, to).map((each) => each[key]));
  const [early, late] = [least(quarter, 2 * quarter), least(3 * quarter, samples.length)];
  console.log(`${key}: ${early.toFixed(1)} MB in the second quarter, ${late.toFixed(1)} MB in the last`);
  return late > early * GROWTH + 1;
}

try {
  const following = follow();
  await Promise.all([write(), scan(), merge(), sample()]);
  stop.abort();
  await following;
  const rows = await (await table.snapshot()).count({ where: `n > ${done.rows - KEPT}` });
  if (rows !== Math.min(KEPT, done.rows)) throw new Error(`${rows} of the newest rows are there`);
  const isGrowing = [grown('rss'), grown('heap'), grown('external')].includes(true);
  if (isGrowing) {
    console.error('the process takes more the longer it runs');
    process.exitCode = 1;
  }
} finally {
  await runtime.close();
  rmSync(folder, { recursive: true, force: true });
}
