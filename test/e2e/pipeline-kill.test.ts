import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, test } from 'vitest';
import { createRuntime, openTable } from '../../src/index.js';
import { type S3Server, startS3Server } from '../support/s3-server.js';

const COMMAND = fileURLToPath(new URL('../../bin/tablectl.js', import.meta.url));
const INTERVALS = 24;
const folder = mkdtempSync(join(tmpdir(), 'intervale-kill-'));
const server = await startS3Server();
afterAll(async () => {
  await server?.stop();
  rmSync(folder, { recursive: true, force: true });
});

/** Two days of hours, three rows each, in one file a day, so that runs of one day meet. */
function source(table: string): string {
  return `
import { definePipeline } from 'intervale';
export const hours = definePipeline({
  name: 'hours',
  table: ${JSON.stringify(table)},
  create: { schema: 'ts timestamp, day date, id long', partitionBy: ['day'] },
  every: 'hour',
  start: '2024-01-01T12:00',
  column: 'ts',
  async *produce({ interval }) {
    for (let i = 0; i < 3; i++) {
      yield { ts: interval.start.add({ minutes: i * 20 }), day: interval.date, id: BigInt(interval.startMs) + BigInt(i) };
      await new Promise((done) => setTimeout(done, 10));
    }
  },
});
`;
}

interface Worker {
  readonly child: ChildProcess;
  readonly ended: Promise<number | null>;
}

function start(file: string, s3: S3Server | undefined, ...args: string[]): Worker {
  const range = ['--to', '2024-01-02T12:00', '--retries', '5', '--no-fsync'];
  const child = spawn(process.execPath, [COMMAND, 'backfill', file, ...range, ...args], {
    stdio: ['ignore', 'ignore', 'pipe'],
    env: { ...process.env, ...s3?.environment },
  });
  child.stderr.resume();
  return { child, ended: new Promise((resolve) => child.on('close', resolve)) };
}

/** When so many intervals were told as committed by any of the workers, or all have ended. */
function committed(workers: readonly Worker[], count: number): Promise<unknown> {
  let seen = 0;
  const reached = new Promise<void>((resolve) => {
    for (const { child } of workers)
      child.stderr!.on('data', (text: Buffer) => {
        seen += text.toString().split(' committed ').length - 1;
        if (seen >= count) resolve();
      });
  });
  return Promise.race([reached, Promise.all(workers.map(({ ended }) => ended))]);
}

describe.each([
  ['a local folder', true, undefined],
  ['an S3 server', server !== undefined, server],
])('workers that are killed, on %s', (name, isThere, s3) => {
  test.skipIf(!isThere)(
    'leave what one clean run leaves',
    async () => {
      const url = s3 ? `s3://${s3.bucket}/killed` : join(folder, 'killed');
      const file = join(folder, `${s3 ? 's3' : 'local'}.ts`);
      writeFileSync(file, source(url));
      for (const round of [0, 1]) {
        const workers = [0, 1, 2].map((i) =>
          start(file, s3, '--max-active', '2', ...(i === 0 ? ['--backwards'] : [])),
        );
        await committed(workers, 4 + round * 3);
        for (const { child } of workers) child.kill('SIGKILL');
        await Promise.all(workers.map(({ ended }) => ended));
      }
      expect(await start(file, s3).ended, name).toBe(0);
      const runtime = createRuntime({ s3: s3?.options });
      const rows = await (await openTable(url, { runtime })).scan().toArray();
      const first = BigInt(Date.parse('2024-01-01T12:00:00Z'));
      const expected = Array.from(
        { length: INTERVALS * 3 },
        (_, i) => first + BigInt(Math.floor(i / 3)) * 3_600_000n + BigInt(i % 3),
      );
      const ids = rows.map(({ id }) => id as bigint);
      expect(ids.sort((a, b) => (a < b ? -1 : a > b ? 1 : 0))).toEqual(expected);
      await runtime.close();
    },
    150_000,
  );
});
