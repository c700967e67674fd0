// @ts-check
// What the bench asks of pipelines: the same operations and answers as pipelines.py.
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { makeData, RecordBatch, Struct, tableFromIPC } from 'apache-arrow';
import { createRuntime, createTable, definePipeline, openTable } from '../dist/index.js';

const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;
const START = Date.parse('2024-01-01T00:00:00Z');
/** The day that the input is of. */
const INPUT_DAY = Date.parse('2024-01-15T00:00:00Z');
const SCHEMA = 'id long, ts timestamp, day date, category string, amount double, name string';

/** @type {RecordBatch | undefined} */
let input;

/** Rows of one day, made anew for each from the same input. @param {number} startMs @param {number} rows */
function rowsOfDay(startMs, rows) {
  if (!input) throw new Error('the input is not loaded');
  const [id, ts, day, ...others] = input.data.children.map((column) => column.slice(0, rows));
  const shift = BigInt(startMs - INPUT_DAY) * 1000n;
  const times = new BigInt64Array(rows);
  for (let i = 0; i < rows; i++) times[i] = BigInt.asIntN(64, ts.values[i] + shift);
  const days = new Int32Array(rows).fill(startMs / DAY_MS);
  const children = [
    id,
    makeData({ type: ts.type, data: times }),
    makeData({ type: day.type, data: days }),
    ...others,
  ];
  return new RecordBatch(
    input.schema,
    makeData({ type: new Struct(input.schema.fields), length: rows, children }),
  );
}

/** @param {string} url @param {number} rows @param {import('../dist/index.js').Runtime} runtime */
const pipelineOf = (url, rows, runtime) =>
  definePipeline(
    {
      name: 'daily',
      table: url,
      every: 'day',
      start: '2024-01-01',
      column: 'day',
      produce: ({ interval }) => rowsOfDay(interval.startMs, rows),
    },
    runtime,
  );

/** @param {number} ms */
const instant = (ms) => `${new Date(ms).toISOString().slice(0, 19)}Z`;

/**
 * The log of a table that an hourly pipeline has filled, a file an hour: a checkpoint and ten commits after it. Without `ledger` the same files by somebody else.
 * @param {string} url @param {number} runs @param {boolean} ledger
 */
async function makeHourly(url, runs, ledger) {
  rmSync(url, { recursive: true, force: true });
  mkdirSync(`${url}/_delta_log`, { recursive: true });
  const fields = [
    ['ts', 'timestamp'],
    ['id', 'long'],
    ['value', 'string'],
  ].map(([name, type]) => ({ name, type, nullable: true, metadata: {} }));
  const head = [
    { protocol: { minReaderVersion: 1, minWriterVersion: 2 } },
    {
      metaData: {
        id: '8d6f7a52-6c0b-4f0e-9d1e-0d5a5f5f3c11',
        format: { provider: 'parquet', options: {} },
        schemaString: JSON.stringify({ type: 'struct', fields }),
        partitionColumns: [],
        configuration: {},
        createdTime: START,
      },
    },
  ];
  const notes = [];
  const tail = Math.min(10, runs - 1);
  /** @type {object[]} */
  let actions = head;
  for (let run = 0, version = 0; run < runs; run++) {
    const [from, to] = [START + run * HOUR_MS, START + (run + 1) * HOUR_MS];
    const uuid = `00000000-0000-4000-8000-${String(run).padStart(12, '0')}`;
    const facts = {
      pipeline: 'hourly',
      start: instant(from),
      end: instant(to),
      label: `${instant(from).slice(0, 16)}Z`,
      attempt: 1,
      runId: uuid,
      mode: 'replace',
      rows: 1000,
      bytes: 20_000,
      digest: String(run).padStart(32, '0'),
      inputs: [],
      codeVersion: 'v1',
      startedAt: to,
      durationMs: 40,
    };
    const stats = {
      numRecords: 1000,
      minValues: { ts: new Date(from).toISOString(), id: 0, value: 'a' },
      maxValues: { ts: new Date(to - 1).toISOString(), id: 999, value: 'z' },
      nullCount: { ts: 0, id: 0, value: 0 },
    };
    const isLast = run >= runs - tail;
    if (isLast) {
      const info = ledger
        ? { intervale: facts, userMetadata: JSON.stringify({ intervale: facts }) }
        : { engineInfo: 'another' };
      actions = [{ commitInfo: { timestamp: to, operation: 'WRITE', ...info } }];
    }
    const appId = `intervale/1/hourly/${facts.start}/${facts.end}`;
    if (ledger) actions.push({ txn: { appId, version: 1, lastUpdated: to } });
    actions.push({
      add: {
        path: `part-${uuid}.parquet`,
        partitionValues: {},
        size: 20_000,
        modificationTime: to,
        dataChange: true,
        stats: JSON.stringify(stats),
      },
    });
    notes.push({ status: 'committed', version: isLast ? version : 0, ...facts });
    if (run >= runs - tail - 1) {
      const name = String(version).padStart(20, '0');
      writeFileSync(
        `${url}/_delta_log/${name}.json`,
        `${actions.map((each) => JSON.stringify(each)).join('\n')}\n`,
      );
      if (version === 0) {
        const runtime = createRuntime({ workers: 1 });
        await (await openTable(url, { runtime })).checkpoint();
        await runtime.close();
      }
      version++;
    }
  }
  if (!ledger) return;
  const folder = `${url}/_intervale/runs/hourly`;
  for (const note of notes) {
    const span = [note.start, note.end].map((text) => text.replaceAll(/[:-]/g, '')).join('-');
    mkdirSync(`${folder}/${span}`, { recursive: true });
    writeFileSync(`${folder}/${span}/1.json`, `${JSON.stringify(note)}\n`);
  }
}

/** @type {Record<string, (args: any) => Promise<object>>} */
export const pipelineOperations = {
  loadDay: async ({ path }) => {
    [input] = tableFromIPC(readFileSync(path)).batches;
    return {};
  },

  backfill: async ({ url, days, rows, maxActive, s3, fsync }) => {
    if (!s3) rmSync(url, { recursive: true, force: true });
    let [requests, retries] = [0, 0];
    const runtime = createRuntime({
      s3,
      fsync,
      onEvent: ({ type }) => {
        if (type === 'request') requests++;
        if (type === 'conflict') retries++;
      },
    });
    const table = await createTable(url, { schema: SCHEMA, partitionBy: ['day'], runtime });
    await (await table.stage([rowsOfDay(START, 10)], 'append')).discard();
    const pipeline = pipelineOf(url, rows, runtime);
    const to = new Date(START + days * DAY_MS).toISOString().slice(0, 10);
    requests = 0;
    const cpu = process.cpuUsage();
    const start = performance.now();
    const { report } = await pipeline.backfill({ to, maxActive });
    const ms = performance.now() - start;
    const { user, system } = process.cpuUsage(cpu);
    const made = requests;
    if (report?.counts.committed !== days) throw new Error(JSON.stringify(report?.counts));
    const count = await (await openTable(url, { runtime })).count();
    await runtime.close();
    return { ms, cpu: (user + system) / 1000, rows: count, requests: made, retries };
  },

  makeHourly: async ({ url, runs, ledger }) => {
    await makeHourly(url, runs, ledger);
    return {};
  },

  // A runtime of its own each time: nothing of an earlier look is kept.
  coverage: async ({ url, runs }) => {
    const runtime = createRuntime({ workers: 1 });
    const pipeline = definePipeline(
      { name: 'hourly', table: url, every: 'hour', start: '2024-01-01', column: 'ts', produce: () => [] },
      runtime,
    );
    const cpu = process.cpuUsage();
    const start = performance.now();
    const { counts } = await pipeline.coverage({ to: instant(START + runs * HOUR_MS) });
    const ms = performance.now() - start;
    const { user, system } = process.cpuUsage(cpu);
    await runtime.close();
    if (counts.done !== runs) throw new Error(JSON.stringify(counts));
    return { ms, cpu: (user + system) / 1000 };
  },
};
