import { afterAll, describe, expect, test } from 'vitest';
import { executePlan } from '../../src/pipeline/backfill.js';
import { coverage } from '../../src/pipeline/coverage.js';
import { checkDefinition, type Definition, type PipelineOptions } from '../../src/pipeline/definition.js';
import type { Job } from '../../src/pipeline/job.js';
import { readLedger } from '../../src/pipeline/ledger.js';
import { planBackfill, planCatchUp } from '../../src/pipeline/plan.js';
import { runInterval } from '../../src/pipeline/run.js';
import type { Row } from '../../src/schema/rows-in.js';
import { loadState } from '../../src/snapshot/load.js';
import { Snapshot } from '../../src/snapshot/snapshot.js';
import { type Faults, idlePool, NO_FAULTS, World } from './world.js';

/** `SIM_SEEDS=500` looks further, `SIM_FIRST` says from which seed. */
const SEEDS = Number(process.env.SIM_SEEDS ?? 40);
const FIRST = Number(process.env.SIM_FIRST ?? 1);
const NOW = '2024-01-09T00:30:00Z';
const FAULTS: Faults = { crash: 0.01, lostReply: 0.02, failure: 0.02, duplicate: 0.05, late: 0.03 };

const pool = idlePool();
afterAll(() => pool.close());

/** More than an interval ever has. */
const MOST_ROWS = 8;

/** A source, which may learn of more rows and newer values from one round to the next, but never loses any. */
interface Source {
  readonly grows: boolean;
  generation: number;
}

/** A pipeline of a mode, a unit and a layout that the seed chooses. Its rows depend on the interval and on the generation of its source. */
function pipelineOf(random: () => number): { readonly definition: Definition; readonly source: Source } {
  const pick = <T>(...choices: readonly T[]): T => choices[Math.floor(random() * choices.length)]!;
  const mode = pick('replace', 'replace', 'append-once', 'upsert');
  const [every, start] = pick(['day', '2024-01-01'], ['hour', '2024-01-08T18:00'], ['2 days', '2023-12-31']);
  const layout = pick<readonly string[]>([], ['day']);
  const seed = Math.floor(random() * 1000);
  const source: Source = { grows: mode !== 'append-once' && random() < 0.5, generation: 0 };
  const options: PipelineOptions = {
    name: 'law',
    table: 'memory://world',
    create: { schema: 'ts timestamp, day date, id long, value string', partitionBy: layout },
    every: every!,
    start: start!,
    column: 'ts',
    mode,
    ...(mode === 'upsert' ? { on: ['id'], order: 'ts' } : {}),
    lookback: mode === 'append-once' ? 0 : pick(0, 2),
    async *produce({ interval }) {
      yield* rowsOf(interval.startMs, interval.endMs, seed, mode, source.generation);
    },
  };
  return { definition: checkDefinition(options), source };
}

/** Some rows of an interval, in some intervals none. Upserts share keys among neighbours, so that order matters. */
function* rowsOf(
  startMs: number,
  endMs: number,
  seed: number,
  mode: string,
  generation: number,
): Generator<Row> {
  const number = startMs / 3_600_000;
  const count = ((number * 7 + seed) % 4) + (number % 2 === 0 ? generation : 0);
  for (let i = 0; i < count; i++) {
    const ms = startMs + Math.floor(((endMs - startMs) * i) / MOST_ROWS);
    const id = mode === 'upsert' ? (number * 3 + i * 5 + seed) % 7 : number * 10 + i;
    yield {
      ts: BigInt(ms) * 1000n,
      day: new Date(ms).toISOString().slice(0, 10),
      id: BigInt(id),
      value: `${number}-${i}-${i % 2 === 0 ? generation : 0}`,
    };
  }
}

async function rowsIn(job: Job, version?: number): Promise<string[]> {
  const { store, ctx } = job.table;
  const snapshot = new Snapshot(job.table, await loadState(store, ctx, { version }));
  const rows = await snapshot.scan({ timestamp: 'string', int64: 'string' }).toArray();
  return rows.map((row) => JSON.stringify(row)).sort();
}

/** The life of one process: something is done until it is done, fails, or the process dies. */
async function live(job: Job, random: () => number): Promise<void> {
  const choice = random();
  try {
    const options = { maxActive: 1 + Math.floor(random() * 3), retries: 1, retryDelay: 10 };
    if (choice < 0.35) await executePlan(job, await planCatchUp(job), options);
    else if (choice < 0.7) {
      const order = random() < 0.5 ? 'backwards' : 'forwards';
      const reprocess = random() < 0.4 ? 'all' : 'missing';
      await executePlan(job, await planBackfill(job, { order, reprocess }), options);
    } else {
      const { calendar, startMs } = job.definition;
      const intervals = [...calendar.between(startMs, calendar.at(Date.parse(NOW)).startMs)];
      const interval = intervals[Math.floor(random() * intervals.length)]!;
      await runInterval(job, interval, { force: random() < 0.3 });
    }
  } catch {
    // It is the table that is judged.
  }
}

describe('the law', () => {
  test.each(Array.from({ length: SEEDS }, (_, i) => FIRST + i))(
    'seed %i: whatever goes wrong, the table is that of one clean run',
    async (seed) => {
      const world = new World(seed, NOW, pool);
      const { definition, source } = pipelineOf(world.random);
      const rounds = 1 + Math.floor(world.random() * 3);
      for (let round = 0; round < rounds; round++) {
        if (source.grows) source.generation = round;
        const lives = Array.from({ length: 1 + Math.floor(world.random() * 3) }, () =>
          live(world.process(definition, FAULTS), world.random),
        );
        await Promise.all(lives);
      }
      const survivor = world.process(definition, NO_FAULTS);
      const reprocess = source.grows ? 'all' : 'missing';
      const report = await executePlan(survivor, await planBackfill(survivor, { reprocess }), { retries: 5 });
      expect(report.counts.failed).toBe(0);

      const clean = new World(seed, NOW, pool).process(definition, NO_FAULTS);
      await executePlan(clean, await planBackfill(clean));
      expect(await rowsIn(survivor)).toEqual(await rowsIn(clean));
      const { counts } = await coverage(survivor);
      expect(counts).toMatchObject({ missing: 0, changed: 0, unknown: 0 });
      const state = await survivor.table.latest.get();
      expect(readLedger(state, 'law').size).toBe(counts.done + counts.empty);
      if (definition.mode !== 'upsert' && !source.grows) await expectWholeIntervals(survivor, state.version);
    },
  );
});

/** At every version an interval has all of its rows or none. */
async function expectWholeIntervals(job: Job, newest: number): Promise<void> {
  const { calendar, startMs } = job.definition;
  const complete = new Map<number, number>();
  const count = (rows: readonly string[]): Map<number, number> => {
    const found = new Map<number, number>();
    for (const row of rows) {
      const { startMs: start } = calendar.spanAt(Date.parse(JSON.parse(row).ts));
      found.set(start, (found.get(start) ?? 0) + 1);
    }
    return found;
  };
  for (const [start, rows] of count(await rowsIn(job))) complete.set(start, rows);
  for (let version = 0; version <= newest; version++) {
    for (const [start, rows] of count(await rowsIn(job, version))) {
      expect(start).toBeGreaterThanOrEqual(startMs);
      expect([version, start, rows]).toEqual([version, start, complete.get(start)]);
    }
  }
}
