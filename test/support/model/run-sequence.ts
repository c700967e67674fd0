import { canonicalLines } from '../../../src/cli/canonical.js';
import {
  createTable,
  isTableError,
  openTable,
  type Runtime,
  type Snapshot,
  type StructType,
  type Table,
} from '../../../src/index.js';
import { type Column, ddlOf, lineOf } from './cells.js';
import { conditionSql, holds } from './expressions.js';
import type { Sequence } from './generate.js';
import { runOperation, stageOperation } from './run-here.js';
import {
  applyOperation,
  type ForeignStep,
  isSkipped,
  type Model,
  type Operation,
  type Step,
} from './steps.js';

/** What a table was after a step. */
export interface Reached {
  readonly step: number;
  readonly version: number;
  readonly columns: readonly Column[];
  /** Canonical lines, sorted. */
  readonly lines: readonly string[];
}

export interface RunOptions {
  /** Two writers, each with a view of its own, and one that opens the table when all is done. */
  readonly runtimes: readonly [Runtime, Runtime, Runtime];
  /** Does what another engine does to the table. */
  readonly foreign?: (engine: 'spark' | 'deltars', step: ForeignStep, model: Model) => Promise<unknown>;
  /** Called after each step. */
  readonly check?: (reached: Reached) => Promise<void>;
}

/** A sequence whose table is not what the model says. */
export class Differs extends Error {
  /** Alike for faults alike, wherever in a sequence they come. */
  readonly kind: string;

  constructor(step: number, kind: string, what = '') {
    super(`after step ${step}: ${kind}${what}`);
    this.kind = kind;
  }
}

/** The kind of a failure. */
export function kindOf(error: Error): string {
  return error instanceof Differs ? error.kind : error.message.slice(0, 60);
}

/**
 * Runs a sequence on a new table and on the model. After each step the rows are compared, at the end every version, read by an opening of the table that has
 * seen nothing, and where changes are recorded what they add up to. Throws `Differs`. Gives what was reached, for the engines to compare with.
 */
export async function runSequence(url: string, sequence: Sequence, options: RunOptions): Promise<Reached[]> {
  const { columns, partitionBy, properties, steps } = sequence;
  const [first, second, late] = options.runtimes;
  await createTable(url, { schema: ddlOf(columns), partitionBy, properties, runtime: first });
  const tables = [
    await openTable(url, { runtime: first }),
    await openTable(url, { runtime: second }),
  ] as const;
  let model: Model = { columns, partitionBy, rows: [] };
  const reached: Reached[] = [];
  for (const [i, step] of steps.entries()) {
    model = await take(i, step, tables, model, options);
    const lines = linesOf(model);
    const handle = 'handle' in step && step.handle !== undefined ? step.handle : i % 2;
    const snapshot = await tables[handle]!.snapshot();
    expectSame(i, 'rows', await readLines(tables[handle]!, snapshot.version), lines);
    const count = await snapshot.count();
    if (count !== lines.length) throw new Differs(i, 'count()', ` is ${count} and not ${lines.length}`);
    await checkConditions(i, step, snapshot, model);
    const state = { step: i, version: snapshot.version, columns: model.columns, lines };
    reached.push(state);
    await options.check?.(state);
  }
  const opened = await openTable(url, { runtime: late });
  for (const { step, version, lines } of reached) {
    expectSame(step, `rows of version ${version}, opened later`, await readLines(opened, version), lines);
  }
  const isSteady = reached.every((each) => each.columns.join() === columns.join());
  const isRecorded =
    properties['delta.enableChangeDataFeed'] !== undefined &&
    !steps.some((step) => step.op === 'setProperty');
  if (isRecorded && isSteady) {
    const last = reached.at(-1);
    expectSame(steps.length, 'rows by the changes', await replayed(opened, model), last?.lines ?? []);
  }
  return reached;
}

/** What a step's condition selects after the step, read with one column that may have nothing to do with it. */
async function checkConditions(at: number, step: Step, snapshot: Snapshot, model: Model): Promise<void> {
  if (!('where' in step)) return;
  const where = conditionSql(step.where);
  const wanted = model.rows.filter((row) => holds(step.where, row));
  const count = await snapshot.count({ where });
  if (count !== wanted.length) {
    throw new Differs(at, 'count({ where })', ` is ${count} and not ${wanted.length}: ${where}`);
  }
  const column = model.columns[at % model.columns.length]!;
  const schema: StructType = {
    type: 'struct',
    fields: snapshot.schema.fields.filter(({ name }) => name === column),
  };
  const lines: string[] = [];
  for await (const batch of snapshot.scan({ columns: [column], where }).batches()) {
    lines.push(...canonicalLines(batch, schema));
  }
  const spelled = wanted.map((row) => lineOf(row, [column])).sort();
  expectSame(at, `${column} of rows by a condition`, lines.sort(), spelled);
}

async function take(
  at: number,
  step: Step,
  tables: readonly [Table, Table],
  model: Model,
  options: RunOptions,
): Promise<Model> {
  switch (step.op) {
    case 'checkpoint':
      await tables[step.handle ?? 0]!.checkpoint();
      return model;
    case 'foreign': {
      if (!options.foreign) return model;
      await options.foreign(step.engine, step.step, model);
      if (step.step.op === 'append' || step.step.op === 'delete') return after(at, model, step.step);
      return model;
    }
    case 'race': {
      // What is staged for another schema is refused, so both start from the newest.
      await Promise.all(tables.map((table) => table.snapshot()));
      const staged = await Promise.all(
        step.steps.map((each, i) => outcomeOf(() => stageOperation(tables[i % 2]!, each))),
      );
      let now = model;
      for (const [i, each] of step.steps.entries()) {
        const { value, refused } = staged[i]!;
        const outcome: Told<unknown> = value ? await outcomeOf(() => value.commit()) : { refused };
        now = expectOutcome(at, now, each, outcome.refused);
      }
      return now;
    }
    default: {
      const { refused } = await outcomeOf(() => runOperation(tables[step.handle ?? 0]!, step, model.isWide));
      return expectOutcome(at, model, step, refused);
    }
  }
}

interface Told<T> {
  readonly value?: T;
  readonly refused?: string;
}

async function outcomeOf<T>(run: () => Promise<T>): Promise<Told<T>> {
  try {
    return { value: await run() };
  } catch (error) {
    const code = isTableError(error) ? error.code : undefined;
    const isRefusal = ['OUTSIDE_TARGET', 'DUPLICATE_KEY', 'INVALID_ROW', 'INVALID_INPUT'].includes(
      code ?? '',
    );
    return { refused: isRefusal ? code : `${code ?? (error as Error).name} ${(error as Error).stack}` };
  }
}

function expectOutcome(at: number, model: Model, operation: Operation, refused: string | undefined): Model {
  assertFits(at, model, operation);
  const outcome = applyOperation(model, operation);
  const wanted = 'refused' in outcome ? outcome.refused : undefined;
  // A writer that has not heard of the token yet judges the rows first.
  if (refused !== undefined && isSkipped(model, operation)) {
    const { token: _, ...bare } = operation;
    const judged = applyOperation(model, bare);
    if ('refused' in judged && judged.refused === refused) return model;
  }
  if (refused !== wanted) {
    const done = refused?.split(' ', 1)[0] ?? 'done';
    const detail = refused === done || refused === undefined ? '' : `: ${refused}`;
    throw new Differs(at, `${operation.op}: ${done}, wanted: ${wanted ?? 'done'}`, detail);
  }
  return 'refused' in outcome ? model : outcome;
}

/** Shrinking may leave rows of another schema. */
function assertFits(at: number, { columns }: Model, operation: Operation): void {
  if (!('rows' in operation)) return;
  const wanted =
    operation.op === 'overwriteAll' && operation.columns
      ? operation.columns
      : 'evolve' in operation && operation.evolve
        ? [...new Set<Column>([...columns, 'x'])]
        : columns;
  const fits = (names: readonly string[]): boolean =>
    names.length === wanted.length && names.every((name) => wanted.includes(name as Column));
  if (!operation.rows.every((row) => fits(Object.keys(row)))) throw new Differs(at, 'no rows of the table');
}

function after(at: number, model: Model, operation: Operation): Model {
  const outcome = applyOperation(model, operation);
  if ('refused' in outcome)
    throw new Differs(at, `the model refuses what another engine does: ${outcome.refused}`);
  return outcome;
}

/** The canonical lines of a model's rows, sorted. */
export function linesOf({ columns, rows }: Model): string[] {
  return rows.map((row) => lineOf(row, columns)).sort();
}

/** The canonical lines of a version, sorted. */
export async function readLines(table: Table, version: number): Promise<string[]> {
  const snapshot = await table.snapshot({ version });
  const lines: string[] = [];
  for await (const batch of snapshot.scan().batches()) lines.push(...canonicalLines(batch, snapshot.schema));
  return lines.sort();
}

/** The rows that the changes of all versions make of nothing, as sorted lines. */
export async function replayed(table: Table, { columns }: Model): Promise<string[]> {
  const counts = new Map<string, number>();
  for await (const row of table.changes({ from: 0, int64: 'string', timestamp: 'string' })) {
    const cells = Object.fromEntries(columns.map((column) => [column, cellOf(row[column])]));
    const line = lineOf(cells, columns);
    const isNew = row._change_type === 'insert' || row._change_type === 'update_postimage';
    counts.set(line, (counts.get(line) ?? 0) + (isNew ? 1 : -1));
  }
  return [...counts]
    .flatMap(([line, count]) => (count < 0 ? [`-${line}`] : Array<string>(count).fill(line)))
    .sort();
}

function cellOf(value: unknown): string | number | boolean | null {
  if (typeof value === 'number') {
    return Object.is(value, -0) ? '-0' : Number.isFinite(value) ? value : String(value);
  }
  return typeof value === 'object' && value !== null ? String(value) : (value as string | null);
}

/** Throws `Differs` naming lines that are on one side only. Both sides are sorted. */
export function expectSame(
  step: number,
  what: string,
  found: readonly string[],
  wanted: readonly string[],
): void {
  if (found.length === wanted.length && found.every((line, i) => line === wanted[i])) return;
  const surplus = without(found, wanted);
  const missing = without(wanted, found);
  throw new Differs(
    step,
    what,
    `: ${surplus.length} too many (${surplus.slice(0, 3).join(' ')}), ${missing.length} missing (${missing.slice(0, 3).join(' ')})`,
  );
}

function without(lines: readonly string[], others: readonly string[]): string[] {
  const left = new Map<string, number>();
  for (const line of others) left.set(line, (left.get(line) ?? 0) + 1);
  return lines.filter((line) => {
    const count = left.get(line) ?? 0;
    left.set(line, count - 1);
    return count <= 0;
  });
}
