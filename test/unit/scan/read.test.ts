import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { RecordBatch } from 'apache-arrow';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { canonicalLines } from '../../../src/cli/canonical.js';
import { serializeActions } from '../../../src/log/action-lines.js';
import type { Action } from '../../../src/log/actions.js';
import { encodeParquet } from '../../../src/parquet/encode.js';
import { fileSchema } from '../../../src/parquet/encode-schema.js';
import { type PlanOptions, planScan, type ScanPlan } from '../../../src/scan/plan.js';
import { scanBatches } from '../../../src/scan/read.js';
import { parseDdl } from '../../../src/schema/ddl.js';
import { batchFromRows } from '../../../src/schema/rows-in.js';
import { serializeSchema } from '../../../src/schema/schema-json.js';
import { loadState } from '../../../src/snapshot/load.js';
import { Pool } from '../../../src/stage/pool.js';
import { LocalStore } from '../../../src/store/local.js';
import { MemoryStore } from '../../../src/store/memory.js';
import type { Store } from '../../../src/store/store.js';
import { fakeContext } from '../../support/fake-context.js';

const schema = parseDdl('id long, text string');

/** A table of files with `rows` rows each, ids counting on from file to file. */
async function tableOf(
  files: number,
  rows: number,
  options: { rowGroupRows?: number; textLength?: number; folder?: string } = {},
) {
  const ctx = fakeContext();
  const store: Store = options.folder ? new LocalStore(ctx, options.folder) : new MemoryStore(ctx);
  const actions: Action[] = [
    { protocol: { minReaderVersion: 1, minWriterVersion: 2 } },
    {
      metaData: {
        id: 't',
        format: { provider: 'parquet', options: {} },
        schemaString: serializeSchema(schema),
        partitionColumns: [],
        configuration: {},
      },
    },
  ];
  for (let file = 0; file < files; file++) {
    const first = file * rows;
    const items = Array.from({ length: rows }, (_, i) => ({
      id: BigInt(first + i),
      text: text(first + i, options.textLength ?? 4),
    }));
    const encoded = await encodeParquet([batchFromRows(items, schema)], fileSchema(schema), {
      rowGroupRows: options.rowGroupRows,
      codec: 'none',
    });
    const path = `f${String(file).padStart(3, '0')}`;
    await store.put(path, encoded.bytes);
    const stats = JSON.stringify({
      numRecords: rows,
      minValues: { id: first },
      maxValues: { id: first + rows - 1 },
      nullCount: { id: 0 },
    });
    actions.push({
      add: {
        path,
        partitionValues: {},
        size: encoded.bytes.length,
        modificationTime: 0,
        dataChange: true,
        stats,
      },
    });
  }
  await store.put('_delta_log/00000000000000000000.json', serializeActions(actions));
  const state = await loadState(store, ctx);
  const plan = (planOptions?: PlanOptions) => planScan(state, planOptions);
  return { ctx, store, plan };
}

/** Text that does not compress, so that files have a size. */
function text(seed: number, length: number): string {
  let state = seed + 1;
  let result = '';
  while (result.length < length) {
    state = (Math.imul(state, 1103515245) + 12345) >>> 0;
    result += state.toString(36);
  }
  return result.slice(0, length);
}

type Table = Awaited<ReturnType<typeof tableOf>>;

async function idsOf({ store, ctx }: Table, plan: ScanPlan, options = {}): Promise<number[]> {
  const ids: number[] = [];
  for await (const batch of scanBatches(store, ctx, plan, options)) {
    for (const line of canonicalLines(batch, plan.schema)) ids.push(Number(JSON.parse(line).id));
  }
  return ids;
}

function requests({ ctx }: Table): number {
  return ctx.events.filter((event) => event.type === 'request').length;
}

const range = (from: number, to: number) => Array.from({ length: to - from }, (_, i) => from + i);

describe('requests', () => {
  it('takes one for each small file, several at once, and gives rows in the order of the files', async () => {
    const table = await tableOf(10, 100);
    const plan = await table.plan();
    table.ctx.events.length = 0;
    expect(await idsOf(table, plan)).toEqual(range(0, 1000));
    expect(requests(table)).toBe(10);
  });

  it('takes one for a point lookup that the statistics settle', async () => {
    const table = await tableOf(10, 100);
    const plan = await table.plan({ where: 'id = 555' });
    table.ctx.events.length = 0;
    expect(await idsOf(table, plan)).toEqual([555]);
    expect(requests(table)).toBe(1);
  });

  it('fetches the footer and the chunks of the column asked for, of a large file', async () => {
    const table = await tableOf(1, 2000, { textLength: 1000 });
    const plan = await table.plan({ columns: ['id'] });
    table.ctx.events.length = 0;
    expect(await idsOf(table, plan)).toHaveLength(2000);
    expect(requests(table)).toBe(2);
    const received = table.ctx.events.reduce(
      (sum, event) => sum + (event.type === 'request' ? event.received : 0),
      0,
    );
    expect(received).toBeLessThan(plan.files[0]!.size / 4);
  });

  it('reads the row groups alone that may hold a row, and a footer once', async () => {
    const table = await tableOf(1, 4000, { textLength: 1000, rowGroupRows: 1000 });
    const plan = await table.plan({ columns: ['id'], where: 'id >= 1500 AND id < 1510' });
    table.ctx.events.length = 0;
    expect(await idsOf(table, plan)).toEqual(range(1500, 1510));
    expect(requests(table)).toBe(2);
    expect(await idsOf(table, plan)).toEqual(range(1500, 1510));
    expect(requests(table)).toBe(3);
  });
});

describe('stopping', () => {
  it('reads one file where a limit is reached by it', async () => {
    const table = await tableOf(20, 100);
    const plan = await table.plan({ limit: 5 });
    table.ctx.events.length = 0;
    expect(await idsOf(table, plan)).toEqual([0, 1, 2, 3, 4]);
    expect(requests(table)).toBeLessThanOrEqual(3);
  });

  it('starts nothing more when the consumer stops', async () => {
    const table = await tableOf(60, 10);
    const plan = await table.plan();
    table.ctx.events.length = 0;
    for await (const batch of scanBatches(table.store, table.ctx, plan)) {
      expect(batch.numRows).toBe(10);
      break;
    }
    const after = requests(table);
    await new Promise((done) => setTimeout(done, 20));
    expect(requests(table)).toBe(after);
    expect(after).toBeLessThan(40);
  });

  it('ends with ABORTED when the signal fires', async () => {
    const table = await tableOf(30, 10);
    const controller = new AbortController();
    const read = async () => {
      for await (const _ of scanBatches(table.store, table.ctx, await table.plan(), {
        signal: controller.signal,
      })) {
        controller.abort();
      }
    };
    await expect(read()).rejects.toMatchObject({ code: 'ABORTED' });
  });

  it('fails at a file that is gone, however many come before it', async () => {
    const table = await tableOf(5, 10);
    await table.store.delete('f003');
    await expect(idsOf(table, await table.plan())).rejects.toMatchObject({ code: 'FILE_NOT_FOUND' });
  });
});

describe('worker threads', () => {
  let pool: Pool;
  let folder: string;
  const tables: Table[] = [];
  beforeAll(async () => {
    pool = new Pool(fakeContext(), {});
    folder = await mkdtemp(join(tmpdir(), 'intervale-scan-'));
    for (const place of [undefined, folder]) {
      tables.push(await tableOf(4, 4500, { textLength: 1000, folder: place }));
    }
  });
  afterAll(async () => {
    await pool.close();
    await rm(folder, { recursive: true, force: true });
  });

  it.each(['fetched', 'opened by themselves'])(
    'give the same rows in the same order from files %s',
    async (how) => {
      const table = tables[how === 'fetched' ? 0 : 1]!;
      const options = { pool: async () => pool };
      expect(await idsOf(table, await table.plan(), options)).toEqual(range(0, 18_000));
      const some = await table.plan({ where: 'id % 100 = 7' });
      expect(await idsOf(table, some, options)).toEqual(range(0, 180).map((i) => i * 100 + 7));
    },
  );

  it('give batches to keep, and lend them where that is asked for', async () => {
    const table = tables[1]!;
    const plan = await table.plan();
    const options = { pool: async () => pool };
    const own: RecordBatch[] = [];
    for await (const batch of scanBatches(table.store, table.ctx, plan, options)) own.push(batch);
    for (let i = 0; i < 2; i++)
      expect(await idsOf(table, plan, { ...options, isLent: true })).toEqual(range(0, 18_000));
    expect(own.flatMap((batch) => [...batch.getChild('id')!].map(Number))).toEqual(range(0, 18_000));
    for (const batch of own) {
      for (const { values } of batch.data.children) expect(values.buffer).toBeInstanceOf(ArrayBuffer);
    }
  });

  it.each(['fetched', 'opened by themselves'])(
    'name the file that cannot be read, of files %s',
    async (how) => {
      const table = tables[how === 'fetched' ? 0 : 1]!;
      const plan = await table.plan();
      const broken = (await table.store.get('f002')).slice();
      broken.fill(255, 4, 2000);
      await table.store.put('f002', broken);
      await expect(idsOf(table, plan, { pool: async () => pool })).rejects.toMatchObject({
        code: 'CORRUPT_DATA_FILE',
        context: { file: 'f002' },
      });
    },
  );
});
