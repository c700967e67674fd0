import { TableError } from '../errors.js';
import type { TableContext } from '../runtime/table-context.js';
import { col, lit } from '../scan/predicate.js';
import { printPredicate } from '../scan/print.js';
import { pruneFiles } from '../scan/prune.js';
import type { State } from '../snapshot/state.js';
import { conditionOf } from './condition.js';
import { vectorMetrics } from './delete.js';
import type { Effects } from './effects.js';
import { type Condition, markWhere } from './marks.js';
import type { WritePlan } from './plan.js';
import { rewriteFiles } from './rewrite.js';
import { type Candidates, type Reading, Rewriting } from './rewriting.js';
import { RowRules } from './rules.js';
import { type Assignments, compileSet } from './set.js';
import type { UpdateSpec } from './verb.js';
import type { Work } from './work.js';

/** The work of changing rows for which a condition is TRUE. Throws `INVALID_INPUT` where nothing is set, `UNKNOWN_COLUMN`, `INVALID_PREDICATE`. */
export function updateWork(
  table: TableContext,
  state: State,
  { set, where }: UpdateSpec,
  signal?: AbortSignal,
): Work {
  if (Object.keys(set).length === 0) {
    throw new TableError('INVALID_INPUT', 'The update sets no column.', { url: table.url });
  }
  const { fields } = state.schema;
  const rules = new RowRules(state, table.url, table.ctx.clock.now());
  const assignments = compileSet(rules.given, state.schema, set, (i) =>
    rules.generated.includes(fields[i]!.name) ? lit(null) : col([fields[i]!.name]),
  );
  return new Rewriting(
    table,
    new Update(table, conditionOf(where, state.schema), assignments, rules, signal),
  );
}

class Update implements Reading {
  readonly verb = 'update';
  readonly inserted = [];
  readonly #table: TableContext;
  readonly #condition: Condition;
  readonly #set: Assignments;
  readonly #rules: RowRules;
  readonly #signal: AbortSignal | undefined;

  constructor(
    table: TableContext,
    condition: Condition,
    set: Assignments,
    rules: RowRules,
    signal: AbortSignal | undefined,
  ) {
    this.#table = table;
    this.#condition = condition;
    this.#set = set;
    this.#rules = rules;
    this.#signal = signal;
  }

  async candidates(state: State): Promise<Candidates> {
    const { ids } = await pruneFiles(state, this.#condition.bound, { signal: this.#signal });
    return { whole: new Int32Array(0), read: ids };
  }

  async execute(state: State, read: Int32Array): Promise<Effects> {
    const marked = await markWhere(this.#table, state, read, this.#condition, this.#signal);
    return rewriteFiles(this.#table, state, {
      marked,
      clauses: [{ kind: 'update', sides: 'target', set: this.#set }],
      rules: this.#rules,
      signal: this.#signal,
    });
  }

  describe(_: State, plan: WritePlan, effects: Effects) {
    return {
      operation: 'UPDATE',
      parameters: { predicate: JSON.stringify([printPredicate(this.#condition.predicate)]) },
      metrics: {
        numRemovedFiles: plan.removed.files,
        numRemovedBytes: plan.removed.bytes,
        numAddedFiles: plan.added.files,
        numAddedBytes: plan.added.bytes,
        numAddedChangeFiles: effects.changes.length,
        numUpdatedRows: plan.rows.updated,
        numCopiedRows: plan.rows.copied,
        ...vectorMetrics(effects),
      },
    };
  }

  async close(): Promise<void> {}
}
