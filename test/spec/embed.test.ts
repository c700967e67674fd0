import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import together from '../../spec/cases/embed/together.json' with { type: 'json' };
import written from '../../spec/cases/embed/writer.json' with { type: 'json' };
import type { TableError } from '../../src/index.js';
import { parseCommit } from '../../src/log/action-lines.js';
import type { Action } from '../../src/log/actions.js';
import { commitPath } from '../../src/log/paths.js';
import { systemClock } from '../../src/runtime/system.js';
import type { TableContext } from '../../src/runtime/table-context.js';
import { Pool } from '../../src/stage/pool.js';
import { MemoryObjects, MemoryStore } from '../../src/store/memory.js';
import { Table } from '../../src/table.js';
import { create } from '../../src/write/create.js';
import type { Writer } from '../../src/write/writer.js';
import { fakeContext } from '../support/fake-context.js';
import { tableContextOver } from '../support/table-context.js';

const ctx = fakeContext(systemClock);
const pool = new Pool(ctx, { workers: 1 });
let objects: MemoryObjects;
let context: TableContext;

function open(): TableContext {
  return tableContextOver(new MemoryStore(ctx, 'memory://embed', objects), ctx, pool);
}

beforeEach(async () => {
  objects = new MemoryObjects();
  context = open();
  await create(context, { schema: 'id long' });
});
afterAll(() => pool.close());

async function commits(): Promise<Action[][]> {
  const { version } = await open().latest.get();
  return Promise.all(
    Array.from({ length: version }, async (_, i) =>
      parseCommit(await context.store.get(commitPath(i + 1)), { version: i + 1, file: '' }),
    ),
  );
}

function tokensOf(actions: readonly Action[]): [string, number][] {
  return actions.flatMap((action) =>
    'txn' in action ? [[action.txn.appId, Number(action.txn.version)] as [string, number]] : [],
  );
}

describe('appends that wait together', () => {
  test.each(together.cases)('$name', async ({ appends, results, commits: expected }) => {
    const table = new Table(context);
    const staged = await Promise.all(
      appends.map(({ txn, userMetadata }: { txn?: unknown[]; userMetadata?: string }, id) =>
        table.stage([{ id }], 'append', {
          ...(txn ? { txn: { appId: String(txn[0]), version: Number(txn[1]) } } : {}),
          ...(userMetadata === undefined ? {} : { userMetadata }),
        }),
      ),
    );
    const all = await Promise.all(staged.map((write) => write.commit()));
    expect(all.map(({ status, version }) => [status, version])).toEqual(results);
    const made = (await commits()).map((actions) => {
      const info = actions.flatMap((action) => ('commitInfo' in action ? [action.commitInfo] : []))[0]!;
      const { userMetadata } = info;
      return {
        adds: actions.filter((action) => 'add' in action).length,
        tokens: tokensOf(actions),
        ...(userMetadata === undefined ? {} : { userMetadata }),
      };
    });
    expect(made).toEqual(expected);
  });
});

interface Life {
  readonly maxRows: number;
  readonly rows: readonly (number | null)[];
  /** Its rows are committed only after the lives behind it. */
  readonly isInterrupted?: boolean;
  readonly outcome?: string;
}

async function close(writer: Writer, life: Life): Promise<void> {
  const outcome = await writer.close().then(
    () => undefined,
    (error: TableError) => error.code as string,
  );
  expect(outcome).toBe(life.outcome);
}

describe('the lives of a writer with a token', () => {
  test.each(written.cases)('$name', async ({ lives, tokens, ids }) => {
    const late: (() => Promise<void>)[] = [];
    for (const life of lives as Life[]) {
      const table = new Table(open());
      const writer = await table.writer({
        txn: { appId: 'source' },
        maxRows: life.maxRows,
        maxDelay: 3_600_000,
      });
      for (const [i, place] of life.rows.entries()) {
        const { version } = await writer.write(
          { id: place ?? i + 1 },
          place === null ? {} : { version: place },
        );
        expect(version).toBe(place ?? i + 1);
      }
      if (life.isInterrupted) late.push(() => close(writer, life));
      else await close(writer, life);
    }
    for (const end of late) await end();
    expect((await commits()).flatMap(tokensOf).map(([, version]) => version)).toEqual(tokens);
    const rows = await new Table(open()).scan().toArray();
    expect(rows.map(({ id }) => Number(id)).sort((a, b) => a - b)).toEqual(ids);
  });
});
