import * as arrow from 'apache-arrow';
import { describe, expect, it } from 'vitest';
import type { Action, AddAction } from '../../../src/log/actions.js';
import { shouldCheckpoint, writeCheckpoint } from '../../../src/log/checkpoint.js';
import { parseLastCheckpoint } from '../../../src/log/last-checkpoint.js';
import { classicCheckpointKey, commitPath, LAST_CHECKPOINT_KEY } from '../../../src/log/paths.js';
import { bytesSource, readFooter } from '../../../src/parquet/flat/read.js';
import { loadParquetWasm } from '../../../src/parquet/wasm.js';
import { loadState } from '../../../src/snapshot/load.js';
import type { State } from '../../../src/snapshot/state.js';
import { MemoryStore } from '../../../src/store/memory.js';
import { FakeClock, fakeContext } from '../../support/fake-context.js';
import { add, metadata, PROTOCOL, putCommit, remove } from '../../support/log-table.js';

const DAY = 86_400_000;

/** The state that a checkpoint of the newest version alone gives: every commit is gone. */
async function throughCheckpoint(store: MemoryStore, ctx: ReturnType<typeof fakeContext>): Promise<State> {
  const state = await loadState(store, ctx);
  await writeCheckpoint(store, ctx, state);
  for (let version = 0; version <= state.version; version++) await store.delete(commitPath(version));
  const again = await loadState(store, ctx);
  await again.files.load({ actions: true });
  return again;
}

async function tableOf(
  ...commits: (readonly Action[])[]
): Promise<{ store: MemoryStore; ctx: ReturnType<typeof fakeContext> }> {
  const ctx = fakeContext();
  const store = new MemoryStore(ctx);
  for (const [version, actions] of commits.entries()) await putCommit(store, version, actions);
  return { store, ctx };
}

function addsOf(state: State): AddAction[] {
  return Array.from(state.files.ids(), (id) => state.files.add(id));
}

describe('a checkpoint', () => {
  it('is asked for every so many versions, but never of version 0', () => {
    expect([0, 1, 9, 10, 11, 20].filter((version) => shouldCheckpoint(version, 10))).toEqual([10, 20]);
    expect(shouldCheckpoint(1, 1)).toBe(true);
  });

  it('holds all that the log says of the version', async () => {
    const full: AddAction = {
      path: 'p=a%2Fb/f%20"é.parquet',
      partitionValues: { p: 'a/b' },
      size: 2 ** 40,
      modificationTime: 1_700_000_000_123,
      dataChange: false,
      stats:
        '{"numRecords":5,"minValues":{"id":9007199254740993},"maxValues":{"id":9223372036854775807},"nullCount":{"id":0},"tightBounds":false}',
      tags: { run: 'x', empty: '', none: null },
      deletionVector: {
        storageType: 'u',
        pathOrInlineDv: 'ab^-aqEH.-t@S}K{vb[*k^',
        offset: 4,
        sizeInBytes: 40,
        cardinality: 6,
      },
      baseRowId: 9007199254740993n,
      defaultRowCommitVersion: 4,
      clusteringProvider: 'liquid',
    };
    const domain = { domain: 'd', configuration: '{"a":1}', removed: false };
    const meta = metadata({
      partitionColumns: ['p'],
      name: 'n',
      description: 'd',
      configuration: { 'delta.x': '1' },
      createdTime: 5,
    });
    const protocol = {
      minReaderVersion: 3,
      minWriterVersion: 7,
      readerFeatures: ['deletionVectors'],
      writerFeatures: ['deletionVectors', 'domainMetadata'],
    };
    const { store, ctx } = await tableOf(
      [
        { protocol },
        { metaData: meta },
        { domainMetadata: domain },
        { txn: { appId: 'a', version: 9007199254740993n, lastUpdated: 3 } },
        { txn: { appId: 'b', version: 1 } },
      ],
      [{ add: full }, add('plain', { partitionValues: { p: null }, dataChange: false })],
    );
    const state = await throughCheckpoint(store, ctx);
    expect(state.version).toBe(1);
    expect(state.protocol).toEqual(protocol);
    expect(state.metadata).toEqual(meta);
    expect([...state.txns.values()]).toEqual([
      { appId: 'a', version: 9007199254740993n, lastUpdated: 3 },
      { appId: 'b', version: 1 },
    ]);
    expect([...state.domains.values()]).toEqual([domain]);
    expect(addsOf(state)).toEqual([
      full,
      {
        path: 'plain',
        partitionValues: { p: null },
        size: 100,
        modificationTime: 1_700_000_000_000,
        dataChange: false,
      },
    ]);
  });

  it('leaves out removes whose retention is over, and transactions where the table lets them expire', async () => {
    const clock = new FakeClock();
    const configuration = {
      'delta.deletedFileRetentionDuration': 'interval 2 days',
      'delta.setTransactionRetentionDuration': 'interval 1 days',
    };
    const { store } = await tableOf(
      [PROTOCOL, { metaData: metadata({ configuration }) }, add('old'), add('young'), add('stays')],
      [
        remove('old', { deletionTimestamp: clock.now() - 3 * DAY }),
        remove('young', { deletionTimestamp: clock.now() - DAY }),
      ],
      [
        { txn: { appId: 'old', version: 1, lastUpdated: clock.now() - 2 * DAY } },
        { txn: { appId: 'young', version: 1, lastUpdated: clock.now() } },
        { txn: { appId: 'never', version: 1 } },
      ],
    );
    const state = await throughCheckpoint(store, fakeContext(clock));
    expect((await state.tombstones()).map(({ path }) => path)).toEqual(['young']);
    expect([...state.txns.keys()]).toEqual(['young']);
  });

  it('writes the hint, and does not move it back', async () => {
    const { store, ctx } = await tableOf(
      [PROTOCOL, { metaData: metadata() }],
      [add('f'), add('g')],
      [remove('f')],
    );
    const hint = async () => parseLastCheckpoint(await store.get(LAST_CHECKPOINT_KEY));
    const { bytes } = await writeCheckpoint(store, ctx, await loadState(store, ctx, { version: 1 }));
    expect(await hint()).toMatchObject({ version: 1, size: 4, numOfAddFiles: 2, sizeInBytes: bytes });
    await writeCheckpoint(store, ctx, await loadState(store, ctx));
    await writeCheckpoint(store, ctx, await loadState(store, ctx, { version: 1 }));
    expect(await hint()).toMatchObject({ version: 2 });
  });

  it('of a table without files can be read', async () => {
    const { store, ctx } = await tableOf([PROTOCOL, { metaData: metadata() }]);
    const state = await throughCheckpoint(store, ctx);
    expect(state.files.count).toBe(0);
  });

  it('has statistics as the table asks, and they mean the same', async () => {
    const field = (name: string, type: unknown) => ({ name, type, nullable: true, metadata: {} });
    const schemaString = JSON.stringify({
      type: 'struct',
      fields: [
        field('l', 'long'),
        field('i', 'integer'),
        field('b', 'byte'),
        field('f', 'float'),
        field('x', 'double'),
        field('s', 'string'),
        field('d', 'date'),
        field('t', 'timestamp'),
        field('n', 'timestamp_ntz'),
        field('small', 'decimal(5,2)'),
        field('wide', 'decimal(38,4)'),
        field('ok', 'boolean'),
        field('nested', { type: 'struct', fields: [field('y', 'long')] }),
        field('p', 'date'),
      ],
    });
    const minValues = {
      l: 9007199254740991,
      i: -5,
      b: 7,
      f: 0.1,
      x: 1.5,
      s: 'ä"',
      d: '1969-12-31',
      t: '1969-12-31T23:59:59.999Z',
      n: '2024-01-01T00:00:00.000',
      small: -123.45,
      wide: 1234567890,
      nested: { y: 3 },
    };
    const stats = JSON.stringify({
      numRecords: 3,
      minValues,
      maxValues: minValues,
      nullCount: { l: 1, ok: 2, nested: { y: 0 } },
      tightBounds: false,
    });
    const columns = [
      ['l'],
      ['i'],
      ['b'],
      ['f'],
      ['x'],
      ['s'],
      ['d'],
      ['t'],
      ['n'],
      ['small'],
      ['wide'],
      ['ok'],
      ['nested', 'y'],
    ];
    const read = async (
      configuration: Record<string, string>,
    ): Promise<{ found: unknown[]; leaves: string[]; adds: AddAction[] }> => {
      const { store, ctx } = await tableOf(
        [PROTOCOL, { metaData: metadata({ schemaString, partitionColumns: ['p'], configuration }) }],
        [
          add('f', { stats, partitionValues: { p: '2024-02-29' } }),
          add('bare', { partitionValues: { p: null } }),
        ],
      );
      const { files } = await throughCheckpoint(store, ctx);
      const footer = await readFooter(bytesSource(await store.get(classicCheckpointKey(1))));
      const found = columns.map((path) => {
        const column = files.statistics(path);
        const value = (token: string | undefined) =>
          token === undefined
            ? undefined
            : token
                .replace(/0+(Z?")$/, '$1')
                .replace(/\.(Z?")$/, '$1')
                .replace(/(\.\d*?)0+$/, '$1')
                .replace(/\.$/, '');
        return [...files.ids()].map((id) => [
          path.join('.'),
          value(column.min(id)),
          value(column.max(id)),
          column.nullCount(id),
          files.numRecords(id),
        ]);
      });
      return {
        found,
        leaves: footer.leaves.map((leaf) => leaf.path.join('.')),
        adds: addsOf({ files } as State),
      };
    };
    const json = await read({});
    const struct = await read({
      'delta.checkpoint.writeStatsAsStruct': 'true',
      'delta.checkpoint.writeStatsAsJson': 'false',
    });
    const both = await read({ 'delta.checkpoint.writeStatsAsStruct': 'true' });
    const none = await read({ 'delta.checkpoint.writeStatsAsJson': 'false' });
    expect(struct.found).toEqual(json.found);
    expect(both.found).toEqual(json.found);
    expect(JSON.parse(struct.adds[0]?.stats ?? '')).toMatchObject({
      numRecords: 3,
      tightBounds: false,
      nullCount: { ok: 2 },
    });
    expect(struct.adds[1]?.stats).toBeUndefined();
    expect(none.adds[0]?.stats).toBeUndefined();
    expect(struct.leaves).toContain('add.partitionValues_parsed.p');
    expect(struct.leaves).not.toContain('add.stats');
    expect(json.leaves.some((name) => name.includes('parsed'))).toBe(false);
  });

  it('with a codec that is not known here is read by the general engine', async () => {
    const { store, ctx } = await tableOf(
      [PROTOCOL, { metaData: metadata({ partitionColumns: ['p'] }) }],
      [add('f', { partitionValues: { p: 'x' }, stats: '{"numRecords":4}', tags: { a: 'b' } })],
    );
    await writeCheckpoint(store, ctx, await loadState(store, ctx));
    const key = classicCheckpointKey(1);
    const engine = await loadParquetWasm();
    const table = engine.readParquet(await store.get(key));
    await store.put(
      key,
      engine.writeParquet(
        table,
        new engine.WriterPropertiesBuilder().setCompression(engine.Compression.BROTLI).build(),
      ),
    );
    await store.delete(commitPath(0));
    await store.delete(commitPath(1));
    const state = await loadState(store, ctx);
    await state.files.load({ actions: true });
    expect(addsOf(state)).toMatchObject([
      { path: 'f', partitionValues: { p: 'x' }, stats: '{"numRecords":4}', tags: { a: 'b' } },
    ]);
    expect(state.files.numRecords(0)).toBe(4);
  });

  it('is one that the general engine reads', async () => {
    const { store, ctx } = await tableOf(
      [PROTOCOL, { metaData: metadata({ partitionColumns: ['p'] }) }],
      [add('f', { partitionValues: { p: 'x' } }), add('g', { partitionValues: { p: null } })],
    );
    await writeCheckpoint(store, ctx, await loadState(store, ctx));
    const engine = await loadParquetWasm();
    const rows = arrow.tableFromIPC(
      engine.readParquet(await store.get(classicCheckpointKey(1))).intoIPCStream(),
    );
    const adds = rows.toArray().flatMap((row) => (row?.add ? [row.add.path] : []));
    expect(adds).toEqual(['f', 'g']);
  });
});
