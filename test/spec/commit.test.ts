import { afterAll, describe, expect, test } from 'vitest';
import attempts from '../../spec/cases/commit/attempt.json' with { type: 'json' };
import overwrites from '../../spec/cases/commit/overwrite-partitions.json' with { type: 'json' };
import { attemptCommit } from '../../src/commit/attempt.js';
import { TableError } from '../../src/errors.js';
import { createRuntime, createTable } from '../../src/index.js';
import type { PutIfAbsentResult, Store } from '../../src/store/store.js';
import { FakeClock, fakeContext } from '../support/fake-context.js';

const HELD: Readonly<Record<string, Uint8Array>> = {
  ours: commitBytes('ours'),
  theirs: commitBytes('theirs'),
  garbage: new Uint8Array([123, 34]),
};

function commitBytes(txnId: string): Uint8Array {
  return new TextEncoder().encode(`${JSON.stringify({ commitInfo: { operation: 'WRITE', txnId } })}\n`);
}

/** A store that answers puts and read-backs from two scripts. */
function scripted(
  puts: readonly string[],
  reads: readonly string[],
): { store: Store; requests: [number, number] } {
  const requests: [number, number] = [0, 0];
  const store = {
    async putIfAbsent(): Promise<PutIfAbsentResult> {
      const answer = puts[Math.min(requests[0]++, puts.length - 1)]!;
      if (answer === 'refused') throw new TableError('PERMISSION_DENIED', 'refused');
      if (answer === 'ambiguous') return { outcome: 'ambiguous', cause: new Error('connection dropped') };
      return { outcome: answer as 'created' | 'exists' };
    },
    async get(): Promise<Uint8Array> {
      const held = reads[Math.min(requests[1]++, reads.length - 1)]!;
      if (held === 'missing') throw new TableError('NOT_FOUND', 'no such object');
      if (held === 'unreadable') throw new TableError('STORE_FAILED', 'no answer');
      return HELD[held]!;
    },
  };
  return { store: store as unknown as Store, requests };
}

describe('an attempt to commit', () => {
  test.each(attempts.cases)('$name', async ({ puts, reads, outcome, requests }) => {
    const ctx = fakeContext(new FakeClock());
    const script = scripted(puts, reads);
    const input = { version: 7, bytes: HELD.ours!, txnId: 'ours', deadline: ctx.clock.monotonic() + 60_000 };
    const found = await attemptCommit(script.store, ctx, input).then(
      (result) => result.outcome,
      (error: TableError) => error.code,
    );
    expect(found).toBe(outcome);
    if (requests) expect(script.requests).toEqual(requests);
  });
});

describe('overwriting partitions', () => {
  const runtime = createRuntime({ workers: 1 });
  afterAll(() => runtime.close());

  test.each(overwrites.cases)('$name', async (given) => {
    const names = given.schema.split(', ').map((column) => column.split(' ')[0]!);
    const rowOf = (values: readonly unknown[]) =>
      Object.fromEntries(names.map((name, i) => [name, values[i]]));
    const table = await createTable(`memory://overwrite-case-${overwrites.cases.indexOf(given)}`, {
      schema: given.schema,
      partitionBy: given.partitionBy,
      rows: given.before.map(rowOf),
      runtime,
    });
    const first = await table.overwritePartitions(given.rows.map(rowOf));
    expect(first.status).toBe(given.status ?? 'committed');
    expect(first.removed.files).toBe(given.filesRemoved);
    await table.overwritePartitions(given.rows.map(rowOf));
    const rows = await table.scan({ columns: ['id'] }).toArray();
    expect(rows.map(({ id }) => Number(id)).sort((a, b) => a - b)).toEqual(given.after);
  });
});
