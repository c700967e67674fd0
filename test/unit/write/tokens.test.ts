import { afterAll, describe, expect, test } from 'vitest';
import { createRuntime, createTable, openTable, type Row, type Table } from '../../../src/index.js';
import { openStore } from '../../../src/store/open.js';
import { FakeClock, fakeContext } from '../../support/fake-context.js';

const clock = new FakeClock();
const runtime = createRuntime({ workers: 1, clock });
afterAll(() => runtime.close());
let names = 0;

const tableOf = (properties?: Record<string, string>): Promise<Table> =>
  createTable(`memory://tokens-${names++}`, { schema: 'id long, s string', properties, runtime });
const txn = { appId: 'job', version: 3 };
const rows: Row[] = [
  { id: 1, s: 'a' },
  { id: 2, s: null },
];

/** Rows that must not be asked for. */
function* untouchable(): Generator<Row> {
  yield { id: 0 };
  throw new Error('the rows were read');
}

describe('a token', () => {
  test('makes a replay a skip that reads no rows and names the earlier commit', async () => {
    const table = await tableOf();
    await table.append(rows, { txn });
    await table.append([{ id: 9 }]);
    const replay = await table.append(untouchable(), { txn });
    expect(replay).toMatchObject({
      status: 'skipped',
      version: 2,
      recorded: { appId: 'job', version: 3, commit: 1 },
    });
    expect(await table.merge(untouchable(), { on: ['id'], txn: { ...txn, version: 1 } })).toMatchObject({
      status: 'skipped',
    });
    expect(await table.delete({ where: 'true', txn })).toMatchObject({ status: 'skipped' });
    expect(await table.count()).toBe(3);
  });

  test('is recorded by writes that change nothing', async () => {
    const table = await tableOf();
    expect(await table.append([], { txn })).toMatchObject({
      status: 'committed',
      version: 1,
      added: { files: 0 },
    });
    expect(await table.append(untouchable(), { txn })).toMatchObject({ status: 'skipped' });
    expect(await table.delete({ where: 'id = 5', txn: { ...txn, version: 4 } })).toMatchObject({
      status: 'committed',
      version: 2,
    });
    expect(await table.merge([], { on: ['id'], txn: { ...txn, version: 5 } })).toMatchObject({
      status: 'committed',
      version: 3,
    });
  });

  test('outlives the commits that recorded it', async () => {
    const table = await tableOf();
    await table.append(rows, { txn });
    await table.append([{ id: 9 }]);
    await table.checkpoint();
    const store = openStore(table.url, fakeContext());
    for (const version of ['0', '1']) await store.delete(`_delta_log/${version.padStart(20, '0')}.json`);
    const later = createRuntime({ workers: 1 });
    const opened = await openTable(table.url, { runtime: later });
    expect(await opened.append(untouchable(), { txn })).toMatchObject({ status: 'skipped' });
    expect(await opened.append([{ id: 10 }], { txn: { ...txn, version: 4 } })).toMatchObject({
      status: 'committed',
    });
    await later.close();
  });

  test('is checked on the very version committed against', async () => {
    const table = await tableOf();
    const first = await table.stage(rows, 'append', { txn });
    const second = await table.stage(rows, 'append', { txn });
    expect(await first.commit()).toMatchObject({ status: 'committed' });
    expect(await second.commit()).toMatchObject({ status: 'skipped', recorded: { commit: 1 } });
    expect(await table.count()).toBe(2);
  });

  test('is forgotten after the retention that the table asks for, and not before', async () => {
    const table = await tableOf({ 'delta.setTransactionRetentionDuration': 'interval 1 hour' });
    await table.append(rows, { txn });
    clock.advance(3_599_000);
    expect(await table.append(untouchable(), { txn })).toMatchObject({ status: 'skipped' });
    clock.advance(2_000);
    expect(await table.append(rows, { txn })).toMatchObject({ status: 'committed' });
  });
});

describe('a replay that is compared', () => {
  const compared = { txn, onReplay: 'compare' as const };

  test('is skipped when its rows are the same, in whatever order', async () => {
    const table = await tableOf();
    await table.append(rows, compared);
    expect(await table.append([...rows].reverse(), compared)).toMatchObject({ status: 'skipped' });
    await expect(table.append([rows[0]!, { id: 2, s: '' }], compared)).rejects.toMatchObject({
      code: 'REPLAY_DIFFERS',
    });
    await expect(table.append(rows.slice(1), compared)).rejects.toMatchObject({ code: 'REPLAY_DIFFERS' });
    expect(await table.count()).toBe(2);
  });

  test('is compared too when the first came between staging and commit', async () => {
    const table = await tableOf();
    const other = await table.stage([{ id: 7 }], { verb: 'merge', on: ['id'] }, compared);
    await table.append(rows, compared);
    await expect(other.commit()).rejects.toMatchObject({ code: 'REPLAY_DIFFERS' });
  });

  test('of a write that left no digest is refused', async () => {
    const table = await tableOf();
    await table.append(rows, { txn });
    await expect(table.append(rows, compared)).rejects.toMatchObject({ code: 'REPLAY_DIFFERS' });
  });
});
