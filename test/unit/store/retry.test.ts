import { expect, test } from 'vitest';
import { retrying, type Verdict } from '../../../src/store/retry.js';
import { FakeClock, fakeContext } from '../../support/fake-context.js';

const failure = new Error('again');
const scope = (retryForMs: number, signal?: AbortSignal) => {
  const clock = new FakeClock();
  const ctx = fakeContext(clock);
  return { ctx, clock, operation: 'get' as const, key: 'k', retryForMs, ...(signal && { signal }) };
};
const again =
  (more: object = {}) =>
  (): Verdict => ({ again: true, reason: 'SlowDown', error: failure, ...more });

test('tries until an attempt succeeds, and says each wait', async () => {
  const given = scope(60_000);
  let tries = 0;
  const answer = await retrying(
    given,
    async () => {
      tries += 1;
      if (tries < 4) throw failure;
      return 'answer';
    },
    again(),
  );
  expect(answer).toBe('answer');
  expect(given.ctx.events.map((event) => event.type === 'retry' && [event.attempt, event.reason])).toEqual([
    [1, 'SlowDown'],
    [2, 'SlowDown'],
    [3, 'SlowDown'],
  ]);
});

test('throws the last error when the time is used up, and waits no longer than it', async () => {
  const given = scope(10_000);
  const began = given.clock.time;
  await expect(retrying(given, async () => Promise.reject(failure), again())).rejects.toBe(failure);
  expect(given.clock.time - began).toBeLessThanOrEqual(10_000);
  expect(given.clock.time - began).toBeGreaterThan(3_000);
});

test('waits grow, have chance in them, and are longer where the server asks for it', async () => {
  const waits = async (more: object) => {
    const given = scope(60_000);
    await retrying(given, async () => Promise.reject(failure), again(more)).catch(() => undefined);
    return given.ctx.events.flatMap((event) => (event.type === 'retry' ? [event.delayMs] : []));
  };
  const plain = await waits({});
  const slow = await waits({ pause: 'slow' });
  expect(plain[0]).toBeGreaterThanOrEqual(25);
  expect(plain[0]).toBeLessThanOrEqual(50);
  expect(slow[0]).toBeGreaterThanOrEqual(150);
  expect(Math.max(...plain, ...slow)).toBeLessThanOrEqual(5_000);
  expect(plain[4]).toBeGreaterThan((plain[0] ?? 0) * 4);
});

test('a shorter limit of the verdict holds', async () => {
  const given = scope(60_000);
  const began = given.clock.time;
  await retrying(given, async () => Promise.reject(failure), again({ withinMs: 1_000 })).catch(
    () => undefined,
  );
  expect(given.clock.time - began).toBeLessThanOrEqual(1_000);
});

test('what the judge gives up on is thrown at once, as the judge says it', async () => {
  const given = scope(60_000);
  const explained = new Error('explained');
  await expect(
    retrying(
      given,
      async () => Promise.reject(failure),
      () => ({ again: false, error: explained }),
    ),
  ).rejects.toBe(explained);
  expect(given.ctx.events).toEqual([]);
});

test('an abort is not tried again', async () => {
  const controller = new AbortController();
  const given = scope(60_000, controller.signal);
  let tries = 0;
  const run = retrying(
    given,
    async () => {
      tries += 1;
      controller.abort(new Error('enough'));
      throw failure;
    },
    again(),
  );
  await expect(run).rejects.toMatchObject({ code: 'ABORTED', cause: { message: 'enough' } });
  expect(tries).toBe(1);
});
