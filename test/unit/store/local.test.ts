import { mkdir, mkdtemp, readdir, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { ObjectMeta } from '../../../src/store/store.js';
import { testContext } from '../../support/store-context.js';

const refusal = vi.hoisted(() => ({
  link: undefined as string | undefined,
  stats: [] as string[],
  syncs: 0,
}));

vi.mock('node:fs', async (original) => {
  const real = await original<typeof import('node:fs')>();
  const statSync = (path: string, options: { throwIfNoEntry: false }) => {
    refusal.stats.push(path);
    return real.statSync(path, options);
  };
  const linkSync = (from: string, to: string) => {
    if (!refusal.link) return real.linkSync(from, to);
    throw Object.assign(new Error(`${refusal.link}: link`), { code: refusal.link, syscall: 'link' });
  };
  const fsync: typeof real.fsync = Object.assign((fd: number, done: (error: Error | null) => void) => {
    refusal.syncs += 1;
    real.fsync(fd, done);
  }, real.fsync);
  return { ...real, statSync, linkSync, fsync };
});

vi.mock('node:fs/promises', async (original) => {
  const real = await original<typeof import('node:fs/promises')>();
  return {
    ...real,
    stat: (path: string) => {
      refusal.stats.push(path);
      return real.stat(path);
    },
  };
});

const { LocalStore } = await import('../../../src/store/local.js');

const bytes = new TextEncoder().encode('{}\n');
const COMMIT = '_delta_log/00000000000000000000.json';
let root = '';

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'intervale-local-'));
  Object.assign(refusal, { link: undefined, stats: [], syncs: 0 });
});
afterEach(() => rm(root, { recursive: true }));

async function listed(
  store: InstanceType<typeof LocalStore>,
  prefix: string,
  after?: string,
): Promise<ObjectMeta[]> {
  const all: ObjectMeta[] = [];
  for await (const page of store.list(prefix, after === undefined ? {} : { after })) all.push(...page);
  return all;
}

describe('putIfAbsent', () => {
  test('leaves the object and nothing else, whether it created it or met another', async () => {
    const store = new LocalStore(testContext(), root);
    expect(await store.putIfAbsent(COMMIT, bytes)).toEqual({ outcome: 'created' });
    expect(await store.putIfAbsent(COMMIT, bytes)).toEqual({ outcome: 'exists' });
    expect(await readdir(join(root, '_delta_log'))).toEqual(['00000000000000000000.json']);
  });

  test.each(['EPERM', 'ENOSYS', 'EOPNOTSUPP', 'ENOTSUP', 'EMLINK'])(
    'where links are refused with %s it says so and writes nothing',
    async (errno) => {
      refusal.link = errno;
      const store = new LocalStore(testContext(), root);
      await expect(store.putIfAbsent(COMMIT, bytes)).rejects.toMatchObject({
        code: 'STORE_UNSUPPORTED',
        message: expect.stringContaining(`refuses hard links (${errno})`),
      });
      expect(await readdir(join(root, '_delta_log'))).toEqual([]);
    },
  );

  test('an I/O error of the link is ambiguous', async () => {
    refusal.link = 'EIO';
    const store = new LocalStore(testContext(), root);
    expect(await store.putIfAbsent(COMMIT, bytes)).toMatchObject({
      outcome: 'ambiguous',
      cause: { code: 'EIO' },
    });
  });

  test('syncs the file and its folder, new folders too, and nothing where that is turned off', async () => {
    const store = new LocalStore(testContext(), join(root, 'new/table'));
    await store.putIfAbsent(COMMIT, bytes);
    expect(refusal.syncs).toBe(2 + 3);
    refusal.syncs = 0;
    await store.putIfAbsent('_delta_log/00000000000000000001.json', bytes);
    expect(refusal.syncs).toBe(2);
    refusal.syncs = 0;
    await new LocalStore(testContext(), root, { fsync: false }).putIfAbsent(COMMIT, bytes);
    expect(refusal.syncs).toBe(0);
  });
});

test('what replaces a file takes away the checksum that another engine left beside it', async () => {
  const store = new LocalStore(testContext(), root);
  await writeFile(join(root, 'x.parquet'), 'old');
  await writeFile(join(root, '.x.parquet.crc'), 'of old');
  await store.put('x.parquet', bytes);
  expect(await readdir(root)).toEqual(['x.parquet']);
});

describe('a folder that is not there', () => {
  test('is not made by reading', async () => {
    const store = new LocalStore(testContext(), join(root, 'typo'));
    await expect(store.get(COMMIT)).rejects.toMatchObject({ code: 'NOT_FOUND' });
    expect(await store.head(COMMIT)).toBeUndefined();
    expect(await listed(store, '_delta_log/')).toEqual([]);
    await store.delete(COMMIT);
    expect(await readdir(root)).toEqual([]);
  });

  test('a file where a folder should be is a missing object, and stays', async () => {
    await writeFile(join(root, 'file'), 'x');
    const store = new LocalStore(testContext(), root);
    await expect(store.get('file/under')).rejects.toMatchObject({ code: 'NOT_FOUND' });
    expect(await listed(store, 'file/')).toEqual([]);
    await expect(store.put('file/under', bytes)).rejects.toMatchObject({ code: 'STORE_FAILED' });
  });
});

describe('folders', () => {
  test('are not objects: not read, not listed, not deleted', async () => {
    await mkdir(join(root, 'p=1'));
    const store = new LocalStore(testContext(), root);
    await expect(store.get('p=1')).rejects.toMatchObject({ code: 'NOT_FOUND' });
    await expect(store.getRange('p=1', 0, 4)).rejects.toMatchObject({ code: 'NOT_FOUND' });
    await expect(store.getTail('p=1', 4)).rejects.toMatchObject({ code: 'NOT_FOUND' });
    expect(await store.head('p=1')).toBeUndefined();
    expect(await listed(store, '')).toEqual([]);
    await store.delete('p=1');
    expect(await readdir(root)).toEqual(['p=1']);
  });

  test('that are links are listed through, and dangling links are passed over', async () => {
    await mkdir(join(root, 'real'));
    await writeFile(join(root, 'real/f'), 'x');
    await symlink(join(root, 'real'), join(root, 'linked'));
    await symlink(join(root, 'gone'), join(root, 'dangling'));
    expect((await listed(new LocalStore(testContext(), root), '')).map(({ key }) => key)).toEqual([
      'linked/f',
      'real/f',
    ]);
  });
});

describe('list', () => {
  test('does not look at the files before `after`', async () => {
    const store = new LocalStore(testContext(), root, { fsync: false });
    for (let i = 0; i < 20; i++) await store.put(`_delta_log/${String(i).padStart(20, '0')}.json`, bytes);
    refusal.stats = [];
    const after = `_delta_log/${'17'.padStart(20, '0')}.json`;
    expect(await listed(store, '_delta_log/', after)).toHaveLength(2);
    expect(refusal.stats).toHaveLength(2);
  });

  test('shows what a killed writer left behind, so that it can be swept', async () => {
    await mkdir(join(root, '_delta_log'));
    await writeFile(join(root, '_delta_log/.tmp-1'), 'half');
    expect((await listed(new LocalStore(testContext(), root), '_delta_log/')).map(({ key }) => key)).toEqual([
      '_delta_log/.tmp-1',
    ]);
  });
});

test('a name longer than the disk takes is the caller’s to mend', async () => {
  const store = new LocalStore(testContext(), root);
  await expect(store.put(`p=${'x'.repeat(300)}/f`, bytes)).rejects.toMatchObject({ code: 'INVALID_INPUT' });
});

test('every operation is one request event with its bytes', async () => {
  const ctx = testContext();
  const store = new LocalStore(ctx, root);
  await store.putIfAbsent('a', bytes);
  await store.put('b', bytes);
  await store.get('a');
  await store.getTail('a', 2);
  await store.get('none').catch(() => undefined);
  await listed(store, '');
  await store.delete('a');
  expect(
    ctx.requests().map(({ operation, sent, received, outcome }) => [operation, sent, received, outcome]),
  ).toEqual([
    ['putIfAbsent', 3, 0, 'ok'],
    ['put', 3, 0, 'ok'],
    ['get', 0, 3, 'ok'],
    ['getRange', 0, 2, 'ok'],
    ['get', 0, 0, 'missing'],
    ['list', 0, 0, 'ok'],
    ['delete', 0, 0, 'ok'],
  ]);
});
