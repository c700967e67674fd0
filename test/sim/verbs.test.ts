import { afterAll, describe, expect, test } from 'vitest';
import { createRuntime } from '../../src/index.js';
import { generate, type Sequence } from '../support/model/generate.js';
import { keptSequences } from '../support/model/kept.js';
import { runSequence } from '../support/model/run-sequence.js';
import { shrink } from '../support/model/shrink.js';

/** `DIFF_SEEDS` and `DIFF_COUNT`: the first seed and how many, for thousands on demand. A failure names its seed and prints a case for spec/cases/differential. */
const FIRST = Number(process.env.DIFF_SEEDS ?? 1);
const COUNT = Number(process.env.DIFF_COUNT ?? 60);
const SHRINK_MS = 30_000;

const runtimes = [
  createRuntime({ workers: 1 }),
  createRuntime({ workers: 1 }),
  createRuntime({ workers: 1 }),
] as const;
afterAll(() => Promise.all(runtimes.map((runtime) => runtime.close())));
let names = 0;

const run = (sequence: Sequence) => runSequence(`memory://verbs-${names++}`, sequence, { runtimes });
const failureOf = (sequence: Sequence): Promise<Error | undefined> =>
  run(sequence).then(
    () => undefined,
    (error: Error) => error,
  );

const kept = await keptSequences();

describe('sequences that failed once', () => {
  test.each(kept)('%s', async (_, sequence) => {
    await run(sequence);
  });
});

test('random sequences of verbs leave what the model says', { timeout: 0 }, async () => {
  const failed: string[] = [];
  for (let seed = FIRST; seed < FIRST + COUNT; seed++) {
    const sequence = generate(seed, { steps: 10 });
    const failure = await failureOf(sequence);
    if (!failure) continue;
    const smallest = await shrink(sequence, failure, failureOf, SHRINK_MS);
    failed.push(`seed ${seed}: ${(await failureOf(smallest))?.message}\n${JSON.stringify(smallest)}`);
    if (failed.length >= 3) break;
  }
  expect(failed).toEqual([]);
});
