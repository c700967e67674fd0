import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseInterval } from '../../../src/interval/argument.js';
import { checkDefinition, type PipelineOptions } from '../../../src/pipeline/definition.js';
import { type Job, openJob } from '../../../src/pipeline/job.js';
import { type RunOptions, type RunResult, runInterval } from '../../../src/pipeline/run.js';
import { createRuntime, type Runtime } from '../../../src/runtime/runtime.js';
import { systemClock } from '../../../src/runtime/system.js';
import type { Row } from '../../../src/schema/rows-in.js';

/** A folder for tables, a runtime whose calendar can be moved, and pipelines that make rows up. */
export interface Bench {
  readonly runtime: Runtime;
  now: number;
  url(name: string): string;
  close(): Promise<void>;
}

export async function openBench(now = '2024-02-01T00:00:00Z'): Promise<Bench> {
  const folder = await mkdtemp(join(tmpdir(), 'intervale-pipeline-'));
  const bench = { now: Date.parse(now) };
  const clock = { ...systemClock, now: () => bench.now };
  const runtime = createRuntime({ workers: 1, fsync: false, clock });
  return Object.assign(bench, {
    runtime,
    url: (name: string) => join(folder, name),
    close: async () => {
      await runtime.close();
      await rm(folder, { recursive: true, force: true });
    },
  });
}

export const EVENTS = 'ts timestamp, day date, id long, value string';

/** A job over `EVENTS` of two rows an interval, one at its start and one in its last microsecond, unless told otherwise. */
export function job(bench: Bench, name: string, options: Partial<PipelineOptions> = {}): Job {
  const definition = checkDefinition({
    name: 'events',
    table: bench.url(name),
    create: { schema: EVENTS, partitionBy: ['day'] },
    every: 'day',
    start: '2024-01-01',
    column: 'ts',
    produce: ({ interval }) => rowsAt(interval.startMs, interval.endMs),
    ...options,
  });
  return openJob(definition, bench.runtime);
}

export function rowsAt(startMs: number, endMs: number, value = 'a'): Row[] {
  return [BigInt(startMs) * 1000n, BigInt(endMs) * 1000n - 1n].map((micros, i) => ({
    ts: micros,
    day: new Date(Number(micros / 1000n)).toISOString().slice(0, 10),
    id: BigInt(startMs / 3_600_000) * 10n + BigInt(i),
    value,
  }));
}

export function run(of: Job, label: string, options?: RunOptions): Promise<RunResult> {
  return runInterval(of, parseInterval(of.definition.calendar, label), options);
}

/** The rows as text, sorted. */
export async function contents(of: Job): Promise<string[]> {
  const { Snapshot } = await import('../../../src/snapshot/snapshot.js');
  const rows = await new Snapshot(of.table, await of.table.latest.get())
    .scan({ timestamp: 'string', int64: 'string' })
    .toArray();
  return rows.map((row) => JSON.stringify(row)).sort();
}

/** A promise and what resolves it. */
export interface Gate {
  readonly opened: Promise<void>;
  open(): void;
}

export function gate(): Gate {
  let open = (): void => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { opened, open };
}
