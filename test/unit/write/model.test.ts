import * as fc from 'fast-check';
import { afterAll, describe, expect, test } from 'vitest';
import { createRuntime, createTable, openTable, type Table } from '../../../src/index.js';
import { items, step } from '../../support/verb-arbitraries.js';
import { type Item, rowsOf, runStep, spelled } from '../../support/verb-model.js';

const runtime = createRuntime({ workers: 1 });
const second = createRuntime({ workers: 1 });
afterAll(async () => {
  await runtime.close();
  await second.close();
});
let names = 0;

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
          const outcome = await runStep(table, each).then(
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
            runStep(tables[i % 2]!, each).then(
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
