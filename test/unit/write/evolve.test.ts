import {
  Table as Arrow,
  DateDay,
  Field,
  Int32,
  Int64,
  makeData,
  RecordBatch,
  Schema,
  Struct,
  Utf8,
  vectorFromArray,
} from 'apache-arrow';
import { afterAll, describe, expect, test } from 'vitest';
import {
  createRuntime,
  createTable,
  openTable,
  type Row,
  type RowSource,
  type Runtime,
  type Table,
} from '../../../src/index.js';
import { printDdl } from '../../../src/schema/ddl.js';
import { openStore } from '../../../src/store/open.js';
import { fakeContext } from '../../support/fake-context.js';

const runtimes: Runtime[] = [createRuntime({ workers: 1 }), createRuntime({ workers: 1 })];
afterAll(async () => {
  for (const runtime of runtimes) await runtime.close();
});
let url: string;
let ours: Table;
let theirs: Table;
let names = 0;

/** Two processes' views of one table. */
async function race(
  schema: string,
  options: { properties?: Record<string, string>; partitionBy?: string[] } = {},
) {
  url = `memory://evolve-${names++}`;
  ours = await createTable(url, { schema, ...options, runtime: runtimes[0] });
  theirs = await openTable(url, { runtime: runtimes[1] });
}

const ddl = async (table: Table): Promise<string> => printDdl((await table.snapshot()).schema);
const rowsOf = async (table: Table): Promise<string[]> =>
  (await table.scan({ int64: 'number', timestamp: 'string' }).toArray())
    .map((row) => JSON.stringify(row))
    .sort();

async function dataFiles(): Promise<number> {
  let count = 0;
  for await (const page of openStore(url, fakeContext()).list(''))
    count += page.filter(({ key }) => key.endsWith('.parquet')).length;
  return count;
}

async function* stream(...items: readonly unknown[]): AsyncGenerator<never> {
  for (const item of items) yield item as never;
}

describe('what rows tell', () => {
  test('Arrow data tells its types', async () => {
    await race('id long');
    const ints = vectorFromArray([1, 2], new Int32());
    const days = vectorFromArray([0, 86_400_000], new DateDay());
    const batch = new Arrow({
      id: vectorFromArray([1n, 2n], new Int64()),
      n: ints,
      d: days,
      s: vectorFromArray(['a', null], new Utf8()),
    });
    await ours.append(batch as unknown as RowSource, { evolve: 'add-columns' });
    expect(await ddl(ours)).toBe('id bigint, n int, d date, s string');
    expect(await rowsOf(ours)).toHaveLength(2);
  });

  test('wider Arrow types widen, narrower ones do not narrow', async () => {
    await race('a int, b long', { properties: { 'delta.enableTypeWidening': 'true' } });
    const a = vectorFromArray([1n], new Int64());
    const b = vectorFromArray([2], new Int32());
    await ours.append(new Arrow({ a, b }) as unknown as RowSource, { evolve: 'widen' });
    expect(await ddl(ours)).toBe('a bigint, b bigint');
    expect(await rowsOf(ours)).toEqual(['{"a":1,"b":2}']);
  });

  test('an Arrow column of another case is the one that is there, two of them are refused', async () => {
    await race('id int');
    const id = makeData({ type: new Int32(), length: 1, data: new Int32Array([7]) });
    const fields = ['x', 'X'].map((name) => new Field(name, new Int32(), true));
    const twice = new RecordBatch(
      new Schema(fields),
      makeData({ type: new Struct(fields), length: 1, children: [id, id] }),
    );
    await expect(ours.append(twice as unknown as RowSource, { evolve: 'add-columns' })).rejects.toMatchObject(
      {
        code: 'INVALID_SCHEMA',
      },
    );
    await ours.append(new Arrow({ ID: vectorFromArray([7], new Int32()) }) as unknown as RowSource, {
      evolve: 'add-columns',
    });
    expect(await ddl(ours)).toBe('id int');
  });

  test('values of every kind tell their type, and read back', async () => {
    await race('id int');
    const row: Row = {
      id: 1,
      flag: true,
      big: 2n ** 40n,
      num: 0.5,
      text: 'x',
      bytes: new Uint8Array([1, 2]),
      at: new Date(0),
      list: [new Map([['k', 1n]])],
      group: { a: { b: 'deep' } },
    };
    await ours.append([row, { id: 2 }], { evolve: 'add-columns' });
    expect(await ddl(ours)).toBe(
      'id int, flag boolean, big bigint, num double, text string, bytes binary, at timestamp, list array<map<string, bigint>>, group struct<a: struct<b: string>>',
    );
    const [first] = await ours.scan({ where: 'id = 1' }).toArray();
    expect(first).toMatchObject({ big: 2n ** 40n, group: { a: { b: 'deep' } } });
  });

  test('a stream is looked at as far as its first batch, and read once and whole', async () => {
    await race('id int');
    let read = 0;
    async function* rows(): AsyncGenerator<Row> {
      for (let i = 0; i < 40_000; i++, read++) yield i < 10 ? { id: i } : { id: i, x: 'y' };
    }
    await ours.append(rows(), { evolve: 'add-columns' });
    expect(read).toBe(40_000);
    expect(await ours.count({ where: "x = 'y'" })).toBe(39_990);
  });

  test('a column that comes later in a stream is refused, and nothing stays', async () => {
    await race('id int');
    let closed = false;
    async function* rows(): AsyncGenerator<Row> {
      try {
        for (let i = 0; i < 40_000; i++) yield i < 20_000 ? { id: i } : { id: i, x: 'y' };
      } finally {
        closed = true;
      }
    }
    await expect(ours.append(rows(), { evolve: 'add-columns' })).rejects.toMatchObject({
      code: 'UNKNOWN_COLUMN',
      context: { row: 20_000, column: 'x' },
    });
    expect(closed).toBe(true);
    expect(await dataFiles()).toBe(0);
    await ours.append(rows(), { evolve: 'add-columns', evolveTo: 'x string' });
    expect(await ours.count({ where: "x = 'y'" })).toBe(20_000);
  });

  test('a source that cannot be looked at is closed', async () => {
    await race('id int');
    let closed = false;
    async function* rows(): AsyncGenerator<Row> {
      try {
        yield { id: 1, x: 1 };
        yield { id: 2, x: 'a' };
        yield* stream(...Array.from({ length: 20_000 }, () => ({ id: 3 })));
      } finally {
        closed = true;
      }
    }
    await expect(ours.append(rows(), { evolve: 'add-columns' })).rejects.toMatchObject({
      code: 'INVALID_ROW',
    });
    expect(closed).toBe(true);
  });
});

describe('the schema that a winner left', () => {
  const add = { evolve: 'add-columns' } as const;

  test('has the same new columns: the rows go in', async () => {
    await race('id int');
    const staged = await ours.stage([{ id: 1, x: 'a' }], 'append', add);
    await theirs.append([{ id: 2, x: 'b' }], add);
    expect(await staged.commit()).toMatchObject({ status: 'committed', version: 2 });
    expect(await ddl(ours)).toBe('id int, x string');
    expect(await rowsOf(ours)).toEqual(['{"id":1,"x":"a"}', '{"id":2,"x":"b"}']);
    expect(await rowsOf(await openTable(url, { runtime: runtimes[1] }))).toHaveLength(2);
  });

  test('has other new columns: both stay', async () => {
    await race('id int');
    const staged = await ours.stage([{ id: 1, x: 'a' }], 'append', add);
    await theirs.append([{ id: 2, y: 'b' }], add);
    expect(await staged.commit()).toMatchObject({ status: 'committed', version: 2 });
    expect(await ddl(ours)).toBe('id int, y string, x string');
    expect(await rowsOf(ours)).toEqual(['{"id":1,"y":null,"x":"a"}', '{"id":2,"y":"b","x":null}']);
  });

  test('has the column in another type: a conflict, and nothing stays', async () => {
    await race('id int');
    const staged = await ours.stage([{ id: 1, x: 'a' }], 'append', add);
    await theirs.append([{ id: 2, x: 5n }], add);
    const before = await dataFiles();
    await expect(staged.commit()).rejects.toMatchObject({
      code: 'COMMIT_CONFLICT',
      context: { what: 'metadata' },
    });
    expect(await dataFiles()).toBe(before - 1);
    expect(await ddl(theirs)).toBe('id int, x bigint');
  });

  test('has a name of another case: a conflict', async () => {
    await race('id int');
    const staged = await ours.stage([{ id: 1, x: 'a' }], 'append', add);
    await theirs.append([{ id: 2, X: 'b' }], add);
    await expect(staged.commit()).rejects.toMatchObject({ code: 'COMMIT_CONFLICT' });
  });

  test('maps columns: physical names would differ, a conflict', async () => {
    await race('id int', { properties: { 'delta.columnMapping.mode': 'name' } });
    const staged = await ours.stage([{ id: 1, x: 'a' }], 'append', add);
    await theirs.append([{ id: 2, x: 'b' }], add);
    await expect(staged.commit()).rejects.toMatchObject({ code: 'COMMIT_CONFLICT' });
    expect(await ours.append([{ id: 1, x: 'a' }], add)).toMatchObject({ status: 'committed', version: 2 });
    expect(await rowsOf(ours)).toEqual(['{"id":1,"x":"a"}', '{"id":2,"x":"b"}']);
  });

  test('has a constraint that the rows were not checked by: a conflict', async () => {
    await race('id int');
    const staged = await ours.stage([{ id: 1, x: 'a' }], 'append', add);
    await theirs.alter({ addConstraint: 'c', check: 'id > 5' });
    await expect(staged.commit()).rejects.toMatchObject({ code: 'COMMIT_CONFLICT' });
  });

  test('a merge goes on where the schema is the very one it makes, and not otherwise', async () => {
    await race('id int');
    await ours.append([{ id: 1 }]);
    const same = await ours.stage([{ id: 1, x: 'a' }], { verb: 'merge', on: ['id'] }, add);
    await theirs.append([{ id: 2, x: 'b' }], add);
    expect(await same.commit()).toMatchObject({ status: 'committed', rows: { updated: 1 } });
    const other = await ours.stage([{ id: 2, z: 'c' }], { verb: 'merge', on: ['id'] }, add);
    await theirs.append([{ id: 3, y: 'b' }], add);
    await expect(other.commit()).rejects.toMatchObject({ code: 'COMMIT_CONFLICT' });
    expect(await rowsOf(ours)).toEqual([
      '{"id":1,"x":"a","y":null}',
      '{"id":2,"x":"b","y":null}',
      '{"id":3,"x":null,"y":"b"}',
    ]);
  });

  test('many at once, each with a column of its own: all are there', async () => {
    await race('id int');
    const tables = [ours, theirs];
    const write = (i: number) => tables[i % 2]!.append([{ id: i, [`c${i}`]: 'v' }], add);
    await Promise.all(Array.from({ length: 10 }, (_, i) => write(i)));
    const rows = await (await openTable(url, { runtime: runtimes[0] })).scan().toArray();
    expect(rows.map((row) => row[`c${Number(row.id)}`])).toEqual(Array(10).fill('v'));
    expect((await ours.snapshot()).schema.fields).toHaveLength(11);
  });
});

test('a replay with a token does not evolve again, and a plan changes nothing', async () => {
  await race('id int');
  const options = { evolve: 'add-columns', txn: { appId: 'a', version: 1 } } as const;
  const staged = await ours.stage([{ id: 1, x: 'a' }], 'append', options);
  const plan = await staged.plan();
  expect(plan).toMatchObject({ added: { rows: 1 } });
  expect(printDdl(plan.schema!)).toBe('id int, x string');
  expect(await ddl(ours)).toBe('id int');
  await staged.commit();
  expect(await ours.append([{ id: 1, y: 'a' }], options)).toMatchObject({ status: 'skipped' });
  expect(await ddl(ours)).toBe('id int, x string');
});

test('a stream of Arrow batches tells by its first', async () => {
  await race('id int');
  const batch = new Arrow({
    id: vectorFromArray([1], new Int32()),
    t: vectorFromArray(['x'], new Utf8()),
  });
  await ours.append(stream(...batch.batches) as RowSource, { evolve: 'add-columns' });
  expect(await ddl(ours)).toBe('id int, t string');
});
