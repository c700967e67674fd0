import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type ErrorCode, TableError } from '../../src/errors.js';
import { classify, isPassing, mayHaveLanded } from '../../src/store/classify.js';
import { storeConformance } from '../../src/store/conformance.js';
import { compareKeys } from '../../src/store/keys.js';
import { LocalStore } from '../../src/store/local.js';
import { probe } from '../../src/store/probe.js';
import type { PutIfAbsentResult } from '../../src/store/store.js';
import { resolveUrl } from '../../src/store/url.js';
import { fakeContext } from '../support/fake-context.js';

async function cases<T>(name: string): Promise<(T & { name: string })[]> {
  const text = await readFile(new URL(`../../spec/cases/store/${name}.json`, import.meta.url), 'utf8');
  return JSON.parse(text).cases;
}

let scratch = '';
beforeAll(async () => {
  scratch = await mkdtemp(join(tmpdir(), 'intervale-store-'));
});
afterAll(() => rm(scratch, { recursive: true }));

describe('places', async () => {
  test.each(await cases<{ given: string; url?: string; error?: string }>('urls'))(
    '$name',
    ({ given, url, error }) => {
      if (error) return expect(() => resolveUrl(given)).toThrow(expect.objectContaining({ code: error }));
      const expected = url
        ?.replace('<cwd>', encodeURI(process.cwd()))
        .replace('<home>', encodeURI(homedir()));
      expect(resolveUrl(given)).toBe(expected);
      return expect(resolveUrl(resolveUrl(given))).toBe(expected);
    },
  );
});

describe('keys of a local store', async () => {
  test.each(await cases<{ key: string; path?: string; error?: string }>('local-keys'))(
    '$name',
    async ({ key, path, error }) => {
      const store = new LocalStore(fakeContext(), join(scratch, 'in', 'here'), { fsync: false });
      if (error) {
        for (const attempt of [
          () => store.get(key),
          () => store.put(key, new Uint8Array()),
          () => store.putIfAbsent(key, new Uint8Array()),
          () => store.delete(key),
          () => store.head(key),
        ])
          await expect(attempt()).rejects.toMatchObject({ code: error });
        return;
      }
      await store.put(key, new TextEncoder().encode(key));
      expect(await readFile(`${scratch}/in/here/${path}`, 'utf8')).toBe(key);
    },
  );
});

describe('order of keys', async () => {
  test.each(await cases<{ sorted: string[] }>('order'))('$name', ({ sorted }) => {
    expect([...sorted].reverse().sort(compareKeys)).toEqual(sorted);
    const bytewise = [...sorted].sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
    expect(bytewise).toEqual(sorted);
  });
});

describe('answers to a conditional put', async () => {
  type Answer = {
    code?: string;
    status?: number;
    system?: string;
    kind: string;
    landed: boolean;
    again: boolean;
  };
  test.each(await cases<Answer>('answers'))('$name', ({ code, status, system, kind, landed, again }) => {
    const error = system
      ? Object.assign(new Error(`it failed: ${system}`), { code: system })
      : Object.assign(new Error('it failed'), { name: code, $metadata: { httpStatusCode: status } });
    const fault = classify(error);
    expect(fault.kind).toBe(kind);
    expect(mayHaveLanded(fault.kind)).toBe(landed);
    expect(isPassing(fault.kind)).toBe(again);
  });
});

describe('the probe', async () => {
  type Trial = { pair: string[]; race?: string[] };
  beforeEach(() => {
    process.env.XDG_CACHE_HOME = scratch;
  });

  test.each(await cases<{ trials: Trial[]; verdict?: string; error?: string }>('probe'))(
    '$name',
    async (given) => {
      const answers = given.trials.flatMap(({ pair, race = [] }) => [...pair, ...race]);
      const deleted: string[] = [];
      const written = new Set<string>();
      const verdict = probe({
        ctx: fakeContext(),
        endpoint: 'http://server.example',
        bucket: given.name,
        store: 's3://bucket/table',
        force: true,
        putIfAbsent: async (key): Promise<PutIfAbsentResult> => {
          written.add(key);
          const outcome = answers.shift() as string;
          if (outcome === outcome.toUpperCase()) throw new TableError(outcome as ErrorCode, 'refused');
          return outcome === 'ambiguous'
            ? { outcome, cause: undefined }
            : { outcome: outcome as 'created' | 'exists' };
        },
        delete: async (key) => {
          deleted.push(key);
        },
      });
      if (given.error) await expect(verdict).rejects.toMatchObject({ code: given.error });
      else expect(await verdict).toBe(given.verdict);
      expect(answers).toEqual([]);
      expect(new Set(deleted)).toEqual(written);
      expect([...written].every((key) => key.startsWith('_intervale/probe-'))).toBe(true);
    },
  );
});

test('the conformance suite is the one that the spec lists', async () => {
  expect(storeConformance().map(({ name }) => name)).toEqual(
    (await cases('conformance')).map(({ name }) => name),
  );
});
