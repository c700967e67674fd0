import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createRuntime, createTable, openTable, type RequestEvent, type Table } from '../../../src/index.js';

const PARTITIONS = 60;
const FILES = 5;
const ROWS = 20;

let requests: RequestEvent[] = [];
const runtime = createRuntime({
  workers: 1,
  onEvent: (event) => {
    if (event.type === 'request') requests.push(event);
  },
});
const other = createRuntime({ workers: 1 });
afterAll(async () => {
  await runtime.close();
  await other.close();
});
beforeEach(() => {
  requests = [];
});

/** Data files that were read, each once. */
const filesRead = () =>
  new Set(
    requests
      .filter(({ operation, key }) => operation.startsWith('get') && key.endsWith('.parquet'))
      .map(({ key }) => key),
  );
const commitsRead = () =>
  requests.filter(
    ({ operation, key, outcome }) =>
      operation.startsWith('get') && outcome === 'ok' && /^_delta_log\/\d+\.json$/.test(key),
  );

/** Ids lie spread over the files of a partition, so that nothing but the partition tells files apart. */
function* rowsOf(file: number) {
  for (let p = 0; p < PARTITIONS; p++) for (let i = 0; i < ROWS; i++) yield { id: i * FILES + file, p, n: 0 };
}

describe('of a table of many files, a small write', () => {
  let table: Table;
  beforeAll(async () => {
    table = await createTable('memory://requests-many', {
      schema: 'id long, p int, n long',
      partitionBy: ['p'],
      runtime,
    });
    for (let file = 0; file < FILES; file++) await table.append(rowsOf(file));
  });

  test('reads the files of the partitions in its key, and no other', async () => {
    const rows = Array.from({ length: 50 }, (_, id) => ({ id, p: 7, n: 1 }));
    expect(await table.merge(rows, { on: ['p', 'id'] })).toMatchObject({
      rows: { updated: 50, inserted: 0 },
    });
    expect(filesRead().size).toBeLessThanOrEqual(FILES);
    expect(await table.count({ where: 'n = 1' })).toBe(50);
  });

  test.each(['p = 13L', "p = '14'", 'p = 15.0'])(
    'reads nothing where a partition is named by %s',
    async (where) => {
      expect(await table.delete({ where })).toMatchObject({ removed: { files: FILES } });
      expect(filesRead().size).toBe(0);
    },
  );

  test('reads no data file where a partition goes whole, and removes all of its files', async () => {
    const result = await table.overwrite([{ id: 1, p: 9, n: 2 }], { where: 'p = 9' });
    expect(result).toMatchObject({ removed: { files: FILES }, added: { files: 1 } });
    expect(filesRead().size).toBe(0);
  });

  test('reads no data file without rows', async () => {
    expect(await table.merge([], { on: ['id'] })).toMatchObject({ status: 'unchanged' });
    expect(await table.overwrite([], { where: 'p = 11' })).toMatchObject({ removed: { files: FILES } });
    expect(filesRead().size).toBe(0);
    expect(await table.count({ where: 'p = 11' })).toBe(0);
  });
});

test('a write that was beaten many times reads each commit in between once, and few again to be sure of them', async () => {
  const url = 'memory://requests-beaten';
  const table = await createTable(url, { schema: 'id long', rows: [{ id: 0 }], runtime });
  const staged = await table.stage([{ id: -1 }], 'append');
  const theirs = await openTable(url, { runtime: other });
  for (let id = 1; id <= 30; id++) await theirs.append([{ id }]);
  requests = [];
  expect(await staged.commit()).toMatchObject({ status: 'committed', version: 31 });
  // The known version may be looked at, and the one that was lost twice.
  expect(commitsRead().length).toBeLessThanOrEqual(32);
  expect(await table.count()).toBe(32);
});
