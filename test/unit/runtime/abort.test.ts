import { expect, test } from 'vitest';
import { itemsUntilAborted, untilAborted } from '../../../src/runtime/abort.js';

test('items come as they are, and their source is ended when nobody wants more', async () => {
  let ended = false;
  async function* source() {
    try {
      yield 1;
      yield 2;
      yield 3;
    } finally {
      ended = true;
    }
  }
  const { signal } = new AbortController();
  const all: number[] = [];
  for await (const item of itemsUntilAborted(source(), signal)) all.push(item);
  expect(all).toEqual([1, 2, 3]);
  ended = false;
  for await (const item of itemsUntilAborted(source(), signal)) if (item === 2) break;
  expect(ended).toBe(true);
});

test('a source that is stuck is not waited for', async () => {
  const stop = new AbortController();
  async function* stuck() {
    yield 1;
    stop.abort();
    await new Promise(() => undefined);
  }
  const all: number[] = [];
  await expect(
    (async () => {
      for await (const item of itemsUntilAborted(stuck(), stop.signal)) all.push(item);
    })(),
  ).rejects.toMatchObject({ code: 'ABORTED' });
  expect(all).toEqual([1]);
  await expect(untilAborted(new Promise(() => undefined), stop.signal)).rejects.toMatchObject({
    code: 'ABORTED',
  });
});

test('what a source throws is thrown', async () => {
  const { signal } = new AbortController();
  async function* failing(): AsyncGenerator<number> {
    yield 1;
    throw new Error('no more');
  }
  await expect(
    (async () => {
      for await (const _ of itemsUntilAborted(failing(), signal));
    })(),
  ).rejects.toThrow('no more');
  await expect(untilAborted(Promise.reject(new Error('no')), signal)).rejects.toThrow('no');
  expect(await untilAborted('at once', signal)).toBe('at once');
});
