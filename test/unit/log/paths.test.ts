import { describe, expect, test } from 'vitest';
import {
  checkpointPartKey,
  checksumKey,
  classicCheckpointKey,
  commitPath,
  compactedKey,
  isLogFile,
  parseLogKey,
  sidecarKey,
  uuidCheckpointKey,
  VERSIONED_PREFIX,
} from '../../../src/log/paths.js';

describe('the names of the log', () => {
  const uuid = '80a083e8-7026-4e79-81be-64bd76c43a11';
  test.each([
    [commitPath(7), { kind: 'commit', version: 7 }],
    [commitPath(Number.MAX_SAFE_INTEGER), { kind: 'commit', version: Number.MAX_SAFE_INTEGER }],
    [checksumKey(7), { kind: 'checksum', version: 7 }],
    [classicCheckpointKey(10), { kind: 'classic', version: 10 }],
    [checkpointPartKey(10, 2, 3), { kind: 'part', version: 10, part: 2, parts: 3 }],
    [uuidCheckpointKey(10, uuid, 'json'), { kind: 'uuid', version: 10, uuid, format: 'json' }],
    [uuidCheckpointKey(10, uuid, 'parquet'), { kind: 'uuid', version: 10, uuid, format: 'parquet' }],
    [compactedKey(4, 6), { kind: 'compacted', from: 4, version: 6 }],
  ])('%s is built and read', (key, name) => {
    expect(parseLogKey(key)).toEqual(name);
    expect(key.startsWith(VERSIONED_PREFIX)).toBe(true);
  });

  test.each([
    '_delta_log/7.json',
    '_delta_log/00000000000000000007.json.tmp',
    '_delta_log/.00000000000000000007.json.crc',
    '_delta_log/_staged_commits/00000000000000000007.json',
    '_delta_log/00000000000000000007/x.json',
    '_delta_log/00009007199254740992.json',
    '_delta_log/00000000000000000010.checkpoint.0000000004.0000000003.parquet',
    '_delta_log/00000000000000000010.checkpoint.0000000000.0000000003.parquet',
    '_delta_log/00000000000000000006.00000000000000000006.compacted.json',
    'x/_delta_log/00000000000000000007.json',
    '_delta_log/_last_checkpoint',
  ])('%s is none of them', (key) => {
    expect(parseLogKey(key)).toBeUndefined();
  });

  test('commits and checkpoints make a table', () => {
    expect([commitPath(0), classicCheckpointKey(1), checkpointPartKey(1, 1, 2)].map(isLogFile)).toEqual([
      true,
      true,
      true,
    ]);
    expect([checksumKey(0), compactedKey(0, 1), '_delta_log/x'].map(isLogFile)).toEqual([
      false,
      false,
      false,
    ]);
  });
});

describe('sidecarKey', () => {
  test.each([
    ['a.parquet', '_delta_log/_sidecars/a.parquet'],
    ['a%20b.parquet', '_delta_log/_sidecars/a b.parquet'],
    ['s3://bucket/table/_delta_log/_sidecars/a.parquet', '_delta_log/_sidecars/a.parquet'],
    ['_delta_log/_sidecars/a.parquet', '_delta_log/_sidecars/a.parquet'],
  ])('%s is %s', (path, key) => {
    expect(sidecarKey(path)).toBe(key);
  });

  test.each(['', '..', '../a.parquet', '%2e%2e%2fa.parquet', 's3://other/a.parquet', '%zz'])(
    '%s is refused',
    (path) => {
      expect(() => sidecarKey(path)).toThrow(expect.objectContaining({ code: 'CORRUPT_LOG' }));
    },
  );
});
