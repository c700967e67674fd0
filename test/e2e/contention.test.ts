import { describe, expect, test } from 'vitest';
import { createRuntime, createTable, openTable } from '../../src/index.js';
import { localPlace, opened, places } from '../support/places.js';
import { runProcess } from '../support/processes.js';

describe.each(await places())('on %s', (_, open) => {
  const here = opened(open);

  test.skipIf(!open)('8 processes append 25 times each: 200 commits in a row, every row once', async () => {
    const { place, runtime } = here;
    const url = place.url('appends');
    await createTable(url, { schema: 'id long, p string', runtime });
    const writers = Array.from({ length: 8 }, (_, writer) =>
      runProcess<{ status: string; version: number }>('writer-process.js', {
        url,
        mode: 'append',
        writer,
        count: 25,
        s3: place.s3,
      }),
    );
    const results = (await Promise.all(writers)).flat();
    expect(results.every(({ status }) => status === 'committed')).toBe(true);
    expect(results.map(({ version }) => version).sort((a, b) => a - b)).toEqual(
      Array.from({ length: 200 }, (_, i) => i + 1),
    );
    const table = await openTable(url, { runtime });
    const rows = await table.scan().toArray();
    expect(rows.map(({ id }) => Number(id)).sort((a, b) => a - b)).toEqual(
      Array.from({ length: 200 }, (_, i) => Math.floor(i / 25) * 1000 + (i % 25)),
    );
  });

  test.skipIf(!open)('writers that replace one partition at once leave the rows of one of them', async () => {
    const { place, runtime } = here;
    const url = place.url('same-partition');
    const table = await createTable(url, {
      schema: 'id long, p string',
      partitionBy: ['p'],
      rows: [
        { id: 1n, p: 'a' },
        { id: 2n, p: 'a' },
        { id: 3n, p: 'b' },
      ],
      runtime,
    });
    const runtimes = Array.from({ length: 4 }, () => createRuntime({ s3: place.s3, workers: 1 }));
    const staged = await Promise.all(
      runtimes.map(async (own, writer) => {
        const mine = await openTable(url, { runtime: own });
        return mine.stage(
          Array.from({ length: writer + 2 }, () => ({ id: BigInt(100 + writer), p: 'a' })),
          'overwritePartitions',
        );
      }),
    );
    const results = await Promise.all(staged.map((write) => write.commit()));
    expect(new Set(results.map(({ version }) => version))).toEqual(new Set([1, 2, 3, 4]));
    const last = results.findIndex(({ version }) => version === 4);
    const rows = await table.scan({ where: "p = 'a'" }).toArray();
    expect(rows.map(({ id }) => id)).toEqual(Array.from({ length: last + 2 }, () => BigInt(100 + last)));
    expect(await table.count({ where: "p = 'b'" })).toBe(1);
    await Promise.all(runtimes.map((own) => own.close()));
  });

  test.skipIf(!open).each([
    ['day date', 'overwritePartitions'],
    ['day timestamp', 'overwritePartitions'],
    ['day date', 'overwrite'],
    ['day timestamp', 'overwrite'],
  ] as const)(
    '30 writers replace 30 days at once, %s by %s: 30 commits, none fails',
    async (column, verb) => {
      const { place, runtime } = here;
      const url = place.url(`days-${column.slice(4)}-${verb}`);
      const days = Array.from({ length: 30 }, (_, i) => {
        const day = `2024-01-${String(i + 1).padStart(2, '0')}`;
        return column === 'day date' ? day : `${day}T00:00:00Z`;
      });
      const table = await createTable(url, {
        schema: `id long, ${column}`,
        partitionBy: ['day'],
        rows: days.map((day) => ({ id: 0n, day })),
        runtime,
      });
      const runtimes = days.map(() => createRuntime({ s3: place.s3, workers: 1 }));
      const tables = await Promise.all(runtimes.map((own) => openTable(url, { runtime: own })));
      const staged = await Promise.all(
        tables.map((own, i) => {
          const rows = [{ id: BigInt(i + 1), day: days[i]! }];
          return verb === 'overwrite'
            ? own.stage(rows, { verb, where: `day = ${column.slice(4)} '${days[i]}'` })
            : own.stage(rows, verb);
        }),
      );
      const results = await Promise.all(staged.map((write) => write.commit()));
      expect(results.map(({ version }) => version).sort((a, b) => a - b)).toEqual(
        Array.from({ length: 30 }, (_, i) => i + 1),
      );
      const rows = await table.scan().toArray();
      expect(rows.map(({ id }) => Number(id)).sort((a, b) => a - b)).toEqual(
        Array.from({ length: 30 }, (_, i) => i + 1),
      );
      await Promise.all(runtimes.map((own) => own.close()));
    },
  );
});

test('16 writers append 50 times each: 800 commits in a row, every row once', async () => {
  const place = await localPlace();
  const url = place.url('many');
  const runtimes = Array.from({ length: 16 }, () => createRuntime({ workers: 1, fsync: false }));
  const table = await createTable(url, { schema: 'id long', runtime: runtimes[0] });
  const versions = await Promise.all(
    runtimes.map(async (own, writer) => {
      const mine = await openTable(url, { runtime: own });
      const found: number[] = [];
      for (let i = 0; i < 50; i++) found.push((await mine.append([{ id: writer * 50 + i }])).version);
      return found;
    }),
  );
  const upTo = (first: number, last: number) => Array.from({ length: last - first + 1 }, (_, i) => first + i);
  expect(versions.flat().sort((a, b) => a - b)).toEqual(upTo(1, 800));
  const rows = await table.scan().toArray();
  expect(rows.map(({ id }) => Number(id)).sort((a, b) => a - b)).toEqual(upTo(0, 799));
  await Promise.all(runtimes.map((own) => own.close()));
  await place.stop();
});
