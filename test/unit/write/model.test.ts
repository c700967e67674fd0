import * as fc from 'fast-check';
import { afterAll, describe, expect, test } from 'vitest';
import { createRuntime, createTable, openTable, type Table } from '../../../src/index.js';
import { type Item, rowsOf, type Step, steps, type Test } from '../../support/verb-model.js';

const runtime = createRuntime({ workers: 1 });
const second = createRuntime({ workers: 1 });
afterAll(async () => {
  await runtime.close();
  await second.close();
});
let names = 0;

const text = fc.constantFrom('a', 'b', "it's", 'é😀', 'null');
const item: fc.Arbitrary<Item> = fc.record({
  id: fc.integer({ min: 0, max: 12 }),
  n: fc.option(fc.integer({ min: -3, max: 9 })),
  p: fc.option(text),
  s: fc.option(fc.constantFrom('', 'x', 'y z')),
});
const items = fc.array(item, { maxLength: 8 });

const condition: fc.Arbitrary<Test> = fc.oneof(
  fc.integer({ min: -1, max: 13 }).map((k): Test => ({ sql: `id >= ${k}`, holds: ({ id }) => id >= k })),
  fc
    .integer({ min: -3, max: 9 })
    .map((k): Test => ({ sql: `n < ${k}`, holds: ({ n }) => n !== null && n < k })),
  text.map((p): Test => ({ sql: `p = '${p.replace("'", "''")}'`, holds: (each) => each.p === p })),
  fc.constant<Test>({ sql: 'p is null', holds: ({ p }) => p === null }),
  fc.constant<Test>({ sql: 'true', holds: () => true }),
  fc.tuple(text, fc.integer({ min: 0, max: 9 })).map(
    ([p, k]): Test => ({
      sql: `p <> '${p.replace("'", "''")}' and n > ${k}`,
      holds: ({ p: q, n }) => q !== null && q !== p && n !== null && n > k,
    }),
  ),
  fc.constant<Test>({ sql: "s is null or s like '%x%'", holds: ({ s }) => s?.includes('x') ?? true }),
);

const step: fc.Arbitrary<Step> = fc.oneof(
  items.map(steps.append),
  items.map(steps.overwritePartitions),
  fc.tuple(condition, items).map(([where, rows]) => steps.overwrite(where, rows.filter(where.holds))),
  fc.tuple(condition, items).map(([where, rows]) => steps.overwrite(where, rows)),
  condition.map(steps.delete),
  condition.map(steps.update),
  fc.tuple(condition, fc.constantFrom('a', 'zz')).map(([where, p]) => steps.move(where, p)),
  items.map(steps.merge),
  fc.tuple(items, condition).map(([rows, where]) => steps.sync(rows, where)),
  items.map(steps.replaceUsing),
  fc.constant(steps.checkpoint()),
);

const spelled = (rows: readonly Item[]): string[] =>
  rows.map(({ id, n, p, s }) => JSON.stringify([id, n, p, s])).sort();

async function itemsOf(table: Table): Promise<Item[]> {
  return (await table.scan({ int64: 'number' }).toArray()) as unknown as Item[];
}

/** The rows that the change data of each version make of nothing. */
async function replayed(table: Table, from: number): Promise<string[]> {
  const found = new Map<string, number>();
  for await (const row of table.changes({ from, int64: 'number' })) {
    const { id, n, p, s } = row as unknown as Item;
    const key = JSON.stringify([id, n, p, s]);
    const type = row._change_type as string;
    const sign = type === 'insert' || type === 'update_postimage' ? 1 : -1;
    found.set(key, (found.get(key) ?? 0) + sign);
  }
  return [...found]
    .flatMap(([key, count]) => {
      expect(count, key).toBeGreaterThanOrEqual(0);
      return Array.from({ length: count }, () => key);
    })
    .sort();
}

const LAYOUTS: readonly (readonly [string, Record<string, string>])[] = [
  ['plain', {}],
  ['deletion vectors', { 'delta.enableDeletionVectors': 'true' }],
  [
    'changes and mapped columns',
    { 'delta.enableChangeDataFeed': 'true', 'delta.columnMapping.mode': 'name' },
  ],
  [
    'changes, vectors and tracked rows',
    {
      'delta.enableChangeDataFeed': 'true',
      'delta.enableDeletionVectors': 'true',
      'delta.enableRowTracking': 'true',
    },
  ],
];

describe.each(LAYOUTS)('random sequences of verbs (%s)', (_, properties) => {
  test('leave what the same operations leave in memory', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 10 }), async (sequence) => {
        const table = await createTable(`memory://model-${names++}`, {
          schema: 'id long, n int, p string, s string',
          partitionBy: ['p'],
          properties,
          runtime,
        });
        let expected: readonly Item[] = [];
        for (const each of sequence) {
          const outcome = await each.run(table).then(
            () => undefined,
            (error: { code?: string }) => error.code ?? String(error),
          );
          expect(outcome, each.text).toBe(each.refused);
          if (!each.refused) expected = each.model(expected);
          expect(spelled(await itemsOf(table)), each.text).toEqual(spelled(expected));
          expect(await table.count()).toBe(expected.length);
        }
        if (properties['delta.enableChangeDataFeed'])
          expect(await replayed(table, 0)).toEqual(spelled(expected));
      }),
      { numRuns: 50 },
    );
  });
});

describe.each(LAYOUTS.slice(0, 3))('verbs at the same time, from two processes (%s)', (_, properties) => {
  test('leave what some order of them leaves', async () => {
    await fc.assert(
      fc.asyncProperty(items, fc.array(step, { minLength: 2, maxLength: 4 }), async (first, racing) => {
        const url = `memory://model-${names++}`;
        const schema = 'id long, n int, p string, s string';
        const table = await createTable(url, {
          schema,
          partitionBy: ['p'],
          properties,
          rows: rowsOf(first),
          runtime,
        });
        const other = await openTable(url, { runtime: second });
        const tables = [table, other];
        const refused = await Promise.all(
          racing.map((each, i) =>
            each.run(tables[i % 2]!).then(
              () => undefined,
              (error: { code?: string }) => error.code ?? String(error),
            ),
          ),
        );
        expect(refused).toEqual(racing.map((each) => each.refused));
        const wanted = orders(racing.filter((each) => !each.refused)).map((order) =>
          spelled(order.reduce((rows, each) => each.model(rows), first as readonly Item[])).join('\n'),
        );
        const found = spelled(await itemsOf(table)).join('\n');
        expect(wanted, racing.map((each) => each.text).join('\n')).toContain(found);
      }),
      { numRuns: 40 },
    );
  });
});

function orders<T>(all: readonly T[]): T[][] {
  if (all.length <= 1) return [[...all]];
  return all.flatMap((each, i) => orders(all.filter((_, at) => at !== i)).map((rest) => [each, ...rest]));
}
