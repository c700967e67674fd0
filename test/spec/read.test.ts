import { readFile } from 'node:fs/promises';
import { describe, expect, test } from 'vitest';
import { canonicalLines } from '../../src/cli/canonical.js';
import { isTableError } from '../../src/errors.js';
import { readChanges } from '../../src/scan/changes.js';
import { countRows } from '../../src/scan/count.js';
import { type PlanOptions, planScan } from '../../src/scan/plan.js';
import { scanBatches } from '../../src/scan/read.js';
import { loadState } from '../../src/snapshot/load.js';
import { MemoryStore } from '../../src/store/memory.js';
import { fakeContext } from '../support/fake-context.js';

/** A table by its objects, what is asked of it, and the rows (sorted), their number or the error that come of it. */
interface ReadCase {
  readonly name: string;
  readonly log: Readonly<Record<string, string>>;
  /** Base64 by object key. */
  readonly data: Readonly<Record<string, string>>;
  readonly options?: PlanOptions;
  readonly changes?: { readonly from: number; readonly to?: number };
  readonly rows?: readonly string[];
  readonly count?: number;
  /** How many requests reading takes, the log left aside. */
  readonly requests?: number;
  /** How many data files are read. */
  readonly reads?: number | null;
  readonly error?: string;
  readonly says?: string;
}

async function cases(name: string): Promise<ReadCase[]> {
  const text = await readFile(new URL(`../../spec/cases/read/${name}.json`, import.meta.url), 'utf8');
  return JSON.parse(text).cases;
}

interface Table {
  readonly ctx: ReturnType<typeof fakeContext>;
  readonly store: MemoryStore;
}

async function tableOf({ log, data }: ReadCase): Promise<Table> {
  const ctx = fakeContext();
  const store = new MemoryStore(ctx);
  for (const [key, text] of Object.entries(log)) await store.put(key, new TextEncoder().encode(text));
  for (const [key, text] of Object.entries(data))
    await store.put(key, Uint8Array.from(Buffer.from(text, 'base64')));
  return { ctx, store };
}

async function linesOf(each: ReadCase, { ctx, store }: Table): Promise<string[]> {
  const lines: string[] = [];
  if (each.changes) {
    const feed = await readChanges(store, ctx, each.changes);
    for await (const batch of feed.batches()) lines.push(...canonicalLines(batch, feed.schema));
    return lines.map((line) => line.replace(/,"_commit_timestamp":"[^"]*"}$/, '}')).sort();
  }
  const plan = await planScan(await loadState(store, ctx), each.options);
  for await (const batch of scanBatches(store, ctx, plan)) lines.push(...canonicalLines(batch, plan.schema));
  return lines.sort();
}

/** The data files that were asked for, one entry a request. */
function dataRequests({ ctx }: Table): string[] {
  return ctx.events.flatMap((event) =>
    event.type === 'request' && !event.key.startsWith('_delta_log') ? [event.key] : [],
  );
}

describe.each(['files', 'deletion-vectors', 'changes', 'counts', 'pages'])('%s', async (name) => {
  test.each(await cases(name))('$name', async (each) => {
    const table = await tableOf(each);
    table.ctx.events.length = 0;
    if (each.error) {
      const error = await linesOf(each, table).then(
        () => undefined,
        (thrown: unknown) => thrown,
      );
      expect(isTableError(error) ? error.code : error).toBe(each.error);
      if (each.says) expect(String(error)).toContain(each.says);
      return;
    }
    if (each.rows) expect(await linesOf(each, table)).toEqual([...each.rows].sort());
    if (each.count !== undefined) {
      const { store, ctx } = table;
      expect(await countRows(store, ctx, await loadState(store, ctx), each.options)).toBe(each.count);
    }
    const requests = dataRequests(table);
    if (each.requests !== undefined) expect(requests).toHaveLength(each.requests);
    if (typeof each.reads === 'number') expect(new Set(requests).size).toBe(each.reads);
  });
});
