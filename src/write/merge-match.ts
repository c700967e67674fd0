import type { TableContext } from '../runtime/table-context.js';
import { compileFilter, type Filter, OUTCOME } from '../scan/evaluate.js';
import type { StructField, StructType } from '../schema/types.js';
import type { State } from '../snapshot/state.js';
import { batchOf, pickRows, type Table } from './columns.js';
import type { MarkedFile } from './effects.js';
import type { SourceKeys } from './keyed-source.js';
import { Marks } from './marks.js';
import type { MergeClause, MergeClauses } from './merge-clauses.js';
import { filesOf, readFileRows } from './read-files.js';
import type { Spool } from './spool.js';

export interface Matches {
  readonly marked: readonly MarkedFile[];
  /** For each source row 1 where a target row has its key. */
  readonly matched: Uint8Array;
}

export interface MatchInput {
  readonly keys: SourceKeys;
  readonly spool: Spool;
  readonly clauses: MergeClauses;
  readonly signal?: AbortSignal;
}

/**
 * Finds the target rows that clauses are about, reading the key columns and those that conditions need. Clauses are numbered: those of matched rows, then those
 * of rows not matched by the source.
 */
export async function matchFiles(
  table: TableContext,
  state: State,
  ids: Int32Array,
  input: MatchInput,
): Promise<Matches> {
  const { keys, spool, clauses, signal } = input;
  const files = await filesOf(state, ids, signal);
  const marks = new Marks(ids, files, true);
  const matched = new Uint8Array(spool.rows);
  const fields = neededFields(state.schema, keys.fields, clauses);
  const targetSchema: StructType = { type: 'struct', fields };
  const keyColumns = keys.fields.map((field) => fields.indexOf(field));
  const onBoth = new PairFilter(clauses.matched, spool, targetSchema);
  const onTarget = clauses.notMatchedBySource.map(({ when }) => when && compileFilter(when.bound));
  const restricts = onTarget.length === 0 && files.length > 0;
  const rows = readFileRows(table, state, files, {
    fields,
    ...(restricts ? { where: keys.bounds.predicate(keys.nulls, false), isLax: true } : {}),
    signal,
  });
  for await (const { file, table: target, positions } of rows) {
    const found = keys.index.find(
      keyColumns.map((i) => target.columns[i]!),
      target.rows,
      keys.nulls,
    );
    const hits = hitsOf(found);
    for (const row of hits) matched[found[row]!] = 1;
    const clauseOf = await onBoth.clauses(target, found, hits);
    if (onTarget.length === 0) {
      hits.forEach((row, i) => {
        if (clauseOf[i]! >= 0) marks.add(file, positions[row]!, clauseOf[i]!, found[row]!);
      });
      continue;
    }
    const others = unmatchedClauses(found, onTarget, target, targetSchema, clauses.matched.length);
    hits.forEach((row, i) => {
      others[row] = clauseOf[i]!;
    });
    for (let row = 0; row < found.length; row++)
      if (others[row]! >= 0) marks.add(file, positions[row]!, others[row]!, found[row]!);
  }
  return { marked: marks.finish(), matched };
}

/** The key columns, then those of the target that conditions read. */
function neededFields(
  schema: StructType,
  keys: readonly StructField[],
  clauses: MergeClauses,
): StructField[] {
  const names = new Set<string>();
  for (const { when } of clauses.matched)
    for (const { path } of when?.bound.columns ?? []) if (path[0] === 'target') names.add(path[1]!);
  for (const { when } of clauses.notMatchedBySource)
    for (const { path } of when?.bound.columns ?? []) names.add(path[0]!);
  return [...keys, ...schema.fields.filter((field) => names.has(field.name) && !keys.includes(field))];
}

/** Picks the clause of target rows that a source row was found for. */
class PairFilter {
  readonly #filters: readonly (Filter | undefined)[];
  readonly #spool: Spool;
  readonly #target: StructType;
  readonly #pair: StructType;

  constructor(clauses: readonly MergeClause[], spool: Spool, target: StructType) {
    this.#filters = clauses.map(({ when }) => when && compileFilter(when.bound));
    this.#spool = spool;
    this.#target = target;
    const side = (name: string, dataType: StructType): StructField => ({
      name,
      dataType,
      nullable: false,
      metadata: {},
    });
    this.#pair = { type: 'struct', fields: [side('source', spool.schema), side('target', target)] };
  }

  /** For each of the target rows `hits`, for which a source row was found, the number of its clause, or -1. */
  async clauses(target: Table, found: Int32Array, hits: readonly number[]): Promise<Int16Array> {
    const none = this.#filters.length === 0;
    const result = new Int16Array(hits.length).fill(none || this.#filters[0] ? -1 : 0);
    if (none || this.#filters[0] === undefined) return result;
    const parts = new Map<number, number[]>();
    hits.forEach((row, hit) => {
      const part = this.#spool.partOf(found[row]!);
      const group = parts.get(part);
      if (group) group.push(hit);
      else parts.set(part, [hit]);
    });
    for (const [part, group] of parts) await this.#choose(target, found, hits, part, group, result);
    return result;
  }

  async #choose(
    target: Table,
    found: Int32Array,
    hits: readonly number[],
    part: number,
    group: readonly number[],
    result: Int16Array,
  ): Promise<void> {
    const start = this.#spool.startOf(part);
    const sources = Int32Array.from(group, (hit) => found[hits[hit]!]! - start);
    const source = pickRows(await this.#spool.part(part), this.#spool.schema, sources);
    const own = pickRows(
      target,
      this.#target,
      Int32Array.from(group, (hit) => hits[hit]!),
    );
    const columns = [source, own].map((side) => ({
      length: side.rows,
      nullCount: 0,
      children: side.columns,
    }));
    const batch = batchOf({ rows: group.length, columns }, this.#pair);
    for (const [clause, filter] of this.#filters.entries()) {
      const outcomes = filter?.(batch).outcomes;
      group.forEach((hit, i) => {
        if (result[hit] === -1 && (outcomes === undefined || outcomes[i] === OUTCOME.true))
          result[hit] = clause;
      });
    }
  }
}

function hitsOf(found: Int32Array): number[] {
  const hits: number[] = [];
  for (let row = 0; row < found.length; row++) if (found[row]! >= 0) hits.push(row);
  return hits;
}

/** For each target row that no source row was found for the number of its clause, or -1. */
function unmatchedClauses(
  found: Int32Array,
  filters: readonly (Filter | undefined)[],
  target: Table,
  schema: StructType,
  firstClause: number,
): Int16Array {
  const result = new Int16Array(found.length).fill(-1);
  const batch = batchOf(target, schema);
  for (const [i, filter] of filters.entries()) {
    const outcomes = filter?.(batch).outcomes;
    for (let row = 0; row < found.length; row++) {
      if (found[row]! >= 0 || result[row] !== -1) continue;
      if (outcomes === undefined || outcomes[row] === OUTCOME.true) result[row] = firstClause + i;
    }
  }
  return result;
}
