import { describe, expect, it } from 'vitest';
import { writeCheckpoint } from '../../../src/log/checkpoint.js';
import { commitPath } from '../../../src/log/paths.js';
import { loadState } from '../../../src/snapshot/load.js';
import { MemoryStore } from '../../../src/store/memory.js';
import { fakeContext } from '../../support/fake-context.js';
import { add, metadata, PROTOCOL, putCommit, remove } from '../../support/log-table.js';

const FILES = 280_000;
const day = (i: number): string => `2024-01-${String((i % 30) + 1).padStart(2, '0')}`;

describe('a table of many files', () => {
  it('is the same through commits, a checkpoint of several row groups, and commits after it', async () => {
    const ctx = fakeContext();
    const store = new MemoryStore(ctx);
    await putCommit(store, 0, [PROTOCOL, { metaData: metadata({ partitionColumns: ['p'] }) }]);
    const lines: string[] = [];
    for (let i = 0; i < FILES; i++) {
      const stats = `{\\"numRecords\\":${i},\\"minValues\\":{\\"id\\":${i * 10}},\\"maxValues\\":{\\"id\\":${i * 10 + 9}},\\"nullCount\\":{\\"id\\":0}}`;
      lines.push(
        `{"add":{"path":"p=${day(i)}/f${i}.parquet","partitionValues":{"p":"${day(i)}"},"size":${i},"modificationTime":${1_700_000_000_000 + i},"dataChange":true,"stats":"${stats}"}}`,
      );
    }
    await store.put(commitPath(1), Buffer.from(lines.join('\n')));
    const fromCommits = await loadState(store, ctx);
    await writeCheckpoint(store, ctx, fromCommits);
    await store.delete(commitPath(0));
    await store.delete(commitPath(1));
    const fromCheckpoint = await loadState(store, ctx);
    await fromCheckpoint.files.load({ statistics: true, actions: true });
    const gone = [3, 270_000].map((i) => `p=${day(i)}/f${i}.parquet`);
    await putCommit(store, 2, [
      ...gone.map((path) => remove(path)),
      add('new', { partitionValues: { p: day(3) }, size: 1 }),
    ]);
    const after = await loadState(store, ctx, { previous: fromCheckpoint });
    const anew = await loadState(store, ctx);
    await anew.files.load({ statistics: true, actions: true });
    const total = (FILES * (FILES - 1)) / 2;
    for (const state of [fromCommits, fromCheckpoint]) {
      const { files } = state;
      expect([files.count, files.totalSize()]).toEqual([FILES, total]);
      const column = files.partition('p');
      const statistics = files.statistics(['id']);
      for (let id = 0; id < FILES; id += 9973) {
        const found = files.find(`p=${day(id)}/f${id}.parquet`, undefined);
        expect(files.size(found)).toBe(id);
        expect(files.modificationTime(found)).toBe(1_700_000_000_000 + id);
        expect(column?.values[column.codes[found] ?? -1]).toBe(day(id));
        expect([
          statistics.min(found),
          statistics.max(found),
          statistics.nullCount(found),
          files.numRecords(found),
        ]).toEqual([String(id * 10), String(id * 10 + 9), 0, id]);
        expect(files.add(found)).toMatchObject({ path: files.path(found), partitionValues: { p: day(id) } });
      }
    }
    for (const { files } of [after, anew]) {
      expect([files.count, files.totalSize()]).toEqual([FILES - 1, total - 3 - 270_000 + 1]);
      for (const path of gone) expect(files.find(path, undefined)).toBe(-1);
      expect(files.path(files.find('new', undefined))).toBe('new');
    }
  });

  it('has as many transactions as were recorded, however many', async () => {
    const ctx = fakeContext();
    const store = new MemoryStore(ctx);
    const count = 150_000;
    const lines = Array.from(
      { length: count },
      (_, i) => `{"txn":{"appId":"interval-${i}","version":${(i % 3) + 1},"lastUpdated":${i}}}`,
    );
    await putCommit(store, 0, [PROTOCOL, { metaData: metadata() }]);
    await store.put(commitPath(1), Buffer.from(lines.join('\n')));
    const fromCommits = await loadState(store, ctx);
    await writeCheckpoint(store, ctx, fromCommits);
    await store.delete(commitPath(0));
    await store.delete(commitPath(1));
    const fromCheckpoint = await loadState(store, ctx);
    for (const { txns } of [fromCommits, fromCheckpoint]) {
      expect(txns.size).toBe(count);
      expect(txns.get('interval-149999')).toMatchObject({ version: 3, lastUpdated: 149_999 });
    }
  });
});
