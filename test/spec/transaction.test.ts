import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import cases from '../../spec/cases/commit/transaction.json' with { type: 'json' };
import { createRuntime, createTable, type RuntimeEvent, type TableError } from '../../src/index.js';
import { parseCommit, serializeActions } from '../../src/log/action-lines.js';
import type { Action } from '../../src/log/actions.js';
import { classicCheckpointKey, commitPath } from '../../src/log/paths.js';
import { openStore } from '../../src/store/open.js';
import type { Store } from '../../src/store/store.js';
import { FakeClock, fakeContext } from '../support/fake-context.js';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'intervale-transaction-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** What another writer commits as version 1. */
async function others(store: Store, kind: string): Promise<Action[]> {
  const first = parseCommit(await store.get(commitPath(0)), { version: 0, file: commitPath(0) });
  const metaData = first.flatMap((action) => ('metaData' in action ? [action.metaData] : []))[0]!;
  switch (kind) {
    case 'append':
      return [{ commitInfo: { operation: 'WRITE' } }];
    case 'property':
      return [
        {
          metaData: { ...metaData, configuration: { ...metaData.configuration, 'delta.appendOnly': 'true' } },
        },
      ];
    case 'protocol':
      return [{ protocol: { minReaderVersion: 1, minWriterVersion: 1 } }];
    case 'same-metadata':
      return [{ metaData }];
    default:
      throw new Error(`no such writer: ${kind}`);
  }
}

describe('a transaction', () => {
  test.each(cases.cases)('$name', async (given) => {
    const clock = new FakeClock();
    const events: RuntimeEvent[] = [];
    const runtime = createRuntime({
      clock,
      onEvent: (event) => events.push(event),
      workers: 1,
      fsync: false,
    });
    const url = join(folder, String(cases.cases.indexOf(given)));
    const table = await createTable(url, {
      schema: 'id long',
      rows: [{ id: 1 }],
      properties: given.properties as Record<string, string> | undefined,
      runtime,
    });
    const store = openStore(url, fakeContext());
    if (given.checkpointFails) await mkdir(join(url, classicCheckpointKey(1)));
    const staged = await table.stage([{ id: 2 }], 'append');
    if (given.other !== 'none')
      await store.putIfAbsent(commitPath(1), serializeActions(await others(store, given.other)));
    clock.advance(given.waitMs);
    events.length = 0;
    const result = await staged.commit().then(
      ({ status, version }) => ({ outcome: status as string, version }),
      (error: TableError) => ({ outcome: error.code as string, version: undefined }),
    );
    const listed = events.some((event) => event.type === 'request' && event.operation === 'list');
    expect(result).toEqual({ outcome: given.outcome, version: given.version });
    if (given.listed !== undefined) expect(listed).toBe(given.listed);
    expect(events.some(({ type }) => type === 'checkpointFailed')).toBe(given.checkpointFails ?? false);
    if (result.version !== undefined) {
      const written = parseCommit(await store.get(commitPath(result.version)), {
        version: result.version,
        file: '',
      });
      expect(Object.keys(written[0]!)).toEqual(['commitInfo']);
    } else {
      const left: string[] = [];
      for await (const page of store.list(''))
        left.push(...page.map(({ key }) => key).filter((key) => key.endsWith('.parquet')));
      expect(left).toHaveLength(1);
    }
    await runtime.close();
  });
});
