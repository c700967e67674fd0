import { Temporal } from 'temporal-polyfill';
import { describe, expect, it } from 'vitest';
import { bindPredicate } from '../../../src/scan/bind.js';
import * as p from '../../../src/scan/predicate.js';
import { printPredicate } from '../../../src/scan/print.js';
import { parseExpression, parsePredicate } from '../../../src/scan/sql.js';
import { parseDdl } from '../../../src/schema/ddl.js';

describe('literals', () => {
  it('take the type of the JavaScript value', () => {
    const types = [true, 1, 2 ** 31, 1.5, -0, 5n, 2n ** 63n, 'a', new Uint8Array(1), new Date(0), null].map(
      (value) => p.lit(value).type.type,
    );
    expect(types).toEqual([
      'boolean',
      'integer',
      'long',
      'double',
      'double',
      'integer',
      'decimal',
      'string',
      'binary',
      'timestamp',
      'void',
    ]);
  });

  it('take Temporal values by their tag', () => {
    expect(p.lit(Temporal.Instant.from('2024-01-01T00:00:00.123456Z'))).toEqual(
      p.timestamp('2024-01-01T00:00:00.123456Z'),
    );
    expect(p.lit(Temporal.PlainDate.from('2024-01-01'))).toEqual(p.date('2024-01-01'));
    expect(p.lit(Temporal.PlainDateTime.from('2024-01-01T01:00'))).toEqual(
      p.timestampNtz('2024-01-01 01:00:00'),
    );
  });

  it('refuse what is none', () => {
    expect(() => p.lit(new Date(Number.NaN))).toThrow(/Date/);
    expect(() => p.lit(Temporal.PlainTime.from('01:00') as never)).toThrow(/PlainTime/);
    expect(() => p.date('2024-13-01')).toThrow(/not a date/);
    expect(() => p.decimal('1e5')).toThrow(/not a decimal/);
    expect(() => p.col('a..b')).toThrow(/column path/);
    expect(() => p.call('a b')).toThrow(/function/);
  });
});

describe('builders', () => {
  it('make the trees that text makes', () => {
    const tree = p.and(
      p.ge(p.col('ts'), p.timestamp('2024-01-01')),
      p.or(p.isIn(p.col(['a.b']), [1, null]), p.like(p.col('s'), 'x!%', '!')),
      p.isNotNull(p.col('t.a')),
    );
    expect(
      parsePredicate(
        "ts >= TIMESTAMP '2024-01-01' AND (`a.b` IN (1, NULL) OR s LIKE 'x!%' ESCAPE '!') AND t.a IS NOT NULL",
      ),
    ).toEqual(tree);
    expect(p.and()).toEqual(p.lit(true));
    expect(p.or()).toEqual(p.lit(false));
    expect(p.and(p.and(true, false), true)).toEqual(p.and(true, false, true));
  });

  it('make plain data', () => {
    const tree = p.between(p.col('a'), 1, 2);
    expect(structuredClone(tree)).toEqual(tree);
  });
});

describe('text', () => {
  it('points at the error', () => {
    expect(() => parsePredicate("a = 1 AND\n  b = = 'x'")).toThrow(/at character 17:\n {4}b = = 'x'\n {8}\^/);
  });

  it('takes many items and many parts', () => {
    const items = Array.from({ length: 5000 }, (_, i) => i);
    expect(bindPredicate(`a IN (${items.join()})`, parseDdl('a int')).root).toMatchObject({ kind: 'in' });
    const tree = parsePredicate(items.map((i) => `a = ${i}`).join(' OR '));
    expect(parsePredicate(printPredicate(tree))).toEqual(tree);
  });

  it('folds constants when bound', () => {
    const { root, columns } = bindPredicate("d = date_add(DATE '2024-01-01', 1 + 1)", parseDdl('d date'));
    expect(root).toMatchObject({ kind: 'compare', op: '=', right: { kind: 'literal', value: 19725 } });
    expect(columns.map(({ path }) => path)).toEqual([['d']]);
  });

  it('refuses trees that nest too deep, however they are made', () => {
    let tree: p.Expression = p.eq(p.col('a'), 1);
    for (let i = 0; i < 1000; i++) tree = p.not(tree);
    expect(() => bindPredicate(tree, parseDdl('a int'))).toThrow(/deep/);
    expect(() => parseExpression(`${'a.'.repeat(10)}a${' + 1'.repeat(10_000)}`)).toThrow(/deep/);
    expect(() => parseExpression(`a${'::int'.repeat(10_000)}`)).toThrow(/deep/);
    expect(parseExpression(`${'+'.repeat(100_000)}1`)).toEqual(p.lit(1));
    expect(() => parseExpression(`${'-+'.repeat(100_000)}a`)).toThrow(/deep/);
  });
});
