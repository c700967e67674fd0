import * as fc from 'fast-check';
import { type Item, type Step, steps, type Test } from './verb-model.js';

const text = fc.constantFrom('a', 'b', "it's", 'é😀', 'null');
const item: fc.Arbitrary<Item> = fc.record({
  id: fc.integer({ min: 0, max: 12 }),
  n: fc.option(fc.integer({ min: -3, max: 9 })),
  p: fc.option(text),
  s: fc.option(fc.constantFrom('', 'x', 'y z')),
});
export const items = fc.array(item, { maxLength: 8 });

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

export const step: fc.Arbitrary<Step> = fc.oneof(
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
