import { describe, expect, test } from 'vitest';
import { LOG_LIMITS, readLogFile } from '../../../src/log/limits.js';
import { MemoryStore } from '../../../src/store/memory.js';
import { fakeContext } from '../../support/fake-context.js';

const MIB = 2 ** 20;

/** A store with one object of any size, made of lines of the length given, that counts what is read of it. */
class LargeStore extends MemoryStore {
  received = 0;
  constructor(
    readonly size: number,
    readonly lineBytes: number,
  ) {
    super(fakeContext());
  }
  override async getRange(_key: string, start: number, end: number): Promise<Uint8Array> {
    const bytes = new Uint8Array(Math.min(end, this.size) - start).fill(0x78);
    for (let at = this.lineBytes - 1 - (start % this.lineBytes); at < bytes.length; at += this.lineBytes)
      bytes[at] = 0x0a;
    this.received += bytes.length;
    return bytes;
  }
}

describe('readLogFile', () => {
  test('refuses a line of 1 GB after reading little more than a line may have', async () => {
    const store = new LargeStore(1024 * MIB, 1024 * MIB);
    const reading = readLogFile(store, { key: 'k', size: store.size });
    await expect(reading).rejects.toMatchObject({ code: 'LIMIT_EXCEEDED', context: { file: 'k' } });
    expect(store.received).toBeLessThanOrEqual(LOG_LIMITS.lineBytes + 32 * MIB);
  });

  test('refuses a file of 2 GiB by its listing alone', async () => {
    const store = new LargeStore(2048 * MIB, 100);
    await expect(readLogFile(store, { key: 'k', size: store.size })).rejects.toMatchObject({
      code: 'LIMIT_EXCEEDED',
    });
    expect(store.received).toBe(0);
  });

  test('reads a file of many lines beyond 64 MiB', async () => {
    const store = new LargeStore(100 * MIB, MIB);
    const bytes = await readLogFile(store, { key: 'k', size: store.size });
    expect([bytes.length, bytes[MIB - 1], bytes[MIB]]).toEqual([100 * MIB, 0x0a, 0x78]);
  });
});
