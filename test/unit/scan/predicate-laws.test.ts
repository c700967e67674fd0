import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { bindPredicate } from '../../../src/scan/bind.js';
import { compileFilter, evaluateRow, OUTCOME, selectedRows } from '../../../src/scan/evaluate.js';
import { and, isTrue, not, or, type Predicate } from '../../../src/scan/predicate.js';
import { printPredicate } from '../../../src/scan/print.js';
import { classifyFiles, explainFiles, pruneFiles } from '../../../src/scan/prune.js';
import { parsePredicate } from '../../../src/scan/sql.js';
import {
  batchOf,
  datumIn,
  fileArbitrary,
  type Leaves,
  leavesArbitrary,
  predicateArbitrary,
  SCHEMA,
  stateOf,
} from './fixtures.js';

const value = (predicate: Predicate, row: Leaves) =>
  evaluateRow(bindPredicate(predicate, SCHEMA), datumIn(row));
const outcome = { true: OUTCOME.true, false: OUTCOME.false, null: OUTCOME.null } as Readonly<
  Record<string, number>
>;

describe('predicates', () => {
  it('print as text that parses to the same tree', () => {
    fc.assert(
      fc.property(predicateArbitrary, (tree) => {
        expect(parsePredicate(printPredicate(tree))).toEqual(tree);
      }),
      { numRuns: 1000 },
    );
  });

  it('give the same over Arrow batches as row by row', () => {
    fc.assert(
      fc.property(
        predicateArbitrary,
        fc.array(leavesArbitrary, { minLength: 1, maxLength: 6 }),
        (tree, rows) => {
          const expected = rows.map((row) => outcome[String(value(tree, row))]);
          const selection = compileFilter(bindPredicate(tree, SCHEMA))(batchOf(rows));
          expect([...selection.outcomes]).toEqual(expected);
          expect([...selectedRows(selection)]).toEqual(
            expected.flatMap((each, i) => (each === OUTCOME.true ? [i] : [])),
          );
        },
      ),
      { numRuns: 600 },
    );
  });

  it('never leave out a file that holds a row wanted', async () => {
    await fc.assert(
      fc.asyncProperty(
        predicateArbitrary,
        fc.array(fileArbitrary, { minLength: 1, maxLength: 5 }),
        async (tree, files) => {
          const bound = bindPredicate(tree, SCHEMA);
          const { ids } = await pruneFiles(stateOf(files), bound);
          const wanted = files.flatMap(({ rows }, id) =>
            rows.some((row) => value(tree, row) === true) ? [id] : [],
          );
          expect([...ids]).toEqual(expect.arrayContaining(wanted));
          const verdicts = await explainFiles(stateOf(files), bound);
          expect(verdicts.filter(({ kept }) => kept).map(({ id }) => id)).toEqual([...ids]);
        },
      ),
      { numRuns: 1500 },
    );
  });

  it('call a file all or none only when every row is', async () => {
    await fc.assert(
      fc.asyncProperty(
        predicateArbitrary,
        fc.array(fileArbitrary, { minLength: 1, maxLength: 5 }),
        async (tree, files) => {
          const { all, some, none } = await classifyFiles(stateOf(files), bindPredicate(tree, SCHEMA));
          expect([...all, ...some, ...none].sort()).toEqual(files.map((_, id) => id));
          for (const id of all)
            expect(files[id]!.rows.map((row) => value(tree, row))).toEqual(files[id]!.rows.map(() => true));
          for (const id of none) for (const row of files[id]!.rows) expect(value(tree, row)).not.toBe(true);
        },
      ),
      { numRuns: 1500 },
    );
  });

  it('keep the laws of three-valued logic', () => {
    const negated = (v: unknown) => (v === null ? null : !v);
    fc.assert(
      fc.property(predicateArbitrary, predicateArbitrary, leavesArbitrary, (a, b, row) => {
        const [x, y] = [value(a, row), value(b, row)];
        expect(value(not(a), row)).toBe(negated(x));
        expect(value(not(not(a)), row)).toBe(x);
        expect(value(not(and(a, b)), row)).toBe(value(or(not(a), not(b)), row));
        expect(value(not(or(a, b)), row)).toBe(value(and(not(a), not(b)), row));
        expect(value(and(a, b), row)).toBe(
          x === false || y === false ? false : x === null || y === null ? null : true,
        );
        expect(value(or(isTrue(a), not(isTrue(a))), row)).toBe(true);
      }),
      { numRuns: 500 },
    );
  });
});
