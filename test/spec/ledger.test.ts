import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import calendars from '../../spec/cases/ledger/calendars.json' with { type: 'json' };
import digests from '../../spec/cases/ledger/digests.json' with { type: 'json' };
import entries from '../../spec/cases/ledger/entries.json' with { type: 'json' };
import predicates from '../../spec/cases/ledger/predicates.json' with { type: 'json' };
import { TableError } from '../../src/errors.js';
import { parseInterval } from '../../src/interval/argument.js';
import { checkDefinition, type PipelineOptions } from '../../src/pipeline/definition.js';
import { appIdOf, parseAppId } from '../../src/pipeline/ledger.js';
import { bindTarget } from '../../src/pipeline/target.js';
import { printPredicate } from '../../src/scan/print.js';
import { parseDdl } from '../../src/schema/ddl.js';
import { Digester } from '../../src/schema/digest.js';
import { batchFromRows, type Row } from '../../src/schema/rows-in.js';
import { type Bench, job, openBench, run } from '../unit/pipeline/support.js';

describe('entries of the ledger', () => {
  test.each(entries.cases)('$name', ({ pipeline, start, end, appId }) => {
    if (pipeline === undefined) {
      expect(parseAppId(appId)).toBeUndefined();
      return;
    }
    const span = { startMs: Date.parse(start!), endMs: Date.parse(end!) };
    expect(appIdOf(pipeline, span)).toBe(appId);
    expect(parseAppId(appId)).toEqual({ pipeline, ...span });
  });
});

describe('predicates of intervals', () => {
  test.each(predicates.cases as unknown as (Partial<PipelineOptions> & Record<string, string>)[])(
    '$name',
    (each) => {
      const definition = checkDefinition({
        name: 'p',
        table: 't',
        every: each.every!,
        timeZone: each.timeZone,
        start: each.every instanceof Object || each.every === 'month' ? '1970-01-01' : '2010-01-01',
        column: each.column!,
        scope: each.scope,
        produce: () => [],
      });
      const bind = () => bindTarget(definition, { schema: parseDdl(each.schema!) });
      if (each.error) {
        expect(codeOf(bind)).toBe(each.error);
        return;
      }
      const interval = parseInterval(definition.calendar, each.label!);
      expect(printPredicate(bind().predicate(interval))).toBe(each.where);
    },
  );
});

describe('digests', () => {
  const digest = ({ schema, rows }: { schema: string; rows: readonly Row[] }): string => {
    const type = parseDdl(schema);
    const digester = new Digester(type);
    for (let from = 0; from < rows.length; from += 1)
      digester.add(batchFromRows(rows.slice(from, from + 1), type));
    const whole = new Digester(type);
    whole.add(batchFromRows(rows, type));
    expect(whole.result()).toEqual(digester.result());
    return `${digester.result().rows} ${digester.result().digest}`;
  };

  interface Rows {
    readonly schema: string;
    readonly rows: readonly Row[];
  }
  const cases = digests.cases as unknown as readonly (Rows & {
    readonly name: string;
    readonly digest?: string;
    readonly same?: readonly Rows[];
    readonly different?: readonly Rows[];
  })[];

  test.each(cases)('$name', (each) => {
    const expected = digest(each);
    if (each.digest !== undefined) expect(expected).toBe(`${each.rows.length} ${each.digest}`);
    for (const other of each.same ?? []) expect(digest(other)).toBe(expected);
    for (const other of each.different ?? []) expect(digest(other)).not.toBe(expected);
  });
});

describe('calendars beside the log', () => {
  let bench: Bench;
  beforeAll(async () => {
    bench = await openBench();
  });
  afterAll(() => bench.close());

  type Given = Partial<PipelineOptions>;
  const cases = calendars.cases as unknown as readonly {
    name: string;
    first: Given;
    second: Given;
    error?: string;
  }[];

  test.each(cases)('$name', async ({ name, first, second, error }) => {
    await run(job(bench, name, { produce: () => [], ...first }), '2024-01-05');
    const again = job(bench, name, { produce: () => [], ...second });
    const label = second.every === 'hour' ? '2024-01-05T00:00Z' : '2024-01-06';
    const outcome = await run(again, label).then(
      () => undefined,
      (thrown: TableError) => thrown.code,
    );
    expect(outcome).toBe(error);
  });
});

function codeOf(run: () => unknown): string | undefined {
  try {
    run();
  } catch (error) {
    if (error instanceof TableError) return error.code;
    throw error;
  }
  return undefined;
}
