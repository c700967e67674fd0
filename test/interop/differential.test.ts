import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { createRuntime } from '../../src/index.js';
import { deltarsTwin } from '../support/model/deltars-steps.js';
import { runForeign } from '../support/model/foreign.js';
import { generate, type Sequence } from '../support/model/generate.js';
import { keptSequences } from '../support/model/kept.js';
import { expectSame, type Reached, runSequence } from '../support/model/run-sequence.js';
import { shrink } from '../support/model/shrink.js';
import { sparkTwin } from '../support/model/spark-sql.js';
import { folder, shared, startSpark } from './engines.js';

/**
 * `DIFF_SEEDS` and `DIFF_COUNT`: the first seed and how many, for thousands on demand. A failure names its seed and prints the smallest sequence that fails alike,
 * to be kept in spec/cases/differential: what is there is done again by this test and by test/sim/verbs.test.ts.
 */
const FIRST = Number(process.env.DIFF_SEEDS ?? 1);
const COUNT = process.env.DIFF_COUNT === undefined ? undefined : Number(process.env.DIFF_COUNT);
const SHRINK_MS = 90_000;
const MOST_FAILURES = 3;
/** Sequences whose tables are read together. */
const SPARK_BATCH = 8;
const DELTARS_AHEAD = 4;

const root = folder();
const { engines } = shared();
startSpark();
const runtimes = [
  createRuntime({ workers: 1, fsync: false }),
  createRuntime({ workers: 1, fsync: false }),
  createRuntime({ workers: 1, fsync: false }),
] as const;
afterAll(() => Promise.all(runtimes.map((runtime) => runtime.close())));
let names = 0;

interface Ran {
  readonly sequence: Sequence;
  readonly url: string;
  readonly reached: readonly Reached[];
}

/** Runs a sequence here and on the model. */
async function run(sequence: Sequence): Promise<Ran> {
  const url = join(root, `t${names++}`);
  const foreign: NonNullable<Parameters<typeof runSequence>[2]['foreign']> = (engine, step, model) =>
    runForeign(engines, url, engine, step, model);
  return { sequence, url, reached: await runSequence(url, sequence, { runtimes, foreign }) };
}

/** Compares each version with what delta-rs reads of it, and with what it makes of a table of its own. */
async function compareWithDeltars({ sequence, url, reached }: Ran): Promise<undefined> {
  if (isReadByDeltars(sequence)) {
    const read = await linesAt({ url, versions: reached.map(({ version }) => version) });
    for (const [i, { step, lines }] of reached.entries())
      expectSame(step, 'read by delta-rs', [...read[i]!].sort(), lines);
  }
  const twin = deltarsTwin(sequence);
  const { lines, error } = await engines.ask('deltatwins.play', { url: `${url}-deltars`, ...twin });
  for (const [i, { step, lines: wanted }] of reached.entries()) {
    if (lines[i] === undefined)
      throw new Error(`delta-rs's own table, step ${step}: ${error}\n${JSON.stringify(twin.steps[i])}`);
    expectSame(step, 'done by delta-rs', [...lines[i]].sort(), wanted);
  }
}

/** delta-rs knows no widened types. */
function isReadByDeltars({ properties }: Sequence): boolean {
  return !('delta.enableTypeWidening' in properties);
}

/**
 * Does the same in tables of Spark's own. Compares all versions of ours, as Spark reads them, and of its own, as delta-rs reads them, with the model. Gives the
 * failure of each sequence. Spark reads its own tables where delta-rs cannot.
 */
async function compareWithSpark(ran: readonly Ran[]): Promise<(Error | undefined)[]> {
  const twins = ran.map(({ sequence, url }) => ({
    url: `${url}-twin`,
    steps: sparkTwin(`${url}-twin`, sequence),
  }));
  const played = await engines.ask('twins.play', { tables: twins });
  const tables = ran.map(({ url, reached }) => ({ url, versions: reached.map(({ version }) => version) }));
  const own = twins.map(({ url }, i) => ({ url, versions: played[i]!.versions.slice(1) }));
  const unread = own.filter((_, i) => !isReadByDeltars(ran[i]!.sequence));
  const read = await engines.ask('twins.read', { tables: [...tables, ...unread] });
  const left = read.slice(tables.length);
  const theirs = await Promise.all(
    own.map(async (table) => {
      const lines = unread.includes(table) ? left[unread.indexOf(table)]! : await linesAt(table);
      return lines.map((each) => [...each].sort());
    }),
  );
  return ran.map(({ reached }, i) => {
    const { error, step } = played[i]!;
    try {
      if (error !== undefined) throw new Error(`Spark's own table, step ${step! - 1}: ${error}`);
      for (const [at, { step: number, lines }] of reached.entries()) {
        expectSame(number, 'read by Spark', [...read[i]![at]!].sort(), lines);
        expectSame(number, 'done by Spark', theirs[i]![at]!, lines);
      }
      return undefined;
    } catch (caught) {
      return caught as Error;
    }
  });
}

/** What delta-rs reads. */
function linesAt(table: { readonly url: string; readonly versions: readonly number[] }) {
  return engines.ask('deltatwins.read', table);
}

/** What a sequence fails with, given what to compare it with. */
async function failureOf(
  sequence: Sequence,
  compare: (ran: Ran) => Promise<Error | undefined>,
): Promise<Error | undefined> {
  try {
    return await compare(await run(sequence));
  } catch (error) {
    return error as Error;
  }
}

type Compare = Parameters<typeof failureOf>[1];

/** A failing seed as a case for spec/cases/differential. */
async function told(seed: number, sequence: Sequence, failure: Error, compare: Compare): Promise<string> {
  const smallest = await shrink(sequence, failure, (each) => failureOf(each, compare), SHRINK_MS);
  const message = (await failureOf(smallest, compare))?.message ?? `at times: ${failure.message}`;
  return `seed ${seed}: ${message}\n${JSON.stringify(smallest)}`;
}

it.each(await keptSequences())(
  'a sequence that failed once is done alike by delta-rs: %s',
  async (_, sequence) => {
    expect(await failureOf(sequence, compareWithDeltars)).toBeUndefined();
  },
);

it('random sequences of verbs are read, and done alike, by delta-rs', { timeout: 0 }, async () => {
  const failed: string[] = [];
  const count = COUNT ?? 500;
  for (let seed = FIRST; seed < FIRST + count && failed.length < MOST_FAILURES; seed += DELTARS_AHEAD) {
    const seeds = Array.from({ length: Math.min(DELTARS_AHEAD, FIRST + count - seed) }, (_, i) => seed + i);
    await Promise.all(
      seeds.map(async (each) => {
        const sequence = generate(each, { steps: 6, foreign: ['deltars'] });
        const failure = await failureOf(sequence, compareWithDeltars);
        if (failure) failed.push(await told(each, sequence, failure, compareWithDeltars));
      }),
    );
  }
  expect(failed).toEqual([]);
});

it('random sequences of verbs are read, and done alike, by Spark', { timeout: 0 }, async () => {
  const failed: string[] = [];
  const compareOne: Compare = async (ran) => (await compareWithSpark([ran]))[0];
  const count = COUNT ?? 40;
  for (let seed = FIRST; seed < FIRST + count && failed.length < MOST_FAILURES; seed += SPARK_BATCH) {
    const seeds = Array.from({ length: Math.min(SPARK_BATCH, FIRST + count - seed) }, (_, i) => seed + i);
    const tried = await Promise.all(
      seeds.map(async (each): Promise<(Ran & { readonly seed: number }) | undefined> => {
        const sequence = generate(each, { steps: 12, foreign: ['spark', 'deltars'] });
        try {
          return { ...(await run(sequence)), seed: each };
        } catch (error) {
          failed.push(await told(each, sequence, error as Error, async () => undefined));
          return undefined;
        }
      }),
    );
    const ran = tried.filter((each) => each !== undefined);
    for (const [i, failure] of (await compareWithSpark(ran)).entries()) {
      const { seed: each, sequence } = ran[i]!;
      if (failure) failed.push(await told(each, sequence, failure, compareOne));
    }
  }
  expect(failed).toEqual([]);
});
