import * as arrow from 'apache-arrow';
import { describe, expect, it } from 'vitest';
import { bindExpression, bindPredicate } from '../../../src/scan/bind.js';
import { compileFilter, evaluateColumn, selectedRows, unselectedRows } from '../../../src/scan/evaluate.js';
import { deriveColumn } from '../../../src/scan/evaluate-derive.js';
import { col, eq, gt, isNull, like, not, or } from '../../../src/scan/predicate.js';
import { parseExpression } from '../../../src/scan/sql.js';
import { parseDdl } from '../../../src/schema/ddl.js';
import { batchFromRows } from '../../../src/schema/rows-in.js';

function batchOf(columns: Record<string, arrow.Vector>): arrow.RecordBatch {
  return new arrow.Table(columns).batches[0]!;
}

const matching = (where: Parameters<typeof bindPredicate>[0], ddl: string, batch: arrow.RecordBatch) => [
  ...selectedRows(compileFilter(bindPredicate(where, parseDdl(ddl)))(batch)),
];

describe('filters over Arrow', () => {
  it('evaluate a dictionary once for each entry and NULL codes as NULL', () => {
    const codes = arrow.makeData({
      type: new arrow.Dictionary(new arrow.Utf8(), new arrow.Int32()),
      length: 5,
      nullCount: 1,
      nullBitmap: Uint8Array.of(0b10111),
      data: Int32Array.of(0, 1, 0, 0, 2),
      dictionary: arrow.vectorFromArray(['apple', 'pear', 'apricot'], new arrow.Utf8()),
    });
    const batch = batchOf({ s: arrow.makeVector(codes) });
    expect(matching(like(col('s'), 'ap%'), 's string', batch)).toEqual([0, 2, 4]);
    expect(matching(or(eq(col('s'), 'pear'), isNull(col('s'))), 's string', batch)).toEqual([1, 3]);
    expect(matching(not(eq(col('s'), 'pear')), 's string', batch)).toEqual([0, 2, 4]);
    expect(matching("coalesce(s, 'none') = 'none'", 's string', batch)).toEqual([3]);
    expect(
      matching(
        'length(s) = n',
        's string, n int',
        batchOf({ s: arrow.makeVector(codes), n: arrow.vectorFromArray([5, 5, 5, 5, 7], new arrow.Int32()) }),
      ),
    ).toEqual([0, 2, 4]);
  });

  it('follow slices', () => {
    const rows = Array.from({ length: 20 }, (_, i) => ({
      id: i % 7 === 0 ? null : i,
      s: i % 5 === 0 ? null : `s${i}`,
      b: i % 3 === 0,
    }));
    const whole = batchFromRows(rows, parseDdl('id long, s string, b boolean'));
    const part = whole.slice(3, 17);
    const expected = (test: (row: (typeof rows)[number]) => boolean) =>
      rows.slice(3, 17).flatMap((row, i) => (test(row) ? [i] : []));
    const ddl = 'id long, s string, b boolean';
    expect(matching('id > 8', ddl, part)).toEqual(expected(({ id }) => id !== null && id > 8));
    expect(matching("s >= 's15'", ddl, part)).toEqual(expected(({ s }) => s !== null && s >= 's15'));
    expect(matching('b', ddl, part)).toEqual(expected(({ b }) => b));
    expect(matching('id IS NULL OR s IS NULL', ddl, part)).toEqual(
      expected(({ id, s }) => id === null || s === null),
    );
  });

  it('read other Arrow types that hold the values', () => {
    const batch = batchOf({
      small: arrow.vectorFromArray([1, 2, 3], new arrow.Int16()),
      large: arrow.vectorFromArray(['a', 'b', null], new arrow.LargeUtf8()),
      view: arrow.vectorFromArray(['short', 'a text of more than twelve bytes', null], new arrow.Utf8View()),
      ms: arrow.vectorFromArray([0, 1500, null], new arrow.TimestampMillisecond()),
      ns: arrow.makeVector(
        arrow.makeData({
          type: new arrow.TimestampNanosecond(),
          data: BigInt64Array.of(-1n, 1_500_000_000n, 0n),
        }),
      ),
      d64: arrow.vectorFromArray([new Date(0), new Date(86_400_000), null], new arrow.DateMillisecond()),
    });
    const ddl = 'small long, large string, view string, ms timestamp, ns timestamp, d64 date';
    expect(matching('small >= 2', ddl, batch)).toEqual([1, 2]);
    expect(matching("large > 'a'", ddl, batch)).toEqual([1]);
    expect(matching("view LIKE '%twelve%' OR view = 'short'", ddl, batch)).toEqual([0, 1]);
    expect(matching("ms = '1970-01-01T00:00:01.5Z'", ddl, batch)).toEqual([1]);
    expect(matching("ns < '1970-01-01T00:00:00Z'", ddl, batch)).toEqual([0]);
    expect(matching("d64 = '1970-01-02'", ddl, batch)).toEqual([1]);
  });

  it('give the rest of the rows as well', () => {
    const batch = batchFromRows([{ a: 1 }, { a: null }, { a: 3 }], parseDdl('a int'));
    const selection = compileFilter(bindPredicate(gt(col('a'), 1), parseDdl('a int')))(batch);
    expect([...selectedRows(selection), ...unselectedRows(selection)]).toEqual([2, 0, 1]);
  });

  it('name a column that the batch lacks', () => {
    const batch = batchFromRows([{ a: 1 }], parseDdl('a int'));
    const filter = compileFilter(bindPredicate('b = 1', parseDdl('a int, b int')));
    expect(() => filter(batch)).toThrow(/no column b/);
  });
});

describe('derived columns', () => {
  const ddl = 'ts timestamp, n int, s string, d decimal(5,2)';
  const batch = batchFromRows(
    [
      { ts: '2024-01-01T23:59:59.999999Z', n: 1, s: 'a', d: '1.50' },
      { ts: '1969-12-31T23:59:59.999999Z', n: null, s: null, d: null },
      { ts: null, n: 2147483647, s: 'b', d: '-0.01' },
      { ts: '2300-01-01T00:00:00Z', n: 0, s: '', d: '999.99' },
    ],
    parseDdl(ddl),
  );
  const derived = (text: string) => {
    const bound = bindExpression(parseExpression(text), parseDdl(ddl));
    const vector = arrow.makeVector(deriveColumn(bound, batch));
    return { vector, bound };
  };

  it('are the days of timestamps', () => {
    const { vector, bound } = derived('date(ts)');
    expect(bound.root.type).toEqual({ type: 'date' });
    expect(Array.from({ length: 4 }, (_, i) => vector.data[0]!.values[i])).toEqual([19723, -1, 0, 120530]);
    expect([vector.nullCount, vector.isValid(2)]).toEqual([1, false]);
  });

  it('have the Arrow type of the expression', () => {
    expect([...derived('n + 1').vector]).toEqual([2, null, null, 1]);
    expect([...derived('CAST(n AS BIGINT) + 1').vector]).toEqual([2n, null, 2147483648n, 1n]);
    expect([...derived("upper(s) || '!'").vector]).toEqual(['A!', null, 'B!', '!']);
    expect([...derived('n > 1').vector]).toEqual([false, null, true, false]);
    expect(String(derived('d * 2').vector.type)).toContain('Decimal');
    expect(evaluateColumn(derived('d * 2').bound, batch).values).toEqual([300n, null, -2n, 199998n]);
  });

  it('need a type', () => {
    expect(() => derived('NULL')).toThrow(/type/);
  });
});
