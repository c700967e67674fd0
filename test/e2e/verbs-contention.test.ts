import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createRuntime, createTable } from '../../src/index.js';
import { runProcess } from '../support/processes.js';
import { startS3Server } from '../support/s3-server.js';
import { step } from '../support/verb-arbitraries.js';
import { type Item, type Step, spelled } from '../support/verb-model.js';

const PROCESSES = 4;
const STEPS = 8;
const SCHEMA = 'id long, n int, p string, s string';

interface Outcome {
  readonly id: string;
  readonly status?: string;
  readonly version?: number;
  readonly code?: string;
}

const server = await startS3Server();

describe.each([
  ['a local folder', true],
  ['an S3 server', server !== undefined],
])('processes with mixed verbs on one table, on %s', (place, available) => {
  test.skipIf(!available).each([
    ['copies', {}],
    ['deletion vectors', { 'delta.enableDeletionVectors': 'true' }],
  ])('leave what their commits, one after the other, leave (%s)', async (name, properties) => {
    const isLocal = place === 'a local folder';
    const folder = await mkdtemp(join(tmpdir(), 'intervale-verbs-'));
    const url = isLocal ? join(folder, 'table') : `s3://${server!.bucket}/verbs-${name.length}`;
    const s3 = isLocal ? undefined : server!.options;
    const runtime = createRuntime({ s3, workers: 1 });
    try {
      const table = await createTable(url, { schema: SCHEMA, partitionBy: ['p'], properties, runtime });
      const wanted = fc
        .sample(step, { seed: 7, numRuns: PROCESSES * STEPS * 2 })
        .filter(({ verb }) => verb !== undefined);
      const byId = new Map(wanted.slice(0, PROCESSES * STEPS).map((each, i) => [`step ${i}`, each]));
      const shares = Array.from({ length: PROCESSES }, (_, process) =>
        [...byId].flatMap(([id, { verb, rows }], i) =>
          i % PROCESSES === process ? [{ id, verb, rows }] : [],
        ),
      );
      const results = await Promise.all(
        shares.map((steps) => runProcess<Outcome>('verbs-process.js', { url, s3, steps })),
      );
      const outcomes = results.flat();
      expect(outcomes).toHaveLength(byId.size);
      for (const { id, code } of outcomes) expect(code, byId.get(id)!.text).toBe(byId.get(id)!.refused);

      const committed = new Map<number, string>();
      for await (const { version, commitInfo } of table.history()) {
        if (commitInfo?.userMetadata !== undefined) committed.set(version, commitInfo.userMetadata);
      }
      const told = outcomes.filter(({ status }) => status === 'committed');
      expect([...committed.values()].sort()).toEqual(told.map(({ id }) => id).sort());
      for (const { id, version } of told) expect(committed.get(version!)).toBe(id);

      const order = [...committed].sort(([a], [b]) => a - b).map(([, id]) => byId.get(id) as Step);
      const expected = order.reduce<readonly Item[]>((items, each) => each.model(items), []);
      const found = (await table.scan({ int64: 'number' }).toArray()) as unknown as Item[];
      expect(spelled(found)).toEqual(spelled(expected));
    } finally {
      await runtime.close();
      await rm(folder, { recursive: true, force: true });
    }
  });
});
