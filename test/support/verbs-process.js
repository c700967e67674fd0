// A writer of its own process: does the verbs that it is told, one after the other, and prints one JSON line each. Runs the built library.
import { createRuntime, openTable } from '../../dist/index.js';

const { url, writer, work, s3 } = JSON.parse(process.argv[2]);
const runtime = createRuntime({ s3, workers: 1 });
const table = await openTable(url, { runtime });
for (const [i, { verb, rows, txn }] of work.entries()) {
  const { verb: name, ...spec } = typeof verb === 'string' ? { verb } : verb;
  const given = rows?.map((row) => ({ ...row, id: row.id === null ? null : BigInt(row.id) }));
  const options = { ...spec, txn, userMetadata: `${writer}/${i}` };
  let told;
  try {
    const { status, version, attempts } = await (given ? table[name](given, options) : table[name](options));
    told = { status, version, attempts };
  } catch (error) {
    told = { code: error.code ?? String(error) };
  }
  process.stdout.write(`${JSON.stringify({ writer, work: i, ...told })}\n`);
}
await runtime.close();
