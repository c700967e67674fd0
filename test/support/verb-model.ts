import type { Row, Table, Verb } from '../../src/index.js';

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

/** One operation, as plain data that any process can run, and what it makes of rows in memory. `refused` is the code that the table must answer instead. */
export interface Step {
  readonly text: string;
  /** Undefined for a checkpoint. */
  readonly verb: Verb | undefined;
  readonly rows?: readonly Item[];
  model(items: readonly Item[]): readonly Item[];
  readonly refused?: string;
}

/** Runs a step by the table's own methods. */
export function runStep(table: Table, { verb, rows = [] }: Step): Promise<unknown> {
  const given = rowsOf(rows);
  if (verb === undefined) return table.checkpoint();
  if (verb === 'append') return table.append(given);
  if (verb === 'overwritePartitions') return table.overwritePartitions(given);
  switch (verb.verb) {
    case 'overwrite':
      return table.overwrite(given, verb);
    case 'replaceUsing':
      return table.replaceUsing(given, verb);
    case 'merge':
      return table.merge(given, verb);
    case 'delete':
      return table.delete(verb);
    case 'update':
      return table.update(verb);
  }
}

export const rowsOf = (items: readonly Item[]): Row[] => items.map((item) => ({ ...item }));

const isDuplicated = (items: readonly Item[], key: (item: Item) => string): boolean =>
  new Set(items.map(key)).size < items.length;
const keyOf = ({ id, p }: Item): string => JSON.stringify([id, p]);

export const steps = {
  append: (rows: readonly Item[]): Step => ({
    text: `append ${JSON.stringify(rows)}`,
    verb: 'append',
    rows,
    model: (items) => [...items, ...rows],
  }),
  overwritePartitions: (rows: readonly Item[]): Step => ({
    text: `overwritePartitions ${JSON.stringify(rows)}`,
    verb: 'overwritePartitions',
    rows,
    model: (items) => {
      const partitions = new Set(rows.map(({ p }) => p));
      return [...items.filter(({ p }) => !partitions.has(p)), ...rows];
    },
  }),
  overwrite: (test: Test, rows: readonly Item[]): Step => ({
    text: `overwrite where ${test.sql} ${JSON.stringify(rows)}`,
    verb: { verb: 'overwrite', where: test.sql },
    rows,
    model: (items) => [...items.filter((item) => !test.holds(item)), ...rows],
    ...(rows.every(test.holds) ? {} : { refused: 'OUTSIDE_TARGET' }),
  }),
  delete: (test: Test): Step => ({
    text: `delete ${test.sql}`,
    verb: { verb: 'delete', where: test.sql },
    model: (items) => items.filter((item) => !test.holds(item)),
  }),
  update: (test: Test): Step => ({
    text: `update ${test.sql}`,
    verb: { verb: 'update', set: { n: 'n + 1', s: "coalesce(s, 'none')" }, where: test.sql },
    model: (items) =>
      items.map((item) =>
        test.holds(item) ? { ...item, n: item.n === null ? null : item.n + 1, s: item.s ?? 'none' } : item,
      ),
  }),
  move: (test: Test, p: string): Step => ({
    text: `move ${test.sql} to ${p}`,
    verb: { verb: 'update', set: { p: `'${p}'` }, where: test.sql },
    model: (items) => items.map((item) => (test.holds(item) ? { ...item, p } : item)),
  }),
  merge: (rows: readonly Item[]): Step => ({
    text: `merge ${JSON.stringify(rows)}`,
    verb: { verb: 'merge', on: ['id', 'p'] },
    rows,
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
    verb: {
      verb: 'merge',
      on: ['id'],
      whenMatched: [
        { where: 'source.n is null', delete: true },
        { where: 'target.n is null or source.n > target.n', update: { n: 'source.n', s: 'source.s' } },
      ],
      whenNotMatched: { where: 'n > 0', insert: 'all' },
      whenNotMatchedBySource: { where: test.sql, delete: true },
    },
    rows,
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
    verb: { verb: 'replaceUsing', columns: ['p', 'id'], nullKeys: true },
    rows,
    model: (items) => {
      const keys = new Set(rows.map(keyOf));
      return [...items.filter((item) => !keys.has(keyOf(item))), ...rows];
    },
  }),
  checkpoint: (): Step => ({
    text: 'checkpoint',
    verb: undefined,
    model: (items) => items,
  }),
};

/** Rows in one spelling, whatever their order. */
export const spelled = (rows: readonly Item[]): string[] =>
  rows.map(({ id, n, p, s }) => JSON.stringify([id, n, p, s])).sort();
