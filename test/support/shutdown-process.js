// A service that closes its runtime with everything still under way: rows in a writer, appends not awaited, a follower in its loop. Must end by itself.
// Prints what it was told. Runs the built library.
import { createRuntime, openTable } from '../../dist/index.js';

const { url, s3 } = JSON.parse(process.argv[2]);
const say = (message) => process.stdout.write(`${JSON.stringify(message)}\n`);
const runtime = createRuntime({ s3, workers: 1 });
const table = await openTable(url, { runtime });
const writer = await table.writer({ txn: { appId: 'closing' }, maxDelay: 3_600_000 });
const following = (async () => {
  for await (const _ of table.follow({ pollMs: 3_600_000 }));
})();
await table.append([{ id: 0 }]);
for (let id = 1; id <= 10; id++) {
  const { committed } = await writer.write({ id });
  committed.then((version) => say({ row: id, version }));
}
const appends = Promise.all([11, 12, 13].map((id) => table.append([{ id }])));
await runtime.close();
for (const { status, version } of await appends) say({ append: status, version });
await following;
const refused = await table.append([{ id: 99 }]).then(
  () => 'nothing',
  ({ code }) => code,
);
say({ refused });
