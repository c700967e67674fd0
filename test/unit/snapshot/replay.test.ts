import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Action, AddAction, DeletionVector } from '../../../src/log/actions.js';
import { writeCheckpoint } from '../../../src/log/checkpoint.js';
import { commitPath } from '../../../src/log/paths.js';
import { applyCommit, firstState } from '../../../src/snapshot/apply.js';
import { loadState } from '../../../src/snapshot/load.js';
import type { State } from '../../../src/snapshot/state.js';
import { vectorId } from '../../../src/snapshot/vector-id.js';
import { MemoryStore } from '../../../src/store/memory.js';
import { fakeContext } from '../../support/fake-context.js';
import { add, metadata, PROTOCOL, putCommit, remove } from '../../support/log-table.js';

const vector = (name: string): DeletionVector => ({
  storageType: 'u',
  pathOrInlineDv: name,
  offset: 1,
  sizeInBytes: 4,
  cardinality: 1,
});
const paths = (state: State): string[] => Array.from(state.files.ids(), (id) => state.files.path(id)).sort();

async function tableOf(
  ...commits: (readonly Action[] | string)[]
): Promise<{ store: MemoryStore; ctx: ReturnType<typeof fakeContext>; state: State }> {
  const ctx = fakeContext();
  const store = new MemoryStore(ctx);
  for (const [version, actions] of commits.entries()) await putCommit(store, version, actions);
  return { store, ctx, state: await loadState(store, ctx) };
}

const FIRST: readonly Action[] = [PROTOCOL, { metaData: metadata() }];

describe('replay', () => {
  it('keeps a file whose deletion vector one commit adds before it removes the file without', async () => {
    const { state } = await tableOf(
      [...FIRST, add('f')],
      [add('f', { deletionVector: vector('dv1') }), remove('f')],
    );
    expect(paths(state)).toEqual(['f']);
    const [id] = state.files.ids();
    expect(state.files.hasDeletionVector(id as number)).toBe(true);
    expect(state.files.find('f', 'udv1@1')).toBe(id);
    expect(state.files.find('f', undefined)).toBe(-1);
  });

  it('takes a remove with another deletion vector for another file', async () => {
    const { state } = await tableOf([...FIRST, add('f', { deletionVector: vector('dv1') })], [remove('f')]);
    expect(state.files.count).toBe(1);
  });

  it.each([
    ['remove first', [remove('f'), add('f', { size: 7 })]],
    ['add first', [add('f', { size: 7 }), remove('f')]],
  ])('lets the add win over the remove of the same file in one commit, %s', async (_, actions) => {
    const { state } = await tableOf([...FIRST, add('f')], actions);
    expect(state.files.count).toBe(1);
    expect(state.files.totalSize()).toBe(7);
  });

  it('replaces what an add says of a file that is there already', async () => {
    const { state } = await tableOf([...FIRST, add('f')], [add('f', { stats: '{"numRecords":3}' })]);
    await state.files.load({ statistics: true, actions: true });
    const [id] = state.files.ids();
    expect(state.files.count).toBe(1);
    expect(state.files.numRecords(id as number)).toBe(3);
  });

  it('reads lines with blanks, escapes, other members and CRLF like any others', async () => {
    const lines = [
      '{"protocol":{"minReaderVersion":1,"minWriterVersion":2}}',
      JSON.stringify({ metaData: metadata({ partitionColumns: ['p'] }) }),
      '{ "add" : { "path" : "a" , "partitionValues" : { "p" : "x" } , "size" : 1 , "modificationTime" : 2 , "dataChange" : true } }',
      '{"add":{"path":"b\\u0020\\"\\/c","partitionValues":{"p":"\\u00e9"},"size":1,"modificationTime":2,"dataChange":true}}',
      '{"add":{"path":"d","partitionValues":{"p":null},"size":1,"modificationTime":2,"dataChange":true,"odd":{"x":["}","\\"",{}]}}}',
      '{"add":{"path":"e","partitionValues":{"p":5},"size":1,"modificationTime":2,"dataChange":true}}',
      '',
    ];
    const { state } = await tableOf(`\ufeff${lines.join('\r\n')}`);
    expect(paths(state)).toEqual(['a', 'b "/c', 'd', 'e']);
    const column = state.files.partition('p');
    const values = Array.from(state.files.ids(), (id) => [
      state.files.path(id),
      column?.values[column.codes[id] ?? -1],
    ]);
    expect(Object.fromEntries(values)).toEqual({ a: 'x', 'b "/c': 'é', d: null, e: '5' });
    await state.files.load({ actions: true });
    const odd = Array.from(state.files.ids(), (id) => state.files.add(id)).find(({ path }) => path === 'd');
    expect((odd as unknown as Record<string, unknown>).odd).toEqual({ x: ['}', '"', {}] });
  });

  it('keeps files apart whose paths differ in encoding alone', async () => {
    const { state } = await tableOf([...FIRST, add('a%20b'), add('a%2520b'), add('a b')], [remove('a%20b')]);
    expect(paths(state)).toEqual(['a b', 'a%2520b']);
  });

  it.each([
    ['an empty file', ''],
    ['half a line', '{"add":{"path":"x","partitionValues":{},"si'],
    ['a line that is no object', '17\n'],
    [
      'a size that is no number',
      '{"add":{"path":"x","partitionValues":{},"size":"big","modificationTime":1,"dataChange":true}}',
    ],
    [
      'a size beyond 2^53',
      '{"add":{"path":"x","partitionValues":{},"size":99999999999999999999,"modificationTime":1,"dataChange":true}}',
    ],
  ])('names the version and the file of a commit that is %s', async (_, text) => {
    await expect(tableOf([...FIRST, add('f')], text)).rejects.toMatchObject({
      code: 'CORRUPT_LOG',
      context: { version: 1, file: commitPath(1) },
    });
  });

  it('refuses a path that no object can have', async () => {
    await expect(tableOf([...FIRST, add('x'.repeat(70_000))])).rejects.toMatchObject({
      code: 'LIMIT_EXCEEDED',
    });
  });

  it('reads columns called __proto__ and constructor', async () => {
    const text = [
      JSON.stringify(PROTOCOL),
      JSON.stringify({ metaData: metadata({ partitionColumns: ['constructor'] }) }),
      '{"add":{"path":"f","partitionValues":{"__proto__":"a","constructor":"b"},"size":1,"modificationTime":2,"dataChange":true,"stats":"{\\"numRecords\\":1,\\"minValues\\":{\\"__proto__\\":5}}"}}',
    ].join('\n');
    const { state } = await tableOf(text);
    const column = state.files.partition('constructor');
    expect(column?.values[column.codes[0] as number]).toBe('b');
    expect(state.files.statistics(['__proto__']).min(0)).toBe('5');
  });

  it('wants a load before actions and statistics of a checkpoint', async () => {
    const { store, ctx, state } = await tableOf([...FIRST, add('f', { stats: '{"numRecords":3}' })]);
    await writeCheckpoint(store, ctx, state);
    const again = await loadState(store, ctx);
    expect(() => again.files.add(0)).toThrow(/load/);
    expect(() => again.files.numRecords(0)).toThrow(/load/);
    await again.files.load({ statistics: true });
    expect(again.files.numRecords(0)).toBe(3);
    await again.files.load({ actions: true });
    expect(again.files.add(0).path).toBe('f');
  });

  it('derives two successors from one state without mixing them', () => {
    const base = firstState(0, [...FIRST, add('f')]);
    const left = applyCommit(base, 1, 1, [add('left'), remove('f')]);
    const right = applyCommit(base, 1, 1, [add('right')]);
    expect(paths(base)).toEqual(['f']);
    expect(paths(left)).toEqual(['left']);
    expect(paths(right)).toEqual(['f', 'right']);
    expect(left.files.find('right', undefined)).toBe(-1);
    expect(right.files.find('f', undefined)).toBeGreaterThanOrEqual(0);
  });

  it('stays small while files come and go', () => {
    let state = firstState(0, [...FIRST, add('f0')]);
    for (let version = 1; version <= 12_000; version++)
      state = applyCommit(state, version, version, [add(`f${version}`), remove(`f${version - 1}`)]);
    expect(paths(state)).toEqual(['f12000']);
    expect(state.files.capacity).toBeLessThan(10_000);
  });
});

interface Step {
  readonly path: number;
  readonly vector: number;
  readonly kind: 'add' | 'remove';
}

const steps = fc.array(
  fc.uniqueArray(
    fc.record({
      path: fc.nat(6),
      vector: fc.nat(2),
      kind: fc.constantFrom('add' as const, 'remove' as const),
    }),
    {
      maxLength: 6,
      selector: ({ path, vector: dv }) => `${path} ${dv}`,
    },
  ),
  { minLength: 1, maxLength: 8 },
);

function actionsOf(commit: readonly Step[], version: number): Action[] {
  return commit.map(({ path, vector: dv, kind }) => {
    const name = `p=${path % 3}/f"${path}é`;
    const deletionVector = dv === 0 ? undefined : vector(`v${dv}`);
    const partitionValues = { p: path % 3 === 0 ? null : String(path % 3) };
    if (kind === 'remove') return remove(name, { deletionVector });
    return add(name, {
      deletionVector,
      partitionValues,
      size: version * 10 + path,
      stats: `{"numRecords":${version},"minValues":{"id":${path}},"nullCount":{"id":1}}`,
    });
  });
}

function model(commits: readonly (readonly Action[])[]): Map<string, AddAction> {
  const live = new Map<string, AddAction>();
  for (const commit of commits) {
    for (const action of commit)
      if ('remove' in action) live.delete(`${action.remove.path} ${vectorId(action.remove.deletionVector)}`);
    for (const action of commit)
      if ('add' in action) live.set(`${action.add.path} ${vectorId(action.add.deletionVector)}`, action.add);
  }
  return live;
}

async function expectModel(state: State, expected: ReadonlyMap<string, AddAction>): Promise<void> {
  await state.files.load({ actions: true });
  const found = new Map<
    string,
    [number, number | undefined, string | undefined, string | null | undefined]
  >();
  const column = state.files.partition('p');
  const statistics = state.files.statistics(['id']);
  let size = 0;
  for (const id of state.files.ids()) {
    const { path, deletionVector } = state.files.add(id);
    const key = `${path} ${vectorId(deletionVector)}`;
    expect(state.files.find(path, vectorId(deletionVector))).toBe(id);
    expect(state.files.hasDeletionVector(id)).toBe(Boolean(deletionVector));
    found.set(key, [
      state.files.size(id),
      state.files.numRecords(id),
      statistics.min(id),
      column?.values[column.codes[id] ?? 0],
    ]);
    expect(statistics.max(id)).toBeUndefined();
    expect(statistics.nullCount(id)).toBe(1);
    size += state.files.size(id);
  }
  expect(state.files.count).toBe(found.size);
  expect(state.files.totalSize()).toBe(size);
  const wanted = [...expected].map(([key, file]) => {
    const stats = JSON.parse(file.stats ?? '{}') as { numRecords: number; minValues: { id: number } };
    return [key, [file.size, stats.numRecords, String(stats.minValues.id), file.partitionValues.p]] as const;
  });
  expect(found).toEqual(new Map(wanted));
}

describe('states agree with a plain replay, however they came to be', () => {
  it('by commits, by a checkpoint, by both, and by one commit after another', async () => {
    await fc.assert(
      fc.asyncProperty(steps, fc.nat(8), async (history, at) => {
        const ctx = fakeContext();
        const store = new MemoryStore(ctx);
        const first = [PROTOCOL, { metaData: metadata({ partitionColumns: ['p'] }) }];
        const commits: Action[][] = [
          first,
          ...history.map((commit, index) => actionsOf(commit, index + 1)),
        ].map((commit) => [...commit, { commitInfo: {} }]);
        let applied = firstState(0, commits[0] as Action[]);
        let followed: State | undefined;
        for (const [version, actions] of commits.entries()) {
          await putCommit(store, version, actions);
          if (version > 0) applied = applyCommit(applied, version, version, actions);
          followed = await loadState(store, ctx, { previous: followed });
          if (version === at) await writeCheckpoint(store, ctx, version % 2 === 0 ? applied : followed);
        }
        const expected = model(commits);
        await expectModel(applied, expected);
        await expectModel(followed as State, expected);
        await expectModel(await loadState(store, ctx), expected);
        const last = commits.length - 1;
        await writeCheckpoint(store, ctx, await loadState(store, ctx));
        for (let version = 0; version < last; version++) await store.delete(commitPath(version));
        await expectModel(await loadState(store, ctx), expected);
        await expectModel(await loadState(store, ctx, { previous: applied }), expected);
      }),
      { numRuns: 60 },
    );
  });
});
