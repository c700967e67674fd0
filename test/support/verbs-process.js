// A writer of its own process: runs the verbs of its argument one after the other, prints one JSON line a result. Runs the built library.
import { createRuntime, openTable } from '../../dist/index.js';

const { url, s3, steps } = JSON.parse(process.argv[2]);
const runtime = createRuntime({ s3, workers: 1 });
const table = await openTable(url, { runtime });
for (const { id, verb, rows } of steps) {
  const outcome = await table
    .stage(rows, verb, { userMetadata: id })
    .then((staged) => staged.commit())
    .catch((error) => ({ code: error.code ?? String(error) }));
  const { status, version, code } = outcome;
  process.stdout.write(`${JSON.stringify({ id, status, version, code })}\n`);
}
await runtime.close();
