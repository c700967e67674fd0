import type { TableContext } from '../runtime/table-context.js';
import { printPredicate } from '../scan/print.js';
import type { State } from '../snapshot/state.js';
import { conditionOf } from './condition.js';
import type { Effects } from './effects.js';
import { type Condition, markWhere } from './marks.js';
import { wholeOrRead } from './overwrite.js';
import type { WritePlan } from './plan.js';
import { rewriteFiles } from './rewrite.js';
import { type Candidates, type Reading, Rewriting } from './rewriting.js';
import type { DeleteSpec } from './verb.js';
import type { Work } from './work.js';

/** The work of deleting rows for which a condition is TRUE. Files proved to hold nothing else go without being read. */
export function deleteWork(
  table: TableContext,
  state: State,
  { where }: DeleteSpec,
  signal?: AbortSignal,
): Work {
  return new Rewriting(table, new Delete(table, conditionOf(where, state.schema), signal));
}

class Delete implements Reading {
  readonly verb = 'delete';
  readonly inserted = [];
  readonly #table: TableContext;
  readonly #condition: Condition;
  readonly #signal: AbortSignal | undefined;

  constructor(table: TableContext, condition: Condition, signal: AbortSignal | undefined) {
    this.#table = table;
    this.#condition = condition;
    this.#signal = signal;
  }

  candidates(state: State): Promise<Candidates> {
    return wholeOrRead(state, this.#condition, this.#signal);
  }

  async execute(state: State, read: Int32Array): Promise<Effects> {
    const marked = await markWhere(this.#table, state, read, this.#condition, this.#signal);
    return rewriteFiles(this.#table, state, {
      marked,
      clauses: [{ kind: 'delete' }],
      signal: this.#signal,
    });
  }

  describe(_: State, plan: WritePlan, effects: Effects) {
    return {
      operation: 'DELETE',
      parameters: { predicate: JSON.stringify([printPredicate(this.#condition.predicate)]) },
      metrics: {
        numRemovedFiles: plan.removed.files,
        numRemovedBytes: plan.removed.bytes,
        numAddedFiles: plan.added.files,
        numAddedBytes: plan.added.bytes,
        numAddedChangeFiles: effects.changes.length,
        numCopiedRows: plan.rows.copied,
        ...(plan.rows.deleted === undefined ? {} : { numDeletedRows: plan.rows.deleted }),
        ...vectorMetrics(effects),
      },
    };
  }

  async close(): Promise<void> {}
}

/** How many deletion vectors were put on files, as Spark counts them. */
export function vectorMetrics({ changed }: Effects): Record<string, number> {
  const added = changed.filter(({ vector }) => vector);
  const updated = added.filter(({ vectorId }) => vectorId !== undefined).length;
  return {
    numDeletionVectorsAdded: added.length,
    numDeletionVectorsUpdated: updated,
    numDeletionVectorsRemoved: changed.filter(({ vectorId }) => vectorId !== undefined).length,
  };
}
