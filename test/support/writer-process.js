// A writer of its own process: appends or overwrites as told by its arguments, prints one JSON line a result. Runs the built library.
import { createRuntime, openTable } from '../../dist/index.js';

const { url, mode, writer, count, s3, partition } = JSON.parse(process.argv[2]);
const runtime = createRuntime({ s3, workers: 1 });
const table = await openTable(url, { runtime });
for (let i = 0; i < count; i++) {
  const rows = [{ id: BigInt(writer * 1000 + i), p: partition ?? `w${writer}` }];
  const result = mode === 'append' ? await table.append(rows) : await table.overwritePartitions(rows);
  process.stdout.write(
    `${JSON.stringify({ status: result.status, version: result.version, attempts: result.attempts })}\n`,
  );
}
await runtime.close();
