import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createRuntime, createTable, openTable, parseDdl } from '../../src/index.js';
import { systemClock } from '../../src/runtime/system.js';
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
import { linesOf } from './values.js';

const root = folder();
const { engines, runtime } = shared();
startSpark();
const schema = parseDdl('id int, c date');
const delta = schemaOf(schema);
const rows = (lines: readonly string[]) => lines.map((line) => rowOf(line, schema));
const DAYS = ['2024-01-01', '2024-01-02', '2024-01-03'];

async function ourTable(name: string, lines: readonly string[], properties?: Record<string, string>) {
  const url = join(root, name);
  const table = await createTable(url, { schema, partitionBy: ['c'], properties, runtime });
  await table.append(rows(lines));
  return { url, table };
}

describe('one table, many engines', () => {
  it('is created here, and appended to by Spark, delta-rs and here in turn', async () => {
    const { url, table } = await ourTable('turns', linesOf(DAYS));
    const lines = [...linesOf(DAYS)];
    for (const turn of [1, 2]) {
      for (const engine of ['spark', 'deltars'] as const) {
        const more = linesOf(DAYS, lines.length * 10 + turn);
        await engines.ask(`${engine}.write`, { url, schema: delta, lines: more });
        lines.push(...more);
      }
      const more = linesOf(DAYS, lines.length * 10 + turn);
      await table.append(rows(more));
      lines.push(...more);
    }
    await expectRows(url, lines);
  });

  it('has a history that other engines show', async () => {
    const { url, table } = await ourTable('history', linesOf(DAYS));
    await table.overwritePartitions(rows(linesOf(DAYS.slice(0, 1), 10)), { userMetadata: 'a note' });
    const [spark] = await engines.ask('spark.history', { url });
    expect(spark).toMatchObject({
      version: 2,
      operation: 'WRITE',
      isBlindAppend: false,
      userMetadata: 'a note',
      operationMetrics: { numFiles: '2', numOutputRows: '2' },
    });
    const [deltars] = await engines.ask('deltars.history', { url });
    expect(deltars).toMatchObject({ version: 2, operation: 'WRITE', userMetadata: 'a note' });
    const detail = await engines.ask('spark.detail', { url });
    expect(detail).toMatchObject({
      partitionColumns: ['c'],
      minReaderVersion: 1,
      minWriterVersion: 2,
      numFiles: 4,
    });
  });

  it('is optimized, deleted from and restored by Spark, and read and overwritten here after each', async () => {
    const { url, table } = await ourTable('maintained', linesOf(DAYS));
    await table.append(rows(linesOf(DAYS, 10)));
    const all = [...linesOf(DAYS), ...linesOf(DAYS, 10)];
    const target = `delta.\`${url}\``;
    await engines.ask('spark.sql', { text: `OPTIMIZE ${target}` });
    expect((await (await open(url)).snapshot()).fileCount).toBe(4);
    await expectRows(url, all);
    await engines.ask('spark.sql', { text: `DELETE FROM ${target} WHERE id >= 10 AND c <=> NULL` });
    await engines.ask('spark.sql', { text: `DELETE FROM ${target} WHERE c = DATE '2024-01-02'` });
    const left = all.filter((line) => !line.includes('2024-01-02') && line !== '{"id":13,"c":null}');
    await expectRows(url, left);
    await table.overwritePartitions(rows(['{"id":50,"c":null}']));
    await expectRows(url, [...left.filter((line) => !line.includes('null')), '{"id":50,"c":null}']);
    await engines.ask('spark.sql', { text: `RESTORE TABLE ${target} TO VERSION AS OF 2` });
    await expectRows(url, all);
    await engines.ask('spark.sql', { text: `VACUUM ${target} RETAIN 0 HOURS` });
    await expectRows(url, all);
  });

  it('is read here when Spark deletes by deletion vectors', async () => {
    const { url } = await ourTable('vectors', linesOf(DAYS, 0));
    const more = Array.from({ length: 50 }, (_, i) => `{"id":${100 + i},"c":"2024-01-01"}`);
    await (await open(url)).append(rows(more));
    await engines.ask('spark.sql', {
      text: `ALTER TABLE delta.\`${url}\` SET TBLPROPERTIES ('delta.enableDeletionVectors' = 'true')`,
    });
    await engines.ask('spark.sql', { text: `DELETE FROM delta.\`${url}\` WHERE id % 10 = 3` });
    const left = [...linesOf(DAYS), ...more].filter((line) => !/"id":\d*3,/.test(line));
    const table = await open(url);
    expect(await ownLines(table)).toEqual(sorted(left));
    expect(await table.count()).toBe(left.length);
    expect(sorted((await engines.ask('spark.read', { url })).lines)).toEqual(sorted(left));
  });

  it('is compacted, deleted from and vacuumed by delta-rs, and read and overwritten here after it', async () => {
    const { url, table } = await ourTable('deltars', linesOf(DAYS));
    await table.append(rows(linesOf(DAYS, 10)));
    await engines.ask('deltars.optimize', { url });
    await engines.ask('deltars.delete', { url, predicate: "c = '2024-01-02'" });
    const left = [...linesOf(DAYS), ...linesOf(DAYS, 10)].filter((line) => !line.includes('2024-01-02'));
    await expectRows(url, left);
    await engines.ask('deltars.vacuum', { url });
    await expectRows(url, left);
    await table.overwritePartitions(rows(linesOf(DAYS, 100)));
    await expectRows(url, linesOf(DAYS, 100));
  });

  it('keeps rows written from a snapshot that another engine has since cleaned up', async () => {
    const { url } = await ourTable('cleaned', linesOf(DAYS), {
      'delta.logRetentionDuration': 'interval 0 days',
    });
    let lateness = 0;
    const late = createRuntime({
      clock: {
        now: () => systemClock.now() + lateness,
        monotonic: () => systemClock.monotonic() + lateness,
        sleep: systemClock.sleep,
      },
    });
    const held = await openTable(url, { runtime: late });
    expect((await held.snapshot()).version).toBe(1);
    const lines = [...linesOf(DAYS)];
    for (let i = 2; i <= 12; i++) {
      await engines.ask('deltars.write', {
        url,
        schema: delta,
        lines: [`{"id":${i * 100},"c":"2024-02-01"}`],
      });
      lines.push(`{"id":${i * 100},"c":"2024-02-01"}`);
    }
    await engines.ask('deltars.checkpoint', { url });
    await engines.ask('deltars.cleanup', { url });
    expect(existsSync(join(url, '_delta_log', '00000000000000000002.json')), 'version 2').toBe(false);
    lateness = 10 * 60_000;
    const result = await held.append(rows(['{"id":9999,"c":"2024-02-02"}']));
    await late.close();
    expect(result).toMatchObject({ status: 'committed', version: 13 });
    await expectRows(url, [...lines, '{"id":9999,"c":"2024-02-02"}']);
  });

  it('has its idempotency tokens honoured across engines', async () => {
    const { url, table } = await ourTable('tokens', linesOf(DAYS));
    await table.append(rows(linesOf([], 10)), { txn: { appId: 'job', version: 3 } });
    expect(await engines.ask('deltars.transactionVersion', { url, appId: 'job' })).toBe(3);
    await engines.ask('spark.write', {
      url,
      schema: delta,
      lines: linesOf([], 20),
      options: { txnAppId: 'job', txnVersion: '4' },
    });
    const skipped = await table.append(rows(linesOf([], 30)), { txn: { appId: 'job', version: 4 } });
    expect(skipped.status).toBe('skipped');
    await engines.ask('spark.write', {
      url,
      schema: delta,
      lines: linesOf([], 40),
      options: { txnAppId: 'job', txnVersion: '3' },
    });
    await expectRows(url, [...linesOf(DAYS), ...linesOf([], 10), ...linesOf([], 20)]);
  });

  it('obeys what Spark put into the table: append only, and NOT NULL', async () => {
    const url = join(root, 'rules');
    const text = `CREATE TABLE delta.\`${url}\` (id INT NOT NULL, c DATE) USING delta PARTITIONED BY (c)
      TBLPROPERTIES ('delta.appendOnly' = 'true')`;
    await engines.ask('spark.sql', { text });
    const table = await open(url);
    await table.append([{ id: 1, c: '2024-01-01' }]);
    await expect(table.append([{ id: null, c: '2024-01-01' }])).rejects.toMatchObject({
      code: 'INVALID_ROW',
    });
    await expect(table.overwritePartitions([{ id: 2, c: '2024-01-01' }])).rejects.toMatchObject({
      code: 'APPEND_ONLY',
    });
    await expectRows(url, ['{"id":1,"c":"2024-01-01"}']);
  });
});
