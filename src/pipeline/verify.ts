import type { RecordBatch } from 'apache-arrow';
import type { Interval } from '../interval/interval.js';
import { planScan } from '../scan/plan.js';
import { scanBatches } from '../scan/read.js';
import { Digester, type RowsDigest } from '../schema/digest.js';
import { type Row, rowsFromBatch } from '../schema/rows-out.js';
import type { StructType } from '../schema/types.js';
import type { State } from '../snapshot/state.js';
import { ruledBatches } from '../write/ruled-source.js';
import { loadRun, type RunFacts } from './facts.js';
import { Inputs } from './inputs.js';
import { checkedState, type Job } from './job.js';
import { entryOf } from './ledger.js';
import { bindTarget } from './target.js';

export interface VerifyOptions {
  /** Columns that are left out, such as the time of loading. */
  readonly ignore?: readonly string[];
  /** Reads the versions of the inputs that the run recorded, not the newest ones. */
  readonly asRecorded?: boolean;
  /** Differing rows to show of each side; 10 by default. */
  readonly limit?: number;
  readonly signal?: AbortSignal;
}

/** What producing an interval again says of it. `not-run`: there is nothing to compare with. */
export interface Verification {
  readonly interval: Interval;
  readonly status: 'same' | 'differs' | 'not-run';
  readonly attempt: number;
  /** Of the last run; undefined where it is lost or columns are ignored. */
  readonly recorded: RowsDigest | undefined;
  readonly produced: RowsDigest | undefined;
  /** Of the rows in the table; undefined for upserts, whose rows are not the interval's alone. */
  readonly live: RowsDigest | undefined;
  /** Some rows that only one side has. */
  readonly onlyProduced: readonly Row[];
  readonly onlyInTable: readonly Row[];
  /** True when producing twice gave two results. */
  readonly unstable: boolean;
}

const SHOWN = 10;

/**
 * Produces an interval again and compares: with the digest recorded, and with the rows in the table. Where they differ it is produced once more to find rows
 * that only one side has. Commits nothing and stages nothing. Throws what `produce` throws.
 */
export async function verifyInterval(
  job: Job,
  interval: Interval,
  options: VerifyOptions = {},
): Promise<Verification> {
  const state = await checkedState(job);
  const entry = state && entryOf(state, job.definition.name, interval);
  const none = { onlyProduced: [], onlyInTable: [], unstable: false };
  if (!entry) {
    const absent = { recorded: undefined, produced: undefined, live: undefined };
    return { interval, status: 'not-run', attempt: 0, ...absent, ...none };
  }
  const facts = await loadRun(job.table, job.definition.name, entry);
  const sides = new Sides(job, interval, state, facts, options);
  const produced = await sides.digest(sides.produced());
  const live = job.definition.mode === 'upsert' ? undefined : await sides.digest(sides.live());
  const isWhole = (options.ignore ?? []).length === 0;
  const recorded = isWhole && facts ? { rows: facts.rows, digest: facts.digest } : undefined;
  const known = [recorded, live].filter((side) => side !== undefined);
  const base = { interval, attempt: entry.attempt, recorded, produced, live };
  if (known.every((side) => isSame(side, produced))) return { ...base, status: 'same', ...none };
  if (!live) return { ...base, status: 'differs', ...none };
  return { ...base, status: 'differs', ...(await sides.differences(produced, options.limit ?? SHOWN)) };
}

function isSame(a: RowsDigest, b: RowsDigest): boolean {
  return a.rows === b.rows && a.digest === b.digest;
}

/** The rows as they are produced, and as they are in the table. */
class Sides {
  readonly #job: Job;
  readonly #interval: Interval;
  readonly #state: State;
  readonly #facts: RunFacts | undefined;
  readonly #options: VerifyOptions;

  constructor(
    job: Job,
    interval: Interval,
    state: State,
    facts: RunFacts | undefined,
    options: VerifyOptions,
  ) {
    this.#job = job;
    this.#interval = interval;
    this.#state = state;
    this.#facts = facts;
    this.#options = options;
  }

  get #schema(): StructType {
    return this.#state.schema;
  }

  async *produced(): AsyncGenerator<RecordBatch> {
    const { asRecorded, signal = new AbortController().signal } = this.#options;
    const inputs = new Inputs({
      runtime: this.#job.runtime,
      definition: this.#job.definition,
      interval: this.#interval,
      target: this.#job.table,
      base: this.#state,
      signal,
      ...(asRecorded && this.#facts ? { recorded: this.#facts.inputs } : {}),
    });
    const rows = await this.#job.definition.produce({ interval: this.#interval, read: inputs.read, signal });
    yield* ruledBatches(this.#job.table, this.#state, rows);
  }

  async *live(): AsyncGenerator<RecordBatch> {
    const { table, definition } = this.#job;
    const where = bindTarget(definition, this.#state).predicate(this.#interval);
    const { signal } = this.#options;
    const plan = await planScan(this.#state, { where, signal });
    yield* scanBatches(table.store, table.ctx, plan, { signal, pool: table.pool, isLent: true });
  }

  async digest(batches: AsyncIterable<RecordBatch>): Promise<RowsDigest> {
    const digester = new Digester(this.#schema, this.#options.ignore);
    for await (const batch of batches) digester.add(batch);
    return digester.result();
  }

  async differences(
    before: RowsDigest,
    limit: number,
  ): Promise<Pick<Verification, 'onlyProduced' | 'onlyInTable' | 'unstable'>> {
    const digester = new Digester(this.#schema, this.#options.ignore);
    const surplus = new Map<string, number>();
    for await (const batch of this.produced()) {
      for (const key of keysOf(digester.hash(batch))) surplus.set(key, (surplus.get(key) ?? 0) + 1);
      digester.add(batch);
    }
    const onlyInTable: Row[] = [];
    for await (const batch of this.live()) {
      keysOf(digester.hash(batch)).forEach((key, row) => {
        const left = surplus.get(key) ?? 0;
        if (left > 0) surplus.set(key, left - 1);
        else if (onlyInTable.length < limit) onlyInTable.push(this.#row(batch, row));
      });
    }
    const unstable = !isSame(before, digester.result());
    const onlyProduced: Row[] = [];
    for await (const batch of this.produced()) {
      keysOf(digester.hash(batch)).forEach((key, row) => {
        const left = surplus.get(key) ?? 0;
        if (left === 0 || onlyProduced.length >= limit) return;
        surplus.set(key, left - 1);
        onlyProduced.push(this.#row(batch, row));
      });
      if (onlyProduced.length >= limit) break;
    }
    return { onlyProduced, onlyInTable, unstable };
  }

  #row(batch: RecordBatch, row: number): Row {
    return rowsFromBatch(batch.slice(row, row + 1), this.#schema)[0]!;
  }
}

function keysOf(hashes: Int32Array): string[] {
  return Array.from({ length: hashes.length / 4 }, (_, row) =>
    hashes.subarray(row * 4, row * 4 + 4).join(' '),
  );
}
