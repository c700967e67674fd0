import { describe, expect, test } from 'vitest';
import { parseJson } from '../../../src/log/json.js';
import {
  canonicalJson,
  jsonChecksum,
  parseLastCheckpoint,
  serializeLastCheckpoint,
} from '../../../src/log/last-checkpoint.js';
import type { JsonObject } from '../../../src/schema/types.js';

describe('the checksum', () => {
  // The sample of the protocol (JSON checksum).
  const sample = parseJson(
    `{"k0":"'v 0'", "checksum": "adsaskfljadfkjadfkj", "k1":{"k2": 2, "k3": ["v3", [1, 2], {"k4": "v4", "k5": ["v5", "v6", "v7"]}]}}`,
  ) as JsonObject;

  test('is taken of the canonical form', () => {
    expect(canonicalJson(sample)).toBe(
      '"k0"="%27v%200%27","k1"+"k2"=2,"k1"+"k3"+0="v3","k1"+"k3"+1+0=1,"k1"+"k3"+1+1=2,"k1"+"k3"+2+"k4"="v4","k1"+"k3"+2+"k5"+0="v5","k1"+"k3"+2+"k5"+1="v6","k1"+"k3"+2+"k5"+2="v7"',
    );
    expect(jsonChecksum(sample)).toBe('6a92d155a59bf2eecbd4b4ec7fd1f875');
  });
});

describe('_last_checkpoint', () => {
  test('is read as it was written', () => {
    const hint = { version: 10, size: 12, sizeInBytes: 3456, numOfAddFiles: 7 };
    expect(parseLastCheckpoint(serializeLastCheckpoint(hint))).toEqual(hint);
  });

  test('names the file of a UUID-named checkpoint', () => {
    const text =
      '{"version":6,"size":14,"v2Checkpoint":{"path":"x.json","sizeInBytes":1,"modificationTime":1}}';
    expect(parseLastCheckpoint(new TextEncoder().encode(text))).toMatchObject({
      version: 6,
      v2Path: 'x.json',
    });
  });

  test.each([
    '',
    'null',
    '[]',
    '5',
    '{}',
    '{"version":"1"}',
    '{"version":1.5}',
    '{"version":9007199254740993}',
    '{"version":1',
  ])('%s is no hint', (text) => {
    expect(parseLastCheckpoint(new TextEncoder().encode(text))).toBeUndefined();
  });
});
