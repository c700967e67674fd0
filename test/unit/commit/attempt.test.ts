import { expect, test } from 'vitest';
import { attemptCommit } from '../../../src/commit/attempt.js';
import type { PutIfAbsentResult, RequestOptions, Store } from '../../../src/store/store.js';
import { FakeClock, fakeContext } from '../../support/fake-context.js';

const OURS = new TextEncoder().encode(`${JSON.stringify({ commitInfo: { txnId: 'ours' } })}\n`);

test('an abort during the put does not stop the search for what became of it', async () => {
  const stop = new AbortController();
  const signals: (AbortSignal | undefined)[] = [];
  const store = {
    async putIfAbsent(
      _key: string,
      _bytes: Uint8Array,
      options?: RequestOptions,
    ): Promise<PutIfAbsentResult> {
      signals.push(options?.signal);
      stop.abort();
      return signals.length === 1
        ? { outcome: 'ambiguous', cause: new Error('aborted') }
        : { outcome: 'exists' };
    },
    get: async () => OURS,
  } as unknown as Store;
  const ctx = fakeContext(new FakeClock());
  const input = {
    version: 7,
    bytes: OURS,
    txnId: 'ours',
    deadline: ctx.clock.monotonic() + 1,
    signal: stop.signal,
  };
  expect(await attemptCommit(store, ctx, input)).toEqual({ outcome: 'committed' });
  expect(signals).toEqual([stop.signal]);
});

test('a version that another has won comes with the file that won it', async () => {
  const theirs = new TextEncoder().encode(`${JSON.stringify({ commitInfo: { txnId: 'theirs' } })}\n`);
  let reads = 0;
  const store = {
    putIfAbsent: async () => ({ outcome: 'exists' }),
    get: async () => {
      reads++;
      return theirs;
    },
  } as unknown as Store;
  const ctx = fakeContext(new FakeClock());
  const input = { version: 7, bytes: OURS, txnId: 'ours', deadline: ctx.clock.monotonic() + 1 };
  expect(await attemptCommit(store, ctx, input)).toEqual({ outcome: 'conflict', winner: theirs });
  expect(reads).toBe(1);
});
