import { describe, expect, test } from 'vitest';
import { bindDerivations, derive, parseDerivation } from '../../../../src/cli/input/derive.js';
import { parseDdl } from '../../../../src/schema/ddl.js';
import { batchFromRows } from '../../../../src/schema/rows-in.js';
import { rowsFromBatch } from '../../../../src/schema/rows-out.js';
import { typeText } from '../../../../src/schema/type-text.js';

const schema = parseDdl('id long, ts timestamp, name string');

function derived(texts: string[], rows: Record<string, unknown>[]): Record<string, unknown>[] {
  const bound = bindDerivations(texts.map(parseDerivation), schema);
  return [...derive(bound, batchFromRows(rows, schema))].flatMap((batch) =>
    rowsFromBatch(batch, bound.schema, { timestamp: 'string' }),
  );
}

describe('derived columns', () => {
  test('are computed from the columns of the input, NULL from NULL', () => {
    const rows = derived(
      [
        'day = date(ts)',
        'next = id + 1',
        'upper = upper(name)',
        "late = ts > timestamp '2024-01-31T12:00:00Z'",
        'half = cast(id as decimal(10,2)) / 2',
      ],
      [
        { id: 3, ts: '2024-01-31T23:59:59.999999Z', name: 'ä' },
        { id: null, ts: null, name: null },
      ],
    );
    expect(rows[0]).toMatchObject({ id: 3n, day: '2024-01-31', next: 4n, upper: 'Ä', late: true });
    expect(Number(rows[0]!.half)).toBe(1.5);
    expect(rows[1]).toMatchObject({ day: null, next: null, upper: null, late: null, half: null });
  });

  test('may read those before them, and have names in backquotes', () => {
    expect(derived(['a = id * 2', '`a b` = a * 2'], [{ id: 1 }])[0]).toMatchObject({ a: 2n, 'a b': 4n });
  });

  test('come in slices that hold every row once', () => {
    const rows = Array.from({ length: 70_000 }, (_, id) => ({ id }));
    const bound = bindDerivations([parseDerivation('odd = id % 2')], schema);
    const slices = [...derive(bound, batchFromRows(rows, schema))];
    expect(slices.map(({ numRows }) => numRows)).toEqual([65_536, 4_464]);
    const last = rowsFromBatch(slices[1]!, bound.schema).at(-1);
    expect(last).toMatchObject({ id: 69_999n, odd: 1n });
  });

  test('of times are right in every slice, NULL included', () => {
    const rows = Array.from({ length: 70_000 }, (_, i) => ({
      ts: i % 3 === 0 ? null : BigInt(i - 1) * 3_600_000_000n,
    }));
    const bound = bindDerivations([parseDerivation('day = date(ts)')], schema);
    const slices = [...derive(bound, batchFromRows(rows, schema))];
    const last = rowsFromBatch(slices[1]!, bound.schema).slice(0, 2);
    expect(last.map(({ day }) => day && String(day))).toEqual(['1977-06-23', '1977-06-23']);
    const first = rowsFromBatch(slices[0]!, bound.schema).slice(0, 2);
    expect(first.map(({ day }) => day && String(day))).toEqual([null, '1970-01-01']);
  });

  test('have the type of their expression', () => {
    const { fields } = bindDerivations(
      [parseDerivation('day = date(ts)'), parseDerivation('y = year(ts)')],
      schema,
    ).schema;
    expect(fields.slice(3).map(({ name, dataType }) => `${name} ${typeText(dataType)}`)).toEqual([
      'day date',
      'y int',
    ]);
  });

  test.each([
    ['day', /NAME = EXPRESSION/],
    ['day == 1', /NAME = EXPRESSION/],
    ['id = 1', /has a column of that name/],
    ['day = date(tss)', /--derive day.*tss/],
    ['day = null', /cannot be derived/],
  ])('%s is refused', (text, words) => {
    expect(() => bindDerivations([parseDerivation(text)], schema)).toThrow(words);
  });
});
