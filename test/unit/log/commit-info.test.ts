import { expect, test } from 'vitest';
import { serializeActions } from '../../../src/log/action-lines.js';
import { buildCommitInfo } from '../../../src/log/commit-info.js';

test('commitInfo has the members, forms and order that other engines write', () => {
  const commitInfo = buildCommitInfo({
    operation: 'WRITE',
    parameters: { mode: 'Append', partitionBy: '["day"]' },
    metrics: { numFiles: 2, numOutputRows: 5, numOutputBytes: 981 },
    readVersion: 3,
    isBlindAppend: true,
    timestamp: 1_700_000_000_000,
    engineInfo: 'Intervale/1',
    txnId: 't',
  });
  expect(new TextDecoder().decode(serializeActions([{ commitInfo }]))).toBe(
    '{"commitInfo":{"timestamp":1700000000000,"operation":"WRITE","operationParameters":{"mode":"Append","partitionBy":"[\\"day\\"]"},"readVersion":3,' +
      '"isolationLevel":"Serializable","isBlindAppend":true,"operationMetrics":{"numFiles":"2","numOutputRows":"5","numOutputBytes":"981"},"engineInfo":"Intervale/1","txnId":"t"}}\n',
  );
});

test('the in-commit timestamp is the first member', () => {
  const info = buildCommitInfo({
    operation: 'CREATE TABLE',
    parameters: {},
    metrics: {},
    isBlindAppend: true,
    timestamp: 5,
    inCommitTimestamp: true,
    engineInfo: 'e',
    txnId: 't',
    userMetadata: 'mine',
  });
  expect(Object.keys(info)[0]).toBe('inCommitTimestamp');
  expect(info).toMatchObject({ inCommitTimestamp: 5, timestamp: 5, userMetadata: 'mine' });
  expect(info).not.toHaveProperty('readVersion');
});
