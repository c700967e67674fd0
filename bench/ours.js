// @ts-check
// Intervale as the bench measures it: the same operations and answers as peer.py. JSON requests on stdin, a line each.
import { readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { tableFromIPC } from 'apache-arrow';
import { createRuntime, createTable, openTable, VERSION } from '../dist/index.js';
import { pipelineOperations } from './ours-pipelines.js';

/** @typedef {import('../dist/index.js').Table} Table */
/** @typedef {import('../dist/index.js').RequestEvent} RequestEvent */

const SCHEMA = 'id long, ts timestamp, day date, category string, amount double, name string';
const PARTS = { schema: 'id long, part long', partitionBy: ['part'] };

/** @type {Map<string, import('apache-arrow').Table>} */
const inputs = new Map();
/** @type {Map<string, Table>} */
const tables = new Map();
/** @type {Record<string, unknown>[]} */
let objects = [];
/** @type {RequestEvent[]} */
let requests = [];
/** @type {ReturnType<typeof createRuntime> | undefined} */
let shared;

/** @param {import('../dist/index.js').RuntimeOptions} [options] */
const newRuntime = (options) =>
  createRuntime({
    ...options,
    onEvent: (event) => {
      if (event.type === 'request') requests.push(event);
    },
  });

/** The runtime that a running process would have: its threads are up, its caches warm. @param {object} [s3] */
function running(s3) {
  shared ??= newRuntime({ s3 });
  return shared;
}

/** @template T @param {() => Promise<T>} action @returns {Promise<[number, T]>} */
async function timed(action) {
  const start = performance.now();
  const value = await action();
  return [performance.now() - start, value];
}

function peakRss() {
  try {
    return Number(/VmHWM:\s+(\d+)/.exec(readFileSync('/proc/self/status', 'utf8'))?.[1]) * 1024;
  } catch {
    return process.resourceUsage().maxRSS * 1024;
  }
}

/** @param {string} path */
function rowsOf(path) {
  let rows = inputs.get(path);
  if (!rows) {
    rows = tableFromIPC(readFileSync(path));
    inputs.set(path, rows);
  }
  return rows;
}

const isData = (/** @type {string} */ name) => !name.includes('_delta_log');

/** The names and sizes of what is not of the log. @param {string} url */
function dataFiles(url) {
  const names = readdirSync(url, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
  return new Map(names.filter(isData).map((name) => [name, statSync(name).size]));
}

/** @param {AsyncIterable<import('apache-arrow').RecordBatch>} batches */
async function drain(batches) {
  let rows = 0;
  for await (const batch of batches) rows += batch.numRows;
  return rows;
}

const partRows = (/** @type {number} */ part, /** @type {number} */ id) => [
  { id: BigInt(id), part: BigInt(part) },
];

/** @type {Record<string, (args: any) => Promise<object>>} */
const operations = {
  ...pipelineOperations,

  load: async ({ path }) => ({ rows: rowsOf(path).numRows }),

  // A runtime of its own each time: nothing of an earlier open is kept.
  open: async ({ url, s3 }) => {
    const runtime = newRuntime({ s3 });
    requests = [];
    const [ms, version] = await timed(
      async () => (await (await openTable(url, { runtime })).snapshot(KNOWN)).version,
    );
    const peak = peakRss();
    await runtime.close();
    return { ms, version, peak, requests };
  },

  keep: async ({ url, s3 }) => {
    const table = await openTable(url, { runtime: running(s3) });
    tables.set(url, table);
    return { version: (await table.snapshot()).version };
  },

  refresh: async ({ url }) => {
    requests = [];
    const [ms, snapshot] = await timed(() => kept(url).snapshot());
    return { ms, version: snapshot.version, requests };
  },

  plan: async ({ url, column, value, statistics }) => {
    const snapshot = await kept(url).snapshot();
    const where = statistics ? `${column} = ${value}` : `${column} = '${value}'`;
    const [ms, plan] = await timed(() => snapshot.scan({ where }).plan());
    return { ms, files: plan.files.length };
  },

  write: async ({ url, path, partitionBy = ['day'] }) => {
    rmSync(url, { recursive: true, force: true });
    const rows = rowsOf(path);
    await running().pool();
    const [ms] = await timed(async () => {
      const table = await createTable(url, { schema: SCHEMA, partitionBy, runtime: running() });
      await table.append(rows);
    });
    const { size } = await (await openTable(url, { runtime: running() })).snapshot();
    return { ms, bytes: size, peak: peakRss() };
  },

  overwriteDay: async ({ url, path }) => {
    const rows = rowsOf(path);
    const table = await openTable(url, { runtime: running() });
    const [ms] = await timed(() => table.overwritePartitions(rows));
    return { ms };
  },

  merge: async ({ url, path, on }) => {
    const rows = rowsOf(path);
    const before = dataFiles(url);
    const table = await openTable(url, { runtime: running() });
    await running().pool();
    requests = [];
    const [ms, result] = await timed(() => table.merge(rows, { on }));
    const reads = requests.filter(({ key, operation }) => isData(key) && operation.startsWith('get'));
    let written = 0;
    for (const [name, size] of dataFiles(url)) if (!before.has(name)) written += size;
    return {
      ms,
      rows: result.rows.updated + result.rows.inserted,
      filesRead: new Set(reads.map(({ key }) => key)).size,
      written,
      peak: peakRss(),
    };
  },

  alter: async ({ url, properties }) => {
    await (await openTable(url, { runtime: running() })).alter({ setProperties: properties });
    return {};
  },

  scan: async ({ url, predicate, reuseMemory }) => {
    const [ms, rows] = await timed(async () => {
      const table = await openTable(url, { runtime: running() });
      return drain(table.scan({ where: predicate, reuseMemory }).batches());
    });
    return { ms, rows, peak: peakRss() };
  },

  appendRows: async ({ url, count, fsync }) => {
    rmSync(url, { recursive: true, force: true });
    const runtime = newRuntime({ fsync });
    const table = await createTable(url, { schema: 'id long, name string', runtime });
    await table.append([{ id: 0n, name: 'row 0' }]);
    const [ms] = await timed(async () => {
      for (let i = 1; i <= count; i++) await table.append([{ id: BigInt(i), name: `row ${i}` }]);
    });
    const { version } = await table.snapshot();
    await runtime.close();
    return { ms, version };
  },

  checkpoint: async ({ url }) => {
    const log = join(url, '_delta_log');
    for (const name of readdirSync(log)) if (name.includes('checkpoint')) rmSync(join(log, name));
    const runtime = newRuntime();
    const table = await openTable(url, { runtime });
    const [ms] = await timed(() => table.checkpoint());
    await runtime.close();
    const written = readdirSync(log).filter((name) => name.endsWith('.checkpoint.parquet'));
    return { ms, bytes: written.reduce((sum, name) => sum + statSync(join(log, name)).size, 0) };
  },

  create: async ({ url, s3 }) => {
    requests = [];
    const [ms] = await timed(async () => {
      await createTable(url, { ...PARTS, rows: partRows(0, 0), runtime: running(s3) });
    });
    return { ms, requests };
  },

  writePart: async ({ url, part, verb, s3 }) => {
    const table = tables.get(url);
    const runtime = table ? running(s3) : newRuntime({ s3 });
    requests = [];
    const [ms] = await timed(async () => {
      const target = table ?? (await openTable(url, { runtime }));
      await (verb === 'overwrite'
        ? target.overwritePartitions(partRows(part, part))
        : target.append(partRows(part, part)));
    });
    const made = requests;
    if (!table) await runtime.close();
    return { ms, requests: made };
  },

  readPart: async ({ url, predicate }) => {
    const snapshot = await kept(url).snapshot(KNOWN);
    requests = [];
    const [ms, rows] = await timed(() => drain(snapshot.scan({ where: predicate }).batches()));
    return { ms, rows, requests };
  },

  // The threads are up before the first commit, as in a process that has written before.
  warm: async ({ url, part }) => {
    await (await kept(url).stage(partRows(part, 0), 'overwritePartitions')).discard();
    return {};
  },

  contend: async ({ url, part, commits }) => {
    const table = kept(url);
    requests = [];
    let failed = 0;
    let longest = 0;
    const cpu = process.cpuUsage();
    for (let i = 0; i < commits; i++) {
      const [ms] = await timed(() =>
        table.overwritePartitions(partRows(part, i)).catch((error) => {
          console.error(error);
          failed++;
        }),
      );
      longest = Math.max(longest, ms);
    }
    const { user, system } = process.cpuUsage(cpu);
    return { failed, longest, cpu: (user + system) / 1000, requestCount: requests.length };
  },

  loadObjects: async ({ path, count }) => {
    objects = [];
    for (const batch of rowsOf(path).batches) {
      for (let i = 0; i < batch.numRows && objects.length < count; i++) {
        const { id, ts, day, category, amount, name } = /** @type {any} */ (batch.get(i));
        objects.push({
          id,
          ts: BigInt(Math.round(Number(ts) * 1000)),
          day: new Date(Number(day)),
          category,
          amount,
          name,
        });
      }
    }
    return { rows: objects.length };
  },

  writeObjects: async ({ url }) => {
    rmSync(url, { recursive: true, force: true });
    await running().pool();
    const [ms] = await timed(async () => {
      const table = await createTable(url, { schema: SCHEMA, runtime: running() });
      await table.append(objects);
    });
    const { size } = await (await openTable(url, { runtime: running() })).snapshot();
    return { ms, bytes: size };
  },

  readObjects: async ({ url }) => {
    const [ms, rows] = await timed(async () => {
      let found = 0;
      for await (const _ of (await openTable(url, { runtime: running() })).scan().rows()) found++;
      return found;
    });
    return { ms, rows };
  },

  versions: async () => ({ node: process.versions.node, intervale: VERSION }),
};

/** The newest version already known counts: what is measured is the work, not a check for news. */
const KNOWN = { maxStaleness: Number.POSITIVE_INFINITY };

/** @param {string} url */
function kept(url) {
  const table = tables.get(url);
  if (!table) throw new Error(`${url} is not kept open`);
  return table;
}

for await (const line of createInterface({ input: process.stdin })) {
  const { op, args } = JSON.parse(line);
  let answer;
  try {
    answer = { result: await operations[op](args) };
  } catch (error) {
    console.error(error);
    answer = { error: String(error) };
  }
  process.stdout.write(`${JSON.stringify(answer)}\n`);
}
await shared?.close();
