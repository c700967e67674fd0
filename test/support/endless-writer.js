// Appends a source that never ends, in small files, so that a kill finds files staged and nothing committed. Says `staged` for each file.
import { createRuntime, openTable } from '../../dist/index.js';

const { url, s3 } = JSON.parse(process.argv[2]);
const runtime = createRuntime({
  s3,
  workers: 1,
  onEvent: (event) => {
    if (event.type === 'fileStaged') process.stdout.write('staged\n');
  },
});
const table = await openTable(url, { runtime });

async function* rows() {
  for (let id = 0; ; id++) {
    if (id % 1000 === 0) await new Promise((resolve) => setImmediate(resolve));
    yield { id: BigInt(id), text: `${Math.sin(id)}${Math.cos(id)}` };
  }
}

await table.append(rows());
