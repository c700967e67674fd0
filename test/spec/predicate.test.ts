import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { isTableError } from '../../src/errors.js';
import { parseJson } from '../../src/log/json.js';
import { bindPredicate } from '../../src/scan/bind.js';
import { compileFilter, OUTCOME } from '../../src/scan/evaluate.js';
import { printPredicate } from '../../src/scan/print.js';
import { parsePredicate } from '../../src/scan/sql.js';
import { parseDdl } from '../../src/schema/ddl.js';
import { batchFromRows } from '../../src/schema/rows-in.js';
import type { StructType } from '../../src/schema/types.js';

interface Case {
  readonly name: string;
  readonly must: readonly string[];
  readonly schema: string;
  readonly where: string | { readonly repeat: string; readonly times: number; readonly then: string };
  readonly rows: readonly Record<string, unknown>[];
  readonly expect: readonly (boolean | null)[];
  readonly error: string;
  readonly says: string;
  readonly printed: string;
}

function cases(file: string): readonly Case[] {
  const text = readFileSync(new URL(`../../spec/cases/predicate/${file}.json`, import.meta.url), 'utf8');
  return (parseJson(text) as unknown as { cases: Case[] }).cases;
}

const text = (where: Case['where']): string =>
  typeof where === 'string' ? where : where.repeat.repeat(where.times) + where.then;

/** JSON has no NaN, infinities and minus zero: such cells are text. */
function cells(row: Record<string, unknown>, schema: StructType): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(row).map(([name, value]) => {
      const type = schema.fields.find((field) => field.name === name)?.dataType.type;
      return [name, type === 'double' && typeof value === 'string' ? Number(value) : value];
    }),
  );
}

describe('predicate: rows', () => {
  it.each(cases('rows'))('$name ($must)', ({ schema, where, rows, expect: wanted }) => {
    const struct = parseDdl(schema);
    const batch = batchFromRows(
      rows.map((row) => cells(row, struct)),
      struct,
    );
    const { outcomes } = compileFilter(bindPredicate(text(where), struct))(batch);
    const names = Object.fromEntries(
      Object.entries({ true: true, false: false, null: null }).map(([name, value]) => [
        OUTCOME[name as 'true'],
        value,
      ]),
    );
    expect(Array.from(outcomes, (outcome) => names[outcome])).toEqual(wanted);
  });
});

describe('predicate: errors', () => {
  it.each(cases('errors'))('$name ($must)', ({ schema, where, error, says }) => {
    try {
      bindPredicate(text(where), parseDdl(schema));
    } catch (thrown) {
      if (!isTableError(thrown)) throw thrown;
      expect(thrown.code).toBe(error);
      expect(thrown.message).toContain(says);
      return;
    }
    expect.fail('nothing was thrown');
  });
});

describe('predicate: print', () => {
  it.each(cases('print'))('$name ($must)', ({ where, printed }) => {
    const tree = parsePredicate(text(where));
    expect(printPredicate(tree)).toBe(printed);
    expect(parsePredicate(printed)).toEqual(tree);
  });
});
