import { describe, expect, test } from 'vitest';
import { createTable, openTable } from '../../src/index.js';
import { localPlace, opened } from '../support/places.js';
import { runProcess } from '../support/processes.js';

interface Told {
  readonly peak: number;
  readonly files: number;
  readonly reads: number;
}

const MB = 2 ** 20;
const here = opened(localPlace, { fsync: false });

describe('memory that does not grow with the data', () => {
  test('rows in no order go into 2,000 partitions, two files each at most', async () => {
    const { place, runtime } = here;
    const url = place.url('many');
    const rows = 2_000_000;
    const [told] = await runProcess<Told>('memory-process.js', {
      url,
      job: 'append',
      rows,
      partitions: 2_000,
    });
    expect(told!.peak).toBeLessThan(700 * MB);
    expect(told!.files).toBeLessThanOrEqual(4_000);
    expect(await (await openTable(url, { runtime })).scan().count()).toBe(rows);
  });

  test('a small upsert and the overwrite of a partition keep to that partition, within a small heap', async () => {
    const { place, runtime } = here;
    const url = place.url('few');
    const table = await createTable(url, {
      schema: 'part int, id long, x double',
      partitionBy: ['part'],
      runtime,
    });
    for (let file = 0; file < 5; file++) {
      await table.append(
        Array.from({ length: 60 * 500 }, (_, i) => ({
          part: i % 60,
          id: BigInt(file * 500 + Math.floor(i / 60)),
          x: i,
        })),
      );
    }
    const ran = async (job: string) => {
      const [told] = await runProcess<Told>('memory-process.js', { url, job, rows: 1_000 }, [
        '--max-old-space-size=256',
      ]);
      return told!;
    };
    expect(await ran('mergeNothing')).toMatchObject({ reads: 0, files: 300 });
    const merged = await ran('merge');
    expect(merged.reads).toBeLessThanOrEqual(5);
    expect(merged.peak).toBeLessThan(400 * MB);
    expect(await ran('overwrite')).toMatchObject({ reads: 0, files: 296 });
    expect(await (await openTable(url, { runtime })).scan().count()).toBe(59 * 2_500 + 1);
  });
});
