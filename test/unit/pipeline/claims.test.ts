import { afterAll, beforeAll, expect, test } from 'vitest';
import { parseInterval } from '../../../src/interval/argument.js';
import { Claims } from '../../../src/pipeline/claims.js';
import { prepareJob } from '../../../src/pipeline/job.js';
import { type Bench, job, openBench } from './support.js';

let bench: Bench;
beforeAll(async () => {
  bench = await openBench();
});
afterAll(() => bench.close());

test('a claim keeps others from its interval, is seen by them alone, and runs out', async () => {
  const daily = job(bench, 'claims');
  await prepareJob(daily);
  const interval = parseInterval(daily.definition.calendar, '2024-01-05');
  const [mine, theirs] = [new Claims(daily), new Claims(daily)];
  expect(await theirs.others()).toBe(false);
  expect(await mine.take(interval, 0)).toBe(true);
  await mine.during(interval, 0, async () => {
    expect(await theirs.take(interval, 0)).toBe(false);
    expect(await theirs.take(interval, 1)).toBe(true);
    expect(await theirs.others()).toBe(true);
    // The claim of attempt 2 is the other's.
    expect(await mine.others()).toBe(true);
  });
  expect(await mine.others()).toBe(true);
  bench.now += 60_000;
  expect(await mine.others()).toBe(false);
  expect(await mine.take(interval, 1)).toBe(true);
});
