// One write in a process of its own: tells the most memory it took, and how it read and wrote. Runs the built library.
import * as arrow from 'apache-arrow';
import { createRuntime, createTable, openTable } from '../../dist/index.js';

const { url, job, rows, partitions } = JSON.parse(process.argv[2]);
const BATCH = 50_000;
const reads = new Set();
const runtime = createRuntime({
  fsync: false,
  onEvent: (event) => {
    if (event.type === 'request' && event.operation.startsWith('get') && event.key.endsWith('.parquet'))
      reads.add(event.key);
  },
});

/** Rows whose partitions come in no order, the same ones each time. */
async function* shuffled() {
  let state = 1;
  for (let from = 0; from < rows; from += BATCH) {
    const length = Math.min(BATCH, rows - from);
    const id = BigInt64Array.from({ length }, (_, i) => BigInt(from + i));
    const part = Int32Array.from({ length }, () => {
      state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
      return (state >>> 8) % partitions;
    });
    const data = arrow.makeTable({ part, id, x: Float64Array.from(part, (each) => each / 3) });
    yield data.batches[0];
  }
}

const jobs = {
  append: async () => {
    const table = await createTable(url, {
      schema: 'part int, id long, x double',
      partitionBy: ['part'],
      runtime,
    });
    await table.append(shuffled());
  },
  merge: async () => {
    const table = await openTable(url, { runtime });
    const source = Array.from({ length: rows }, (_, i) => ({ part: 7, id: BigInt(i), x: -1 }));
    await table.merge(source, { on: ['part', 'id'] });
  },
  overwrite: async () => {
    const table = await openTable(url, { runtime });
    await table.overwrite([{ part: 7, id: 0n, x: 0 }], { where: 'part = 7' });
  },
  mergeNothing: async () => {
    const table = await openTable(url, { runtime });
    await table.merge([], { on: ['part', 'id'] });
  },
};
await jobs[job]();
const peak = process.resourceUsage().maxRSS * 1024;
const table = await openTable(url, { runtime });
const files = (await (await table.snapshot()).files()).length;
process.stdout.write(`${JSON.stringify({ peak, files, reads: reads.size })}\n`);
await runtime.close();
