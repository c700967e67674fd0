import { expect, test } from 'vitest';
import { assertReconciled } from '../../../src/log/compaction.js';

const file = { version: 6, from: 4, key: '_delta_log/4.6.compacted.json', size: 1, modifiedAt: 0 };
const bytes = (...actions: object[]) =>
  new TextEncoder().encode(actions.map((action) => JSON.stringify(action)).join('\n'));
const vector = { storageType: 'u', pathOrInlineDv: 'x', offset: 1, sizeInBytes: 1, cardinality: 1 };

test('a compaction may remove what it does not add, and a file without the vector that it adds with one', () => {
  assertReconciled(
    bytes({ remove: { path: 'a' } }, { add: { path: 'a', deletionVector: vector } }, { add: { path: 'b' } }),
    file,
  );
});

test('a compaction that adds and removes one file is refused', () => {
  const both = bytes(
    { add: { path: 'a', deletionVector: vector } },
    { remove: { path: 'a', deletionVector: vector } },
  );
  expect(() => assertReconciled(both, file)).toThrow(
    expect.objectContaining({ code: 'CORRUPT_LOG', context: expect.objectContaining({ file: file.key }) }),
  );
});
