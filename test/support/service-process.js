// A service that writes a row at a time: goes on behind the last row that the table has of it, until it is killed or told to end by SIGTERM.
// Prints the number of each row once it is acknowledged. Runs the built library.
import { createRuntime, isTableError, openTable } from '../../dist/index.js';

const { url, s3, service } = JSON.parse(process.argv[2]);
const OTHER_AT_WORK = 4;
let ending = false;
process.on('SIGTERM', () => {
  ending = true;
});
try {
  const runtime = createRuntime({ s3, workers: 1 });
  const table = await openTable(url, { runtime });
  const writer = await table.writer({
    txn: { appId: `service-${service}` },
    maxRows: 1 + Math.floor(Math.random() * 40),
    maxDelay: 1 + Math.random() * 30,
  });
  process.stdout.write('ready\n');
  for (let n = (writer.lastVersion ?? 0) + 1; !ending; n++) {
    const { committed } = await writer.write({ service, n }, { version: n });
    committed.then(
      () => process.stdout.write(`${n}\n`),
      () => undefined,
    );
    if (Math.random() < 0.1) await new Promise((resolve) => setTimeout(resolve, Math.random() * 10));
  }
  await runtime.close();
} catch (error) {
  // What a process that was killed had sent may land after the next one has begun.
  if (!isTableError(error, 'COMMIT_CONFLICT') || error.context.what !== 'token') throw error;
  process.exitCode = OTHER_AT_WORK;
}
