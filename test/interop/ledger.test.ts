import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import states from '../../spec/cases/ledger/states.json' with { type: 'json' };
import { definePipeline, type Pipeline, type Row } from '../../src/index.js';
import { folder, open, ownLines, schemaOf, shared, startSpark } from './engines.js';

const root = folder();
const { engines, runtime } = shared();
startSpark();

const DAYS = {
  done: '2024-01-01',
  empty: '2024-01-02',
  missing: '2024-01-03',
  undone: '2024-01-04',
} as const;
const RANGE = { from: '2024-01-01', to: '2024-01-05' };

function rowsOf(day: string): Row[] {
  return ['00', '23'].map((hour, i) => ({ ts: `${day}T${hour}:30:00Z`, day, id: BigInt(i), value: 'ours' }));
}

function pipeline(name: string): Pipeline {
  return definePipeline(
    {
      name: 'daily',
      table: join(root, name),
      create: { schema: 'ts timestamp, day date, id long, value string', partitionBy: ['day'] },
      every: 'day',
      start: '2024-01-01',
      column: 'ts',
      produce: ({ interval }) => (interval.label === DAYS.empty ? [] : rowsOf(interval.label)),
    },
    runtime,
  );
}

const sql = (text: string) => engines.ask('spark.sql', { text });
const values = (day: string) => `(TIMESTAMP '${day} 05:00:00', DATE '${day}', 9L, 'theirs')`;

/** What log cleanup does in the end: only the checkpoint is left of what was before it. */
function removeLogBefore(url: string, version: number): void {
  const log = fileURLToPath(`${url}/_delta_log`);
  for (const name of readdirSync(log))
    if (/^\d{20}\.json$/.test(name) && Number(name.slice(0, 20)) <= version) rmSync(join(log, name));
}

interface Happening {
  readonly engine: string;
  readonly what: string;
  run(url: string, name: string): Promise<unknown>;
}

/** Writes the rows that day `done` has, as if they were of these days. */
async function writeByDeltaRs(
  url: string,
  mode: 'append' | 'overwrite',
  days: readonly string[],
): Promise<void> {
  const table = await open(url);
  const { schema } = await table.snapshot();
  const known = (await ownLines(table)).filter((line) => line.includes(DAYS.done));
  const lines = days.flatMap((day) => known.map((line) => line.replaceAll(DAYS.done, day)));
  await engines.ask('deltars.write', { url, schema: schemaOf(schema), lines, mode });
}

/** A checkpoint of the version that this makes. */
function checkpointBySpark(url: string): Promise<unknown> {
  const properties = "'delta.checkpointInterval' = '1', 'delta.logRetentionDuration' = 'interval 7 days'";
  return sql(`ALTER TABLE delta.\`${url}\` SET TBLPROPERTIES (${properties})`);
}

const HAPPENINGS: readonly Happening[] = [
  {
    engine: 'Spark',
    what: 'append',
    run: (url) => sql(`INSERT INTO delta.\`${url}\` VALUES ${Object.values(DAYS).map(values).join(', ')}`),
  },
  { engine: 'Spark', what: 'delete', run: (url) => sql(`DELETE FROM delta.\`${url}\` WHERE hour(ts) = 0`) },
  {
    engine: 'Spark',
    what: 'overwrite',
    run: (url) => sql(`INSERT OVERWRITE delta.\`${url}\` VALUES ${values('2023-06-01')}`),
  },
  {
    engine: 'Spark',
    what: 'restore',
    run: (url) => sql(`RESTORE TABLE delta.\`${url}\` TO VERSION AS OF 0`),
  },
  {
    engine: 'Spark',
    what: 'replace',
    run: (url) =>
      sql(
        `CREATE OR REPLACE TABLE delta.\`${url}\` USING delta PARTITIONED BY (day) AS SELECT * FROM VALUES ${values('2023-06-01')} AS t(ts, day, id, value)`,
      ),
  },
  { engine: 'Spark', what: 'rewrite', run: (url) => sql(`OPTIMIZE delta.\`${url}\``) },
  {
    engine: 'Spark',
    what: 'cleanup',
    run: async (url) => {
      await checkpointBySpark(url);
      removeLogBefore(url, (await (await open(url)).snapshot()).version);
    },
  },
  { engine: 'Spark', what: 'vacuum', run: (url) => sql(`VACUUM delta.\`${url}\` RETAIN 0 HOURS`) },
  { engine: 'delta-rs', what: 'append', run: (url) => writeByDeltaRs(url, 'append', Object.values(DAYS)) },
  {
    engine: 'delta-rs',
    what: 'delete',
    run: (url) => engines.ask('deltars.delete', { url, predicate: 'id = 0' }),
  },
  { engine: 'delta-rs', what: 'overwrite', run: (url) => writeByDeltaRs(url, 'overwrite', ['2023-06-01']) },
  { engine: 'delta-rs', what: 'rewrite', run: (url) => engines.ask('deltars.optimize', { url }) },
  {
    engine: 'delta-rs',
    what: 'cleanup',
    run: async (url) => {
      await engines.ask('deltars.checkpoint', { url });
      removeLogBefore(url, (await (await open(url)).snapshot()).version);
    },
  },
  { engine: 'delta-rs', what: 'vacuum', run: (url) => engines.ask('deltars.vacuum', { url, hours: 0 }) },
];

describe('the ledger among engines', () => {
  it.each(HAPPENINGS)('$engine: $what', async ({ engine, what, run }) => {
    const daily = pipeline(`${engine}-${what}`);
    for (const label of [DAYS.done, DAYS.empty, DAYS.undone, DAYS.undone]) await daily.run(label);
    await daily.undo(DAYS.undone);
    await run(daily.url, `${engine}-${what}`);
    const { entries } = await daily.coverage(RANGE);
    const found = Object.entries(DAYS).map(([name, label]) => [
      name,
      entries.find(({ interval }) => interval.label === label)!.state,
    ]);
    const { done, empty, missing, undone } = states.cases.find((each) => each.what === what)!;
    expect(Object.fromEntries(found)).toEqual({ done, empty, missing, undone });
    // Whatever happened, a rerun of what is not right makes it so.
    await daily.backfill({ ...RANGE, reprocess: 'all' });
    expect((await daily.coverage(RANGE)).counts).toMatchObject({ done: 3, empty: 1 });
  });

  it('has entries and facts that other engines show', async () => {
    const daily = pipeline('shown');
    await daily.run(DAYS.done);
    const [spark] = await engines.ask('spark.history', { url: daily.url });
    expect(JSON.parse(String(spark!.userMetadata))).toMatchObject({
      intervale: { pipeline: 'daily', label: DAYS.done },
    });
    const appId = 'intervale/1/daily/2024-01-01T00:00:00Z/2024-01-02T00:00:00Z';
    expect(await engines.ask('deltars.transactionVersion', { url: daily.url, appId })).toBe(1);
    await daily.run(DAYS.done);
    expect(await engines.ask('deltars.transactionVersion', { url: daily.url, appId })).toBe(2);
    await checkpointBySpark(daily.url);
    expect(await engines.ask('deltars.transactionVersion', { url: daily.url, appId })).toBe(2);
  });

  it('lets both go on appending between runs', async () => {
    const daily = pipeline('between');
    await daily.run(DAYS.done);
    await sql(`INSERT INTO delta.\`${daily.url}\` VALUES ${values(DAYS.done)}, ${values(DAYS.missing)}`);
    await writeByDeltaRs(daily.url, 'append', [DAYS.missing]);
    await daily.run(DAYS.done);
    const rows = await sql(`SELECT day, count(*) AS n FROM delta.\`${daily.url}\` GROUP BY day ORDER BY day`);
    expect(rows.map(({ n }) => Number(n))).toEqual([2, 4]);
  });
});
