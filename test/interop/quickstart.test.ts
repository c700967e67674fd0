import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { folder, open, shared, startSpark } from './engines.js';

const SCRIPT = fileURLToPath(new URL('../../scripts/quickstart.js', import.meta.url));
const DAY = '2001-03-15';

const root = folder();
const { engines } = shared();
startSpark();

it('reads what the quickstart leaves as this library does', { timeout: 600_000 }, async () => {
  await promisify(execFile)(process.execPath, [SCRIPT, root]);
  const url = join(root, 'quickstart-table');
  const table = await open(url);
  const sum = async (): Promise<number> => {
    let total = 0;
    for await (const { delay } of table.scan({ where: `day = date '${DAY}'`, columns: ['delay'] }))
      total += Number(delay);
    return total;
  };
  const count = await table.count({ where: `day = date '${DAY}'` });

  const from = `FROM delta.\`${url}\``;
  expect(
    await engines.ask('spark.sql', {
      text: `SELECT count(*) AS rows, count(DISTINCT day) AS days, min(date) AS first, max(date) AS last ${from}`,
    }),
  ).toEqual([
    { rows: 3_000_000, days: 182, first: '2001-01-01T00:01:00.000Z', last: '2001-07-01T00:00:00.000Z' },
  ]);
  expect(
    await engines.ask('spark.sql', {
      text: `SELECT count(*) AS rows, sum(delay) AS delay ${from} WHERE day = date '${DAY}'`,
    }),
  ).toEqual([{ rows: count, delay: await sum() }]);

  const files = await engines.ask('deltars.files', { url });
  expect(files).toHaveLength(182);
  const { lines } = await engines.ask('deltars.read', {
    url,
    columns: ['delay'],
    predicate: `day = '${DAY}'`,
  });
  expect(lines).toHaveLength(count);
});
