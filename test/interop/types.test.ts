import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createTable, parseDdl } from '../../src/index.js';
import {
  expectRows,
  folder,
  open,
  ownLines,
  rowOf,
  schemaOf,
  shared,
  sorted,
  startSpark,
} from './engines.js';
import { linesOf, TYPES } from './values.js';

const root = folder();
const { engines, runtime } = shared();
startSpark();

describe.each(TYPES)('$type', ({ type, values, partitions = values, cannotWrite = {}, cannotRead = {} }) => {
  const name = type.replace(/\W/g, '-');
  const schema = parseDdl(`id int, c ${type}`);
  const rows = (lines: readonly string[]) => lines.map((line) => rowOf(line, schema));
  const lines = linesOf(partitions);
  // Of the first value and NULL, with other ids; and what stands when these were overwritten.
  const again = linesOf(partitions.slice(0, 1), 100);
  const after = [...lines.slice(1, -1), ...again];
  const except = Object.keys(cannotRead) as (keyof typeof cannotRead)[];

  it('is read by every engine as a data column written here', async () => {
    const url = join(root, `${name}-data`);
    const table = await createTable(url, { schema, runtime });
    await table.append(rows(linesOf(values)));
    await expectRows(url, linesOf(values));
  });

  it('is read by every engine as a partition column, appended to and overwritten here', async () => {
    const url = join(root, `${name}-ours`);
    const table = await createTable(url, { schema, partitionBy: ['c'], runtime });
    await table.append(rows(lines));
    await expectRows(url, lines, except);
    const result = await table.overwritePartitions(rows(again));
    expect(result).toMatchObject({
      status: 'committed',
      removed: { files: 2, rows: 2 },
      added: { files: 2, rows: 2 },
    });
    await expectRows(url, after, except);
  });

  it.skipIf(cannotWrite.spark)(
    'written by Spark is read and overwritten here, and Spark overwrites ours',
    async () => {
      const url = join(root, `${name}-spark`);
      const write = { url, schema: schemaOf(schema), partitionBy: ['c'] };
      await engines.ask('spark.write', { ...write, lines });
      await expectRows(url, lines, except);
      await (await open(url)).overwritePartitions(rows(again));
      await expectRows(url, after, except);
      const third = linesOf(partitions.slice(0, 1), 200);
      const options = { partitionOverwriteMode: 'dynamic' };
      await engines.ask('spark.write', { ...write, lines: third, mode: 'overwrite', options });
      await expectRows(url, [...lines.slice(1, -1), ...third], except);
    },
  );

  it.skipIf(cannotWrite.deltars)('written by delta-rs is read and overwritten here', async () => {
    const url = join(root, `${name}-deltars`);
    await engines.ask('deltars.write', { url, schema: schemaOf(schema), lines, partitionBy: ['c'] });
    const table = await open(url);
    expect(await ownLines(table)).toEqual(sorted(lines));
    await table.overwritePartitions(rows(again));
    await expectRows(url, after, except);
  });
});

describe('intervals', () => {
  it('of a Spark whose check of types is off are read as months and microseconds, and refused to writers', async () => {
    const url = join(root, 'intervals');
    const text = `CREATE TABLE delta.\`${url}\` USING delta AS SELECT 1 AS id, INTERVAL '1-2' YEAR TO MONTH AS m,
      INTERVAL '-1 02:03:04.5' DAY TO SECOND AS s, CAST(NULL AS INTERVAL DAY) AS d`;
    await expect(engines.ask('spark.sql', { text })).rejects.toThrow(/DELTA_UNSUPPORTED_DATA_TYPES/);
    const settings = { 'spark.databricks.delta.schema.typeCheck.enabled': 'false' };
    await engines.ask('spark.sql', { text, settings });
    const table = await open(url);
    expect(await table.scan().toArray()).toEqual([{ id: 1, m: 14, s: -93_784_500_000n, d: null }]);
    await expect(table.append([{ id: 2 }])).rejects.toMatchObject({ code: 'UNSUPPORTED_FEATURE' });
  });
});
