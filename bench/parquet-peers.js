// @ts-check
// The Parquet libraries of the npm registry that people use for the same: parquetjs-lite and hyparquet. JSON requests on stdin, a line each.
import { readFileSync, rmSync, statSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { tableFromIPC } from 'apache-arrow';
import { asyncBufferFromFile, parquetReadObjects } from 'hyparquet';
// @ts-expect-error it comes without types
import parquet from 'parquetjs-lite';

/** @type {Record<string, unknown>[]} */
let rows = [];

const SCHEMA = new parquet.ParquetSchema({
  id: { type: 'INT64', compression: 'SNAPPY' },
  ts: { type: 'INT64', compression: 'SNAPPY' },
  day: { type: 'INT32', compression: 'SNAPPY' },
  category: { type: 'UTF8', compression: 'SNAPPY' },
  amount: { type: 'DOUBLE', compression: 'SNAPPY' },
  name: { type: 'UTF8', compression: 'SNAPPY' },
});

/** @param {() => Promise<unknown>} action */
async function timed(action) {
  const start = performance.now();
  await action();
  return performance.now() - start;
}

/** @type {Record<string, (args: any) => Promise<object>>} */
const operations = {
  // Timestamps and dates as plain integers: parquetjs-lite cannot read back a TIMESTAMP column of its own.
  load: async ({ path, count }) => {
    rows = [];
    for (const batch of tableFromIPC(readFileSync(path)).batches) {
      for (let i = 0; i < batch.numRows && rows.length < count; i++) {
        const { id, ts, day, category, amount, name } = /** @type {any} */ (batch.get(i));
        rows.push({
          id: Number(id),
          ts: Math.round(Number(ts) * 1000),
          day: Math.floor(Number(day) / 86_400_000),
          category,
          amount,
          name,
        });
      }
    }
    return { rows: rows.length };
  },

  writeParquetjs: async ({ file }) => {
    rmSync(file, { force: true });
    const ms = await timed(async () => {
      const writer = await parquet.ParquetWriter.openFile(SCHEMA, file);
      writer.setRowGroupSize(100_000);
      for (const row of rows) await writer.appendRow(row);
      await writer.close();
    });
    return { ms, bytes: statSync(file).size };
  },

  readParquetjs: async ({ file }) => {
    let found = 0;
    const ms = await timed(async () => {
      const reader = await parquet.ParquetReader.openFile(file);
      const cursor = reader.getCursor();
      while (await cursor.next()) found++;
      await reader.close();
    });
    return { ms, rows: found };
  },

  readHyparquet: async ({ file }) => {
    let found = 0;
    const ms = await timed(async () => {
      found = (await parquetReadObjects({ file: await asyncBufferFromFile(file) })).length;
    });
    return { ms, rows: found };
  },
};

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
