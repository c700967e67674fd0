import type { RecordBatch } from 'apache-arrow';
import { TableError } from '../errors.js';
import type { TableContext } from '../runtime/table-context.js';
import { compileFilter, unselectedRows } from '../scan/evaluate.js';
import { arrowColumn, arrowReader } from '../scan/evaluate-arrow.js';
import { printPredicate } from '../scan/print.js';
import { classifyFiles } from '../scan/prune.js';
import { datumText } from '../schema/value.js';
import type { State } from '../snapshot/state.js';
import type { StagedFile } from '../stage/staged.js';
import { conditionOf } from './condition.js';
import { type Condition, markWhere } from './marks.js';
import { type WritePlan, writeCommit } from './plan.js';
import { readStagedRows } from './read-files.js';
import { rewriteFiles } from './rewrite.js';
import { type Candidates, type Reading, Rewriting } from './rewriting.js';
import { stageBatches } from './stage-files.js';
import type { Where } from './verb.js';
import type { Work } from './work.js';

/**
 * Stages rows that replace those for which `where` is TRUE. Throws `OUTSIDE_TARGET` where a row is not provably inside, NULL included: the whole source is
 * then read and counted, and nothing stays staged.
 */
export async function stageOverwriteWhere(
  table: TableContext,
  state: State,
  batches: AsyncIterable<RecordBatch>,
  where: Where,
  signal?: AbortSignal,
): Promise<Work> {
  const condition = conditionOf(where, state.schema);
  const inserted = await stageBatches(table, state, insideOnly(batches, condition, table.url), { signal });
  return new Rewriting(table, new OverwriteWhere(table, condition, inserted, signal));
}

class OverwriteWhere implements Reading {
  readonly verb = 'overwrite';
  readonly inserted: readonly StagedFile[];
  readonly #table: TableContext;
  readonly #condition: Condition;
  readonly #signal: AbortSignal | undefined;

  constructor(
    table: TableContext,
    condition: Condition,
    inserted: readonly StagedFile[],
    signal: AbortSignal | undefined,
  ) {
    this.#table = table;
    this.#condition = condition;
    this.inserted = inserted;
    this.#signal = signal;
  }

  candidates(state: State): Promise<Candidates> {
    return wholeOrRead(state, this.#condition, this.#signal);
  }

  async execute(state: State, read: Int32Array) {
    const marked = await markWhere(this.#table, state, read, this.#condition, this.#signal);
    return rewriteFiles(this.#table, state, {
      marked,
      clauses: [{ kind: 'delete' }],
      recorded: readStagedRows(this.#table, state, this.inserted, this.#signal),
      signal: this.#signal,
    });
  }

  describe(state: State, plan: WritePlan) {
    const parameters = {
      mode: 'Overwrite',
      partitionBy: JSON.stringify(state.metadata.partitionColumns),
      predicate: printPredicate(this.#condition.predicate),
    };
    return writeCommit(plan, [], parameters, false);
  }

  async close(): Promise<void> {}
}

/** Files whose rows all satisfy a condition go whole; those that may have such rows and others must be read. */
export async function wholeOrRead(
  state: State,
  { bound }: Condition,
  signal?: AbortSignal,
): Promise<Candidates> {
  const { all, some } = await classifyFiles(state, bound, { signal });
  return { whole: all, read: some };
}

/** The batches as they are, until a row is outside: then the rest is counted and the error thrown. */
export async function* insideOnly(
  batches: AsyncIterable<RecordBatch>,
  { predicate, bound }: Condition,
  url: string,
): AsyncGenerator<RecordBatch> {
  const filter = compileFilter(bound);
  let outside = 0;
  let example: string | undefined;
  for await (const batch of batches) {
    const selection = filter(batch);
    const bad = batch.numRows - selection.count;
    if (bad > 0) example ??= valuesOf(batch, unselectedRows(selection)[0]!, bound.columns);
    outside += bad;
    if (outside === 0) yield batch;
  }
  if (outside === 0) return;
  const text = printPredicate(predicate);
  throw new TableError(
    'OUTSIDE_TARGET',
    `${outside} ${outside === 1 ? 'row is' : 'rows are'} not provably inside what is to be replaced, ${text}; for example one with ${example}. Nothing was committed. Leave such rows out, or name a target that covers them.`,
    { url, predicate: text, rows: outside, example },
  );
}

function valuesOf(batch: RecordBatch, row: number, columns: Condition['bound']['columns']): string {
  if (columns.length === 0) return 'any values';
  return columns
    .map((column) => {
      const value = arrowReader(arrowColumn(batch, column), column.type)(row);
      return `${column.path.join('.')} = ${value === null ? 'NULL' : datumText(column.type, value)}`;
    })
    .join(', ');
}
