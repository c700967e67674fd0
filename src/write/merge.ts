import type { RecordBatch } from 'apache-arrow';
import { TableError } from '../errors.js';
import type { TableContext } from '../runtime/table-context.js';
import { compileFilter, OUTCOME } from '../scan/evaluate.js';
import { and, col, compare, type Expression, nullSafeEq, or } from '../scan/predicate.js';
import { printPredicate } from '../scan/print.js';
import { pruneFiles } from '../scan/prune.js';
import { findField } from '../schema/mapping.js';
import type { StructField, StructType } from '../schema/types.js';
import type { State } from '../snapshot/state.js';
import { batchOf, pickRows } from './columns.js';
import { conditionOf } from './condition.js';
import { vectorMetrics } from './delete.js';
import type { Effects, RowClause } from './effects.js';
import { keyFields, SourceKeys } from './keyed-source.js';
import { compileClauses, type MergeClauses } from './merge-clauses.js';
import { matchFiles } from './merge-match.js';
import type { WritePlan } from './plan.js';
import type { RowsTap } from './replay.js';
import { rewriteFiles } from './rewrite.js';
import { type Candidates, type Reading, Rewriting } from './rewriting.js';
import { givenBatches } from './ruled-source.js';
import { RowRules } from './rules.js';
import { assign } from './set.js';
import type { RowSource } from './source.js';
import { Spool } from './spool.js';
import type { MergeSpec } from './verb.js';
import type { Work } from './work.js';

/**
 * Reads the source of a merge into a spool, its keys into an index. Throws `DUPLICATE_KEY` where two rows have one key, unless `dedupe`; `INVALID_INPUT`,
 * `UNKNOWN_COLUMN`, `INVALID_PREDICATE` for a specification that does not fit the table.
 */
export async function stageMerge(
  table: TableContext,
  state: State,
  rows: RowSource,
  spec: MergeSpec,
  signal?: AbortSignal,
  tap?: RowsTap,
): Promise<Work> {
  const { schema } = state;
  const fields = keyFields(schema, spec.on, 'on');
  const rules = new RowRules(state, table.url, table.ctx.clock.now());
  const clauses = compileClauses(schema, spec, rules);
  const nulls = spec.nulls !== 'distinct';
  const keys = new SourceKeys(schema, fields, { nulls, duplicates: duplicatesOf(schema, spec) });
  const spool = new Spool(schema, table.ctx, (await table.pool()).memory / 3);
  try {
    for await (const batch of givenBatches(rows, rules, tap)) {
      keys.add(batch);
      await spool.add(batch);
    }
    keys.end();
    await spool.end();
  } catch (error) {
    await spool.close();
    throw error;
  }
  return new Rewriting(table, new Merge(table, { keys, spool, clauses, rules, signal }));
}

function duplicatesOf(schema: StructType, { dedupe }: MergeSpec) {
  if (!dedupe) return 'refuse' as const;
  const names = typeof dedupe.by === 'string' ? [dedupe.by] : dedupe.by;
  const by = names.map((name): StructField => {
    const field = findField(schema, name);
    if (field) return field;
    throw new TableError(
      'UNKNOWN_COLUMN',
      `The column '${name}' of dedupe.by is not a column of the table.`,
      {
        column: name,
      },
    );
  });
  if (dedupe.order !== 'first' && dedupe.order !== 'last') {
    throw new TableError('INVALID_INPUT', "dedupe.order is 'first' or 'last'.", { order: dedupe.order });
  }
  return { by, order: dedupe.order };
}

interface MergeInput {
  readonly keys: SourceKeys;
  readonly spool: Spool;
  readonly clauses: MergeClauses;
  readonly rules: RowRules;
  readonly signal?: AbortSignal;
}

class Merge implements Reading {
  readonly verb = 'merge';
  readonly inserted = [];
  readonly #table: TableContext;
  readonly #input: MergeInput;

  constructor(table: TableContext, input: MergeInput) {
    this.#table = table;
    this.#input = input;
  }

  async candidates(state: State): Promise<Candidates> {
    const whole = new Int32Array(0);
    const where = this.#about();
    if (where === undefined) return { whole, read: whole };
    const { bound } = conditionOf(where, state.schema);
    return { whole, read: (await pruneFiles(state, bound, { signal: this.#input.signal })).ids };
  }

  async execute(state: State, read: Int32Array): Promise<Effects> {
    const { spool, signal, clauses, rules } = this.#input;
    const { marked, matched } = await matchFiles(this.#table, state, read, this.#input);
    const rowClauses = [...clauses.matched, ...clauses.notMatchedBySource].map(({ row }): RowClause => row!);
    return rewriteFiles(this.#table, state, {
      marked,
      clauses: rowClauses,
      source: spool,
      inserts: this.#inserts(matched, state.schema),
      rules,
      signal,
    });
  }

  describe(_: State, plan: WritePlan, effects: Effects) {
    const { clauses, keys, spool } = this.#input;
    const toldBy = (kind: 'matched' | 'notMatched' | 'notMatchedBySource') =>
      JSON.stringify(clauses[kind].map(({ told }) => told));
    const equal = (name: string): Expression =>
      keys.nulls
        ? nullSafeEq(col(['target', name]), col(['source', name]))
        : compare('=', col(['target', name]), col(['source', name]));
    return {
      operation: 'MERGE',
      parameters: {
        predicate: JSON.stringify([printPredicate(and(...keys.fields.map(({ name }) => equal(name))))]),
        matchedPredicates: toldBy('matched'),
        notMatchedPredicates: toldBy('notMatched'),
        notMatchedBySourcePredicates: toldBy('notMatchedBySource'),
      },
      metrics: {
        numSourceRows: spool.rows,
        numTargetRowsInserted: plan.rows.inserted,
        numTargetRowsUpdated: plan.rows.updated,
        numTargetRowsDeleted: plan.rows.deleted ?? 0,
        numTargetRowsCopied: plan.rows.copied,
        numOutputRows: plan.added.rows ?? 0,
        numTargetFilesAdded: plan.added.files,
        numTargetBytesAdded: plan.added.bytes,
        numTargetFilesRemoved: plan.removed.files,
        numTargetBytesRemoved: plan.removed.bytes,
        numTargetChangeFilesAdded: effects.changes.length,
        ...targetVectorMetrics(effects),
      },
    };
  }

  close(): Promise<void> {
    return this.#input.spool.close();
  }

  /** The target rows that the merge may be about; undefined for none. */
  #about(): Expression | undefined {
    const { keys, clauses } = this.#input;
    const parts: Expression[] = [];
    if (keys.index.size > 0) parts.push(keys.bounds.predicate(keys.nulls, true));
    for (const { when } of clauses.notMatchedBySource) {
      if (!when) return and();
      parts.push(when.predicate);
    }
    return parts.length > 0 ? or(...parts) : undefined;
  }

  /** New rows of source rows that no target row has the key of. */
  async *#inserts(matched: Uint8Array, schema: StructType): AsyncGenerator<RecordBatch> {
    const { spool, keys, clauses } = this.#input;
    if (clauses.notMatched.length === 0) return;
    const filters = clauses.notMatched.map(({ when }) => when && compileFilter(when.bound));
    for (let part = 0; part < spool.parts; part++) {
      const source = await spool.part(part);
      const start = spool.startOf(part);
      let left: number[] = [];
      for (let row = 0; row < source.rows; row++) {
        if (matched[start + row] !== 1 && !keys.dropped.has(start + row)) left.push(row);
      }
      for (const [i, filter] of filters.entries()) {
        if (left.length === 0) break;
        const rows = left.length === source.rows ? source : pickRows(source, schema, Int32Array.from(left));
        const outcomes = filter?.(batchOf(rows, schema)).outcomes;
        const isChosen = (at: number) => outcomes === undefined || outcomes[at] === OUTCOME.true;
        const chosen = Int32Array.from(left.keys()).filter(isChosen);
        left = left.filter((_, at) => !isChosen(at));
        if (chosen.length === 0) continue;
        const taken = chosen.length === rows.rows ? rows : pickRows(rows, schema, chosen);
        yield batchOf(assign(clauses.notMatched[i]!.insert!, taken), schema);
      }
    }
  }
}

function targetVectorMetrics(effects: Effects): Record<string, number> {
  return Object.fromEntries(
    Object.entries(vectorMetrics(effects)).map(([name, count]) => [name.replace('num', 'numTarget'), count]),
  );
}
