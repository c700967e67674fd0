import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Action } from '../../../src/log/actions.js';
import { writeCheckpoint } from '../../../src/log/checkpoint.js';
import {
  checksumKey,
  classicCheckpointKey,
  commitPath,
  LAST_CHECKPOINT_KEY,
  uuidCheckpointKey,
} from '../../../src/log/paths.js';
import { loadState } from '../../../src/snapshot/load.js';
import type { State } from '../../../src/snapshot/state.js';
import { MemoryStore } from '../../../src/store/memory.js';
import type { ObjectMeta } from '../../../src/store/store.js';
import { fakeContext } from '../../support/fake-context.js';
import { add, metadata, PROTOCOL, putCommit, remove } from '../../support/log-table.js';
import { referenceDir } from '../../support/reference-dir.js';

type TestContext = ReturnType<typeof fakeContext>;

const FIRST: readonly Action[] = [PROTOCOL, { metaData: metadata() }, { commitInfo: {} }];

/** Commits 0 to `last`, each adding one file, with checkpoints at the versions given. */
async function table(
  last: number,
  ...checkpoints: number[]
): Promise<{ store: MemoryStore; ctx: TestContext }> {
  const ctx = fakeContext();
  const store = new MemoryStore(ctx);
  for (let version = 0; version <= last; version++) {
    await putCommit(
      store,
      version,
      version === 0
        ? FIRST
        : [add(`f${version}`, { stats: `{"numRecords":${version}}` }), { txn: { appId: 'app', version } }],
    );
    if (checkpoints.includes(version))
      await writeCheckpoint(store, ctx, await loadState(store, ctx, { version }));
  }
  ctx.events.length = 0;
  return { store, ctx };
}

function requests(ctx: TestContext): string[] {
  return ctx.events.flatMap((event) =>
    event.type === 'request' ? [`${event.operation} ${event.key.replace('_delta_log/', '')}`] : [],
  );
}

function warnings(ctx: TestContext): (string | undefined)[] {
  return ctx.events.flatMap((event) => (event.type === 'warning' ? [event.file] : []));
}

async function listed(store: MemoryStore, prefix: string): Promise<ObjectMeta[]> {
  const found: ObjectMeta[] = [];
  for await (const page of store.list(prefix)) found.push(...page);
  return found;
}

function names(state: State): string[] {
  return Array.from(state.files.ids(), (id) => state.files.path(id)).sort();
}

const upTo = (last: number): string[] => Array.from({ length: last }, (_, index) => `f${index + 1}`).sort();

describe('loading', () => {
  it('opens at a checkpoint by its hint, one listing, the checkpoint and the commits after it', async () => {
    const { store, ctx } = await table(12, 10);
    const state = await loadState(store, ctx);
    expect(names(state)).toEqual(upTo(12));
    expect(state.txns.get('app')?.version).toBe(12);
    expect(requests(ctx).map((request) => request.split(' ')[0])).toEqual([
      'getRange',
      'list',
      'get',
      'get',
      'getRange',
    ]);
    expect(ctx.events.at(-1)).toMatchObject({ type: 'snapshotLoaded', version: 12, files: 12 });
  });

  it('refreshes by one listing when nothing is new, and gives the same state', async () => {
    const { store, ctx } = await table(3);
    const state = await loadState(store, ctx);
    ctx.events.length = 0;
    expect(await loadState(store, ctx, { previous: state })).toBe(state);
    expect(requests(ctx)).toHaveLength(1);
  });

  it('refreshes by one listing and the new commits', async () => {
    const { store, ctx } = await table(12, 10);
    const state = await loadState(store, ctx, { version: 11 });
    ctx.events.length = 0;
    const next = await loadState(store, ctx, { previous: state });
    expect(requests(ctx)).toHaveLength(2);
    expect(names(next)).toEqual(upTo(12));
    expect(names(state)).toEqual(upTo(11));
  });

  it('loads anew when the known version has been cleaned up', async () => {
    const { store, ctx } = await table(2);
    const known = await loadState(store, ctx);
    const fresh = await table(12, 10);
    for (let version = 0; version < 10; version++) await fresh.store.delete(commitPath(version));
    const state = await loadState(fresh.store, fresh.ctx, { previous: known });
    expect(names(state)).toEqual(upTo(12));
  });

  it('gives an earlier version although a later one is known', async () => {
    const { store, ctx } = await table(12, 10);
    const state = await loadState(store, ctx);
    expect(names(await loadState(store, ctx, { previous: state, version: 4 }))).toEqual(upTo(4));
  });

  it('takes the in-commit timestamp where it is enabled, the modification time otherwise', async () => {
    const { store, ctx } = await table(1);
    const [commit] = await listed(store, commitPath(1));
    expect((await loadState(store, ctx)).timestamp).toBe(commit?.modifiedAt);
    const configuration = { 'delta.enableInCommitTimestamps': 'true' };
    await putCommit(store, 2, [
      { commitInfo: { inCommitTimestamp: 77 } },
      { metaData: metadata({ configuration }) },
    ]);
    await putCommit(store, 3, [{ commitInfo: { inCommitTimestamp: 78 } }, add('x')]);
    const state = await loadState(store, ctx);
    expect(state.timestamp).toBe(78);
    await writeCheckpoint(store, ctx, state);
    expect((await loadState(store, ctx)).timestamp).toBe(78);
    await store.delete(commitPath(3));
    const checksum = {
      tableSizeBytes: 0,
      numFiles: 1,
      numMetadata: 1,
      numProtocol: 1,
      inCommitTimestampOpt: 78,
    };
    await store.put(checksumKey(3), new TextEncoder().encode(JSON.stringify(checksum)));
    expect((await loadState(store, ctx)).timestamp).toBe(78);
  });

  it('drops domains that were removed', async () => {
    const { store, ctx } = await table(0);
    await putCommit(store, 1, [
      { domainMetadata: { domain: 'a', configuration: '1', removed: false } },
      { domainMetadata: { domain: 'b', configuration: '2', removed: false } },
    ]);
    await putCommit(store, 2, [{ domainMetadata: { domain: 'a', configuration: '1', removed: true } }]);
    expect([...(await loadState(store, ctx)).domains.keys()]).toEqual(['b']);
  });

  it.each([
    ['protocol', [{ metaData: metadata() }]],
    ['metaData', [PROTOCOL]],
  ])('refuses a log without %s and says so', async (missing, actions) => {
    const ctx = fakeContext();
    const store = new MemoryStore(ctx);
    await putCommit(store, 0, actions as Action[]);
    await expect(loadState(store, ctx)).rejects.toMatchObject({ code: 'CORRUPT_LOG', context: { missing } });
  });

  it('refuses reader features that it does not have', async () => {
    const ctx = fakeContext();
    const store = new MemoryStore(ctx);
    await putCommit(store, 0, [
      {
        protocol: {
          minReaderVersion: 3,
          minWriterVersion: 7,
          readerFeatures: ['noSuchThing'],
          writerFeatures: ['noSuchThing'],
        },
      },
      { metaData: metadata() },
    ]);
    await expect(loadState(store, ctx)).rejects.toMatchObject({ code: 'UNSUPPORTED_FEATURE' });
  });
});

describe('a checkpoint that cannot be used', () => {
  const DAMAGE: [string, (bytes: Uint8Array) => Uint8Array][] = [
    ['cut to 100 bytes', (bytes) => bytes.slice(0, 100)],
    ['empty', () => new Uint8Array(0)],
    ['of a footer that lies about its length', (bytes) => with32(bytes, bytes.length - 8, 0x7fffffff)],
    ['of random bytes', (bytes) => bytes.map((_, index) => (index * 7919) & 255)],
    ['without its first half', (bytes) => bytes.map((byte, index) => (index < bytes.length / 2 ? 0 : byte))],
  ];

  it.each(DAMAGE)('%s is passed over for the commits, with a warning that names it', async (_, damage) => {
    const { store, ctx } = await table(12, 10);
    const key = classicCheckpointKey(10);
    await store.put(key, damage(await store.get(key)));
    expect(names(await loadState(store, ctx))).toEqual(upTo(12));
    expect(warnings(ctx)).toContain(key);
  });

  it('is passed over for an older checkpoint', async () => {
    const { store, ctx } = await table(25, 10, 20);
    await store.put(classicCheckpointKey(20), new Uint8Array(500));
    for (let version = 0; version < 10; version++) await store.delete(commitPath(version));
    expect(names(await loadState(store, ctx))).toEqual(upTo(25));
    expect(warnings(ctx)).toContain(classicCheckpointKey(20));
  });

  it('is named where nothing else covers its version', async () => {
    const { store, ctx } = await table(12, 10);
    for (let version = 0; version < 10; version++) await store.delete(commitPath(version));
    await store.put(classicCheckpointKey(10), new Uint8Array(500));
    await expect(loadState(store, ctx)).rejects.toMatchObject({
      code: 'CORRUPT_LOG',
      message: expect.stringContaining(classicCheckpointKey(10)),
    });
  });

  it.each([
    ['stale', '{"version":5,"size":7}'],
    ['of a checkpoint that is not there', '{"version":7,"size":7}'],
    ['garbage', '{"version":'],
  ])('a hint that is %s costs no row', async (_, hint) => {
    const { store, ctx } = await table(25, 5, 20);
    await store.put(LAST_CHECKPOINT_KEY, new TextEncoder().encode(hint));
    expect(names(await loadState(store, ctx))).toEqual(upTo(25));
  });
});

function with32(bytes: Uint8Array, at: number, value: number): Uint8Array {
  const out = bytes.slice();
  new DataView(out.buffer).setUint32(at, value, true);
  return out;
}

const reference = referenceDir();

describe.skipIf(reference === undefined)('checkpoints with sidecars', () => {
  const root = join(reference ?? '', 'tables');

  async function copy(store: MemoryStore, folder: string, prefix: string): Promise<void> {
    for (const entry of readdirSync(folder, { withFileTypes: true })) {
      if (entry.isDirectory()) await copy(store, join(folder, entry.name), `${prefix}${entry.name}/`);
      else await store.put(`${prefix}${entry.name}`, readFileSync(join(folder, entry.name)));
    }
  }

  /** The tables whose log has sidecars and every commit from 0. */
  const tables = (existsSync(root) ? readdirSync(root) : []).filter(
    (name) =>
      existsSync(join(root, name, '_delta_log/_sidecars')) &&
      existsSync(join(root, name, '_delta_log/00000000000000000000.json')),
  );

  it.each(tables)('%s without a sidecar is read from its commits', async (name) => {
    const ctx = fakeContext();
    const store = new MemoryStore(ctx);
    await copy(store, join(root, name, '_delta_log'), '_delta_log/');
    const whole = await loadState(store, ctx);
    const sidecars = await listed(store, '_delta_log/_sidecars/');
    for (const { key } of sidecars) await store.delete(key);
    const state = await loadState(store, ctx);
    expect(names(state)).toEqual(names(whole));
    expect(warnings(ctx)[0]).toMatch(/_sidecars|checkpoint/);
  });
});

describe('a V2 checkpoint in JSON', () => {
  const SIDECAR = '_delta_log/_sidecars/s.parquet';
  const UUID = '80a083e8-7026-4e79-81be-64bd76c43a11';

  /** A table at version 10 whose only state is a JSON checkpoint that names the sidecar at `path`; the sidecar is a whole checkpoint. */
  async function v2(path: string): Promise<{ store: MemoryStore; ctx: TestContext; key: string }> {
    const { store, ctx } = await table(10, 10);
    await store.put(SIDECAR, await store.get(classicCheckpointKey(10)));
    const key = uuidCheckpointKey(10, UUID, 'json');
    const lines = [
      { checkpointMetadata: { version: 10 } },
      PROTOCOL,
      { metaData: metadata() },
      { sidecar: { path, sizeInBytes: 1, modificationTime: 1 } },
    ];
    await store.put(key, new TextEncoder().encode(lines.map((line) => JSON.stringify(line)).join('\n')));
    await store.delete(classicCheckpointKey(10));
    for (let version = 0; version < 10; version++) await store.delete(commitPath(version));
    return { store, ctx, key };
  }

  it('reads the adds of its sidecars, whatever size it gives for them, and nothing else there', async () => {
    const { store, ctx } = await v2('s.parquet');
    const state = await loadState(store, ctx);
    expect(names(state)).toEqual(upTo(10));
    expect(state.txns.size).toBe(0);
  });

  it.each(['../../f.parquet', 'other/s.parquet', '..', 'nowhere.parquet'])(
    'that names %s is an error that names it',
    async (path) => {
      const { store, ctx, key } = await v2(path);
      await expect(loadState(store, ctx)).rejects.toMatchObject({
        code: 'CORRUPT_LOG',
        message: expect.stringContaining(key),
      });
      expect(warnings(ctx).length).toBeGreaterThan(0);
    },
  );
});

describe('a load of statistics', () => {
  it('that failed can be tried again, and is made once for all who ask', async () => {
    const { store, ctx } = await table(10, 10);
    const key = classicCheckpointKey(10);
    const bytes = await store.get(key);
    // Longer than what is fetched with the footer, so that statistics need requests of their own.
    await store.put(key, padded(bytes));
    const state = await loadState(store, ctx);
    const sound = await store.get(key);
    await store.delete(key);
    await expect(state.files.load({ statistics: true })).rejects.toMatchObject({ code: 'FILE_NOT_FOUND' });
    await store.put(key, sound);
    ctx.events.length = 0;
    await Promise.all([state.files.load({ statistics: true }), state.files.load({ statistics: true })]);
    expect(requests(ctx)).toHaveLength(1);
    expect(state.files.numRecords(0)).toBe(1);
  });
});

/** The same file behind a gap, so that its data lies far from its footer. */
function padded(bytes: Uint8Array): Uint8Array {
  const footerSize = new DataView(bytes.buffer, bytes.byteOffset).getUint32(bytes.length - 8, true);
  const out = new Uint8Array(bytes.length + 700_000);
  out.set(bytes.subarray(0, bytes.length - 8 - footerSize));
  out.set(bytes.subarray(bytes.length - 8 - footerSize), out.length - 8 - footerSize);
  return out;
}

describe('tombstones', () => {
  it('are the newest removes of files that are not live, before a checkpoint and after', async () => {
    const { store, ctx } = await table(3);
    const now = ctx.clock.now();
    await putCommit(store, 4, [
      remove('f1', { deletionTimestamp: now - 2 }),
      remove('f2', { deletionTimestamp: now - 1 }),
    ]);
    await putCommit(store, 5, [add('f1')]);
    await putCommit(store, 6, [remove('f3', { deletionTimestamp: now })]);
    const tombstones = async (state: State): Promise<string[]> =>
      (await state.tombstones())
        .map(({ path, deletionTimestamp }) => `${path} ${(deletionTimestamp ?? 0) - now}`)
        .sort();
    const state = await loadState(store, ctx);
    expect(await tombstones(state)).toEqual(['f2 -1', 'f3 0']);
    await writeCheckpoint(store, ctx, await loadState(store, ctx, { version: 5 }));
    expect(await tombstones(await loadState(store, ctx))).toEqual(['f2 -1', 'f3 0']);
    await putCommit(store, 7, [add('f2'), remove('f1', { deletionTimestamp: now + 1 })]);
    expect(await tombstones(await loadState(store, ctx))).toEqual(['f1 1', 'f3 0']);
  });
});
