import { describe, expect, test } from 'vitest';
import { createTable, openTable } from '../../src/index.js';
import { localPlace, opened, places } from '../support/places.js';
import { runProcess } from '../support/processes.js';

describe.each(await places())('services on %s', (_, open) => {
  const here = opened(open);

  test.skipIf(!open)('100 appends at once are at most 10 commits with 100 results', async () => {
    const { place, runtime } = here;
    const table = await createTable(place.url('together'), { schema: 'id long', runtime });
    const results = await Promise.all(
      Array.from({ length: 100 }, (_, id) =>
        table.append([{ id }], { txn: { appId: `caller-${id}`, version: 1 } }),
      ),
    );
    expect(results.every(({ status, added }) => status === 'committed' && added.rows === 1)).toBe(true);
    expect(new Set(results.map(({ version }) => version)).size).toBeLessThanOrEqual(10);
    expect((await table.snapshot()).version).toBeLessThanOrEqual(10);
    const ids = (await table.scan().toArray()).map(({ id }) => Number(id)).sort((a, b) => a - b);
    expect(ids).toEqual(Array.from({ length: 100 }, (_, i) => i));
    const again = await table.append([{ id: 7 }], { txn: { appId: 'caller-7', version: 1 } });
    expect(again.status).toBe('skipped');
  });

  test.skipIf(!open)('a runtime that is closed commits what it holds, and the process ends', async () => {
    const { place, runtime } = here;
    const url = place.url('closing');
    await createTable(url, { schema: 'id long', runtime });
    const said = await runProcess<Record<string, unknown>>('shutdown-process.js', { url, s3: place.s3 });
    expect(said.filter(({ row }) => row !== undefined).map(({ row }) => row)).toEqual(
      Array.from({ length: 10 }, (_, i) => i + 1),
    );
    expect(said.filter(({ append }) => append === 'committed')).toHaveLength(3);
    expect(said.at(-1)).toEqual({ refused: 'CLOSED' });
    const table = await openTable(url, { runtime });
    const ids = (await table.scan().toArray()).map(({ id }) => Number(id)).sort((a, b) => a - b);
    expect(ids).toEqual(Array.from({ length: 14 }, (_, i) => i));
  });
});

describe('a service that runs for long', () => {
  const here = opened(localPlace);

  test('takes no more memory the more it has committed, read and followed', async () => {
    const { place, runtime } = here;
    const url = place.url('flat');
    await createTable(url, {
      schema: 'id long',
      properties: { 'delta.deletedFileRetentionDuration': 'interval 0 seconds' },
      runtime,
    });
    const commits = Number(process.env.FLAT_COMMITS ?? 400);
    const used = await runProcess<number>('flat-process.js', { url, commits }, ['--expose-gc']);
    // What requests under way hold comes and goes: the least of several looks is what stays.
    const quarter = used.length / 4;
    const early = Math.min(...used.slice(quarter, 2 * quarter));
    const late = Math.min(...used.slice(3 * quarter));
    // A kilobyte a commit of the log, which a state drops only when it has grown long, and what the engine learns of the code while it is young.
    expect(late - early).toBeLessThan(1_024 + commits / 2);
  });
});
