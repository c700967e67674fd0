import type { Row, Table } from '../../src/index.js';

/** A row of the tables that random sequences work on. */
export interface Item {
  readonly id: number;
  readonly n: number | null;
  readonly p: string | null;
  readonly s: string | null;
}

/** A condition, as SQL and as what it is for a row: TRUE, or FALSE and NULL alike. */
export interface Test {
  readonly sql: string;
  readonly holds: (item: Item) => boolean;
}

/** One operation: on a table of the library, and on rows in memory. `refused` says what the table must answer instead. */
export interface Step {
  readonly text: string;
  run(table: Table): Promise<unknown>;
  model(items: readonly Item[]): readonly Item[];
  readonly refused?: string;
}

export const rowsOf = (items: readonly Item[]): Row[] => items.map((item) => ({ ...item }));

const isDuplicated = (items: readonly Item[], key: (item: Item) => string): boolean =>
  new Set(items.map(key)).size < items.length;
const keyOf = ({ id, p }: Item): string => JSON.stringify([id, p]);

export const steps = {
  append: (rows: readonly Item[]): Step => ({
    text: `append ${JSON.stringify(rows)}`,
    run: (table) => table.append(rowsOf(rows)),
    model: (items) => [...items, ...rows],
  }),
  overwritePartitions: (rows: readonly Item[]): Step => ({
    text: `overwritePartitions ${JSON.stringify(rows)}`,
    run: (table) => table.overwritePartitions(rowsOf(rows)),
    model: (items) => {
      const partitions = new Set(rows.map(({ p }) => p));
      return [...items.filter(({ p }) => !partitions.has(p)), ...rows];
    },
  }),
  overwrite: (test: Test, rows: readonly Item[]): Step => ({
    text: `overwrite where ${test.sql} ${JSON.stringify(rows)}`,
    run: (table) => table.overwrite(rowsOf(rows), { where: test.sql }),
    model: (items) => [...items.filter((item) => !test.holds(item)), ...rows],
    ...(rows.every(test.holds) ? {} : { refused: 'OUTSIDE_TARGET' }),
  }),
  delete: (test: Test): Step => ({
    text: `delete ${test.sql}`,
    run: (table) => table.delete({ where: test.sql }),
    model: (items) => items.filter((item) => !test.holds(item)),
  }),
  update: (test: Test): Step => ({
    text: `update ${test.sql}`,
    run: (table) => table.update({ set: { n: 'n + 1', s: "coalesce(s, 'none')" }, where: test.sql }),
    model: (items) =>
      items.map((item) =>
        test.holds(item) ? { ...item, n: item.n === null ? null : item.n + 1, s: item.s ?? 'none' } : item,
      ),
  }),
  move: (test: Test, p: string): Step => ({
    text: `move ${test.sql} to ${p}`,
    run: (table) => table.update({ set: { p: `'${p}'` }, where: test.sql }),
    model: (items) => items.map((item) => (test.holds(item) ? { ...item, p } : item)),
  }),
  merge: (rows: readonly Item[]): Step => ({
    text: `merge ${JSON.stringify(rows)}`,
    run: (table) => table.merge(rowsOf(rows), { on: ['id', 'p'] }),
    model: (items) => {
      const source = new Map(rows.map((row) => [keyOf(row), row]));
      const target = new Set(items.map(keyOf));
      return [
        ...items.map((item) => source.get(keyOf(item)) ?? item),
        ...rows.filter((row) => !target.has(keyOf(row))),
      ];
    },
    ...(isDuplicated(rows, keyOf) ? { refused: 'DUPLICATE_KEY' } : {}),
  }),
  sync: (rows: readonly Item[], test: Test): Step => ({
    text: `sync ${test.sql} ${JSON.stringify(rows)}`,
    run: (table) =>
      table.merge(rowsOf(rows), {
        on: ['id'],
        whenMatched: [
          { where: 'source.n is null', delete: true },
          { where: 'target.n is null or source.n > target.n', update: { n: 'source.n', s: 'source.s' } },
        ],
        whenNotMatched: { where: 'n > 0', insert: 'all' },
        whenNotMatchedBySource: { where: test.sql, delete: true },
      }),
    model: (items) => {
      const source = new Map(rows.map((row) => [row.id, row]));
      const target = new Set(items.map(({ id }) => id));
      const kept = items.flatMap((item) => {
        const row = source.get(item.id);
        if (!row) return test.holds(item) ? [] : [item];
        if (row.n === null) return [];
        return item.n === null || row.n > item.n ? [{ ...item, n: row.n, s: row.s }] : [item];
      });
      return [...kept, ...rows.filter(({ id, n }) => !target.has(id) && n !== null && n > 0)];
    },
    ...(isDuplicated(rows, ({ id }) => String(id)) ? { refused: 'DUPLICATE_KEY' } : {}),
  }),
  replaceUsing: (rows: readonly Item[]): Step => ({
    text: `replaceUsing ${JSON.stringify(rows)}`,
    run: (table) => table.replaceUsing(rowsOf(rows), { columns: ['p', 'id'], nullKeys: true }),
    model: (items) => {
      const keys = new Set(rows.map(keyOf));
      return [...items.filter((item) => !keys.has(keyOf(item))), ...rows];
    },
  }),
  checkpoint: (): Step => ({
    text: 'checkpoint',
    run: (table) => table.checkpoint(),
    model: (items) => items,
  }),
};
