import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { open, shared, startSpark } from './engines.js';

const SCRIPT = fileURLToPath(new URL('../../scripts/quickstart.js', import.meta.url));
const TABLE = fileURLToPath(new URL('../../quickstart-table', import.meta.url));
const DAY = '2001-03-15';

const { engines } = shared();
startSpark();

it('reads what the quickstart leaves as this library does', { timeout: 600_000 }, async () => {
  await promisify(execFile)(process.execPath, [SCRIPT]);
  const table = await open(TABLE);
  const sum = async (): Promise<number> => {
    let total = 0;
    for await (const { delay } of table.scan({ where: `day = date '${DAY}'`, columns: ['delay'] }))
      total += Number(delay);
    return total;
  };
  const count = await table.count({ where: `day = date '${DAY}'` });

  const from = `FROM delta.\`${TABLE}\``;
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

  const files = await engines.ask('deltars.files', { url: TABLE });
  expect(files).toHaveLength(182);
  const { lines } = await engines.ask('deltars.read', {
    url: TABLE,
    columns: ['delay'],
    predicate: `day = '${DAY}'`,
  });
  expect(lines).toHaveLength(count);
});
