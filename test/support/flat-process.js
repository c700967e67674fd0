// Commits and reads for long in one process; prints the kilobytes in use after a collection, from time to time. Needs --expose-gc.
// Runs the built library.
import { createRuntime, openTable } from '../../dist/index.js';

const { url, commits } = JSON.parse(process.argv[2]);
const used = () => {
  globalThis.gc();
  const { heapUsed, external } = process.memoryUsage();
  return (heapUsed + external) / 1024;
};
const runtime = createRuntime({ workers: 1, fsync: false });
const table = await openTable(url, { runtime });
const writer = await table.writer({ txn: { appId: 'flat' }, maxRows: 1, maxDelay: 0 });
const seen = new AbortController();
const following = (async () => {
  for await (const _ of table.follow({ pollMs: 1, signal: seen.signal }));
})();
for (let i = 1; i <= commits; i++) {
  await (await writer.write({ id: i })).committed;
  if (i % 10 === 0) await table.overwrite([{ id: 0 }], { all: true });
  if (i % 10 === 0) process.stdout.write(`${JSON.stringify(used())}\n`);
}
seen.abort();
await following;
await runtime.close();
