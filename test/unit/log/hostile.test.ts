import { describe, expect, test } from 'vitest';
import { parseCommit, serializeActions } from '../../../src/log/action-lines.js';
import { listLog } from '../../../src/log/listing.js';
import { commitPath, LAST_CHECKPOINT_KEY } from '../../../src/log/paths.js';
import { listSegment } from '../../../src/log/segment.js';
import { MemoryStore } from '../../../src/store/memory.js';
import { fakeContext } from '../../support/fake-context.js';

const where = { version: 0, file: commitPath(0) };
const encode = (text: string) => new TextEncoder().encode(text);

describe('a hostile log ends in an error that names its file', () => {
  test('a path of 10 MB', () => {
    const bytes = encode(`{"add":{"path":"${'x'.repeat(10_000_000)}"}}`);
    expect(() => parseCommit(bytes, where)).toThrow(
      expect.objectContaining({ code: 'LIMIT_EXCEEDED', message: expect.stringContaining(where.file) }),
    );
  });

  test('a million brackets, in an action and in a line of their own', () => {
    for (const text of [`{"commitInfo":${'['.repeat(1_000_000)}`, '{"a":'.repeat(1_000_000)]) {
      expect(() => parseCommit(encode(text), where)).toThrow(
        expect.objectContaining({ code: 'LIMIT_EXCEEDED', message: expect.stringContaining(where.file) }),
      );
    }
  });

  test('a number of ten million digits', () => {
    const bytes = encode(`{"add":{"path":"a","size":${'9'.repeat(10_000_000)}}}`);
    expect(() => parseCommit(bytes, where)).toThrow(expect.objectContaining({ code: 'CORRUPT_LOG' }));
  });

  test('a hint of 20 MB is passed over with a warning', async () => {
    const ctx = fakeContext();
    const store = new MemoryStore(ctx);
    await store.put(commitPath(0), encode('{"commitInfo":{}}'));
    await store.put(
      LAST_CHECKPOINT_KEY,
      encode(`{"version":0,"size":1,"tags":{"a":"${'x'.repeat(20_000_000)}"}}`),
    );
    expect((await listSegment(store, ctx)).version).toBe(0);
    expect(ctx.events).toContainEqual(
      expect.objectContaining({ type: 'warning', file: LAST_CHECKPOINT_KEY }),
    );
  });

  test('a part 1 of 9,999,999,999 costs no memory', async () => {
    const store = new MemoryStore(fakeContext());
    await store.put(
      '_delta_log/00000000000000000001.checkpoint.9999999998.9999999999.parquet',
      encode('x'.repeat(20)),
    );
    expect((await listLog(store, {})).unusable).toHaveLength(1);
  });
});

test('names of Object.prototype are names like any other', () => {
  const line =
    '{"add":{"path":"a","partitionValues":{"__proto__":null,"constructor":"c"},"size":1,"modificationTime":1,"dataChange":true,"toString":1},"hasOwnProperty":{"x":1},"__proto__":{"y":2}}';
  const actions = parseCommit(encode(line), where);
  expect(actions.map((action) => Object.keys(action)[0])).toEqual(['add', 'unknown', 'unknown']);
  expect(new TextDecoder().decode(serializeActions(actions))).toBe(
    '{"add":{"path":"a","partitionValues":{"__proto__":null,"constructor":"c"},"size":1,"modificationTime":1,"dataChange":true,"toString":1}}\n{"hasOwnProperty":{"x":1}}\n{"__proto__":{"y":2}}\n',
  );
});
