import type { RecordBatch } from 'apache-arrow';
import { TableError } from '../errors.js';
import type { TableContext } from '../runtime/table-context.js';
import { pruneFiles } from '../scan/prune.js';
import type { StructField } from '../schema/types.js';
import type { State } from '../snapshot/state.js';
import type { StagedFile } from '../stage/staged.js';
import { conditionOf } from './condition.js';
import type { Effects } from './effects.js';
import { keyFields, keyText, SourceKeys } from './keyed-source.js';
import { Marks } from './marks.js';
import { wholeOrRead } from './overwrite.js';
import { type WritePlan, writeCommit } from './plan.js';
import { filesOf, readFileRows, readStagedRows } from './read-files.js';
import { rewriteFiles } from './rewrite.js';
import { type Candidates, type Reading, Rewriting } from './rewriting.js';
import { stageBatches } from './stage-files.js';
import type { ReplaceUsingSpec } from './verb.js';
import type { Work } from './work.js';

/**
 * Stages rows that replace those of the table with the same key. Several rows may share a key: together they replace what had it. Throws `INVALID_ROW` for NULL in
 * a key column unless allowed: NULL would match nothing elsewhere, and a rerun would double the row.
 */
export async function stageReplaceUsing(
  table: TableContext,
  state: State,
  batches: AsyncIterable<RecordBatch>,
  spec: ReplaceUsingSpec,
  signal?: AbortSignal,
): Promise<Work> {
  const fields = keyFields(state.schema, spec.columns, 'columns');
  const keys = new SourceKeys(state.schema, fields, { nulls: true, duplicates: 'keep' });
  const indexes = fields.map((field) => state.schema.fields.indexOf(field));
  const inserted = await stageBatches(
    table,
    state,
    collected(batches, keys, spec.nullKeys ? [] : indexes, fields),
    { signal },
  );
  return new Rewriting(table, new ReplaceUsing(table, keys, inserted, spec, signal));
}

async function* collected(
  batches: AsyncIterable<RecordBatch>,
  keys: SourceKeys,
  notNull: readonly number[],
  fields: readonly StructField[],
): AsyncGenerator<RecordBatch> {
  for await (const batch of batches) {
    for (const index of notNull) {
      const data = batch.data.children[index]!;
      if (data.nullCount === 0) continue;
      let row = 0;
      while (data.getValid(row)) row++;
      const indexes = fields.map((field) => batch.schema.fields.findIndex(({ name }) => name === field.name));
      const text = keyText(batch, row, fields, indexes);
      throw new TableError(
        'INVALID_ROW',
        `A row has NULL in its key (${text}), which other engines match with nothing, so that running again would double the row. Nothing was committed. Give it a value, or take NULL as equal to NULL with nullKeys: true.`,
        { key: text },
      );
    }
    keys.add(batch);
    yield batch;
  }
}

class ReplaceUsing implements Reading {
  readonly verb = 'replaceUsing';
  readonly inserted: readonly StagedFile[];
  readonly #table: TableContext;
  readonly #keys: SourceKeys;
  readonly #spec: ReplaceUsingSpec;
  readonly #signal: AbortSignal | undefined;

  constructor(
    table: TableContext,
    keys: SourceKeys,
    inserted: readonly StagedFile[],
    spec: ReplaceUsingSpec,
    signal: AbortSignal | undefined,
  ) {
    this.#table = table;
    this.#keys = keys;
    this.inserted = inserted;
    this.#spec = spec;
    this.#signal = signal;
  }

  async candidates(state: State): Promise<Candidates> {
    const none = new Int32Array(0);
    const { bounds, index } = this.#keys;
    if (index.size === 0) return { whole: none, read: none };
    const condition = conditionOf(bounds.predicate(true, true), state.schema);
    if (bounds.isExact()) return wholeOrRead(state, condition, this.#signal);
    return { whole: none, read: (await pruneFiles(state, condition.bound, { signal: this.#signal })).ids };
  }

  async execute(state: State, read: Int32Array): Promise<Effects> {
    const files = await filesOf(state, read, this.#signal);
    const marks = new Marks(read, files, false);
    const { bounds, fields, index } = this.#keys;
    const rows = readFileRows(this.#table, state, files, {
      fields,
      ...(files.length > 0 ? { where: bounds.predicate(true, false), isLax: true } : {}),
      signal: this.#signal,
    });
    for await (const { file, table, positions } of rows) {
      const found = index.find(table.columns, table.rows, true);
      for (let row = 0; row < found.length; row++) if (found[row]! >= 0) marks.add(file, positions[row]!, 0);
    }
    return rewriteFiles(this.#table, state, {
      marked: marks.finish(),
      clauses: [{ kind: 'delete' }],
      recorded: readStagedRows(this.#table, state, this.inserted, this.#signal),
      signal: this.#signal,
    });
  }

  describe(state: State, plan: WritePlan) {
    const parameters = {
      mode: 'Overwrite',
      partitionBy: JSON.stringify(state.metadata.partitionColumns),
      replaceUsingCols: this.#spec.columns.join(','),
    };
    return writeCommit(plan, [], parameters, false);
  }

  async close(): Promise<void> {}
}
