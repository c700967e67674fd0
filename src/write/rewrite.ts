import type { RecordBatch } from 'apache-arrow';
import { hiddenColumns } from '../commit/row-ids.js';
import { isActive } from '../log/features.js';
import { nullColumn } from '../parquet/column/assemble.js';
import type { TableContext } from '../runtime/table-context.js';
import type { StructType } from '../schema/types.js';
import type { State } from '../snapshot/state.js';
import { vectorId } from '../snapshot/vector-id.js';
import type { StagedFile } from '../stage/staged.js';
import { type ChangeKind, ChangeWriter } from './change-files.js';
import { batchOf, pickRows, type Table, tableOf } from './columns.js';
import { discardFiles } from './discard.js';
import type { ChangedFile, Effects, MarkedFile, RowClause } from './effects.js';
import { identityOf, readFileRows } from './read-files.js';
import type { RowRules } from './rules.js';
import { assign, readsColumn } from './set.js';
import type { Spool } from './spool.js';
import { stageBatches } from './stage-files.js';
import { writeVectors } from './vectors.js';

export interface RewriteInput {
  readonly marked: readonly MarkedFile[];
  readonly clauses: readonly RowClause[];
  /** The rows that clauses of a merge take from the source. */
  readonly source?: Spool;
  /** Rows to add in the same commit, as batches of the table's schema. */
  readonly inserts?: AsyncIterable<RecordBatch>;
  /** What new and changed rows must satisfy. */
  readonly rules?: RowRules;
  /** Rows that the same commit adds by files staged before: read where changes are recorded. */
  readonly recorded?: AsyncIterable<RecordBatch>;
  readonly signal?: AbortSignal;
}

/** True where files keep their rows and get deletion vectors instead of being written again. */
export function usesVectors(state: State): boolean {
  return isActive('deletionVectors', state.protocol, state.metadata);
}

/** True where every change of a row is recorded. */
export function recordsChanges(state: State): boolean {
  return isActive('changeDataFeed', state.protocol, state.metadata);
}

/**
 * Stages what the marked rows become: files written again without them, or deletion vectors where the table has these and the log knows the files' rows; the
 * new rows of updates; the inserts; change data files where the table records changes. Files of which every live row is deleted are not read. Nothing is
 * committed. On failure what was staged is deleted as well as can be. Throws `INVALID_ROW`, `FILE_NOT_FOUND`, `CORRUPT_DATA_FILE`, store errors, `ABORTED`.
 */
export async function rewriteFiles(table: TableContext, state: State, input: RewriteInput): Promise<Effects> {
  const rewrite = new Rewrite(table, state, input);
  return rewrite.run();
}

class Rewrite {
  readonly #table: TableContext;
  readonly #state: State;
  readonly #input: RewriteInput;
  readonly #schema: StructType;
  /** What the files written again have: the table's columns, and where rows are tracked the hidden ones. */
  readonly #written: StructType;
  readonly #changes: ChangeWriter | undefined;
  /** Files that get a vector, in the order of the vectors. */
  readonly #vectored = new Set<MarkedFile>();
  readonly #counts = { inserted: 0, updated: 0, deleted: 0, copied: 0 };

  constructor(table: TableContext, state: State, input: RewriteInput) {
    this.#table = table;
    this.#state = state;
    this.#input = input;
    this.#schema = state.schema;
    this.#written = writtenSchema(state);
    this.#changes =
      recordsChanges(state) && input.marked.length > 0
        ? new ChangeWriter(table, state, input.signal)
        : undefined;
  }

  async run(): Promise<Effects> {
    await this.#state.files.load({ statistics: true, actions: true }, { signal: this.#input.signal });
    const vectors = usesVectors(this.#state);
    for (const each of this.#input.marked) {
      for (const clause of each.clauses) {
        if (this.#input.clauses[clause]!.kind === 'delete') this.#counts.deleted++;
        else this.#counts.updated++;
      }
      const live = this.#liveRows(each);
      if (vectors && live !== undefined && live > each.positions.length) this.#vectored.add(each);
    }
    let files: StagedFile[] = [];
    let vectorPaths: string[] = [];
    try {
      files = await stageBatches(this.#table, this.#state, this.#rows(), {
        schema: this.#written,
        signal: this.#input.signal,
      });
      const changes = (await this.#changes?.finish()) ?? [];
      const written =
        this.#vectored.size > 0
          ? await writeVectors(
              this.#table,
              [...this.#vectored],
              (each) => this.#rowsOf(each)!,
              this.#input.signal,
            )
          : undefined;
      vectorPaths = written ? [written.path] : [];
      let next = 0;
      const changed = this.#input.marked.map((each): ChangedFile => {
        const { path, deletionVector } = each.file;
        const vector = this.#vectored.has(each) ? written!.vectors[next++]! : undefined;
        return { path, vectorId: vectorId(deletionVector), ...(vector ? { vector } : {}) };
      });
      return { changed, files, changes, vectorPaths, rows: this.#counts };
    } catch (error) {
      const changes = (await this.#changes?.finish().catch(() => [])) ?? [];
      await discardFiles(this.#table, [...files, ...changes].map(({ path }) => path).concat(vectorPaths));
      throw error;
    }
  }

  /** The rows of the new files, in the order of the files that they come from, inserts last. */
  async *#rows(): AsyncGenerator<RecordBatch> {
    const { inserts, marked, signal } = this.#input;
    const read = marked.filter((each) => this.#mustRead(each));
    for (const each of marked) if (!read.includes(each)) yield* this.#withoutReading(each);
    const pending = new Map<string, { readonly each: MarkedFile; next: number }>(
      read.map((each) => [identityOf(each.file.path, each.file.deletionVector), { each, next: 0 }]),
    );
    const files = read.map(({ file }) => file);
    const reading = { fields: this.#schema.fields, rowIds: this.#tracks, signal };
    for await (const { file, table, positions } of readFileRows(this.#table, this.#state, files, reading)) {
      const key = identityOf(file.path, file.deletionVector);
      const cursor = pending.get(key)!;
      const { each } = cursor;
      const rows: number[][] = this.#input.clauses.map(() => []);
      const marks: number[][] = this.#input.clauses.map(() => []);
      const kept = unmarked(each.positions, cursor.next, positions, (row) => {
        const clause = each.clauses[cursor.next]!;
        rows[clause]!.push(row);
        marks[clause]!.push(cursor.next++);
      });
      if (!this.#vectored.has(each) && kept.length > 0) {
        this.#counts.copied += kept.length;
        yield batchOf(kept.length === table.rows ? table : this.#pick(table, kept), this.#written);
      }
      for (const [clause, chosen] of rows.entries()) {
        if (chosen.length === 0) continue;
        yield* this.#changed(each, clause, this.#pick(table, chosen), marks[clause]!);
      }
    }
    for await (const given of inserts ?? []) {
      const batch = this.#ruled(given);
      this.#counts.inserted += batch.numRows;
      await this.#changes?.add(batch, 'insert');
      yield this.#tracks ? this.#withIds(tableOf(batch, this.#schema), undefined) : batch;
    }
    if (!this.#changes) return;
    for await (const batch of this.#input.recorded ?? []) await this.#changes.add(batch, 'insert');
  }

  /** What a clause makes of rows of a file; `marks` are their places in the file's marks. */
  async *#changed(
    each: MarkedFile,
    clause: number,
    target: Table,
    marks: readonly number[],
  ): AsyncGenerator<RecordBatch> {
    const what = this.#input.clauses[clause]!;
    if (what.kind === 'delete') return this.#record(target, 'delete');
    await this.#record(target, 'update_preimage');
    if (what.sides === 'target') {
      yield* this.#updated(assign(what.set, target), target);
      return;
    }
    for await (const { source, rows } of this.#sourceRows(each, marks)) {
      const own = this.#pick(target, rows);
      const pair = { rows: rows.length, columns: [struct(source), struct(this.#visible(own))] };
      yield* this.#updated(assign(what.set, pair), own);
    }
  }

  /** `from`: the rows as they were, where they were read. */
  async *#updated(made: Table, from: Table | undefined): AsyncGenerator<RecordBatch> {
    const batch = this.#ruled(batchOf(made, this.#schema));
    await this.#changes?.add(batch, 'update_postimage');
    yield this.#tracks ? this.#withIds(tableOf(batch, this.#schema), from) : batch;
  }

  get #tracks(): boolean {
    return this.#written !== this.#schema;
  }

  /** New or changed rows: these keep their ids, and all get the commit's version. */
  #withIds(made: Table, from: Table | undefined): RecordBatch {
    const none = nullColumn(LONG, made.rows);
    const id = from ? from.columns[this.#schema.fields.length]! : none;
    return batchOf({ rows: made.rows, columns: [...made.columns, id, none] }, this.#written);
  }

  #visible(table: Table): Table {
    return { rows: table.rows, columns: table.columns.slice(0, this.#schema.fields.length) };
  }

  /** New rows that need nothing of the rows they stand for: those stay where they are, under a vector. */
  async *#withoutReading(each: MarkedFile): AsyncGenerator<RecordBatch> {
    for (const [clause, what] of this.#input.clauses.entries()) {
      if (what.kind === 'delete') continue;
      const marks = Array.from(each.clauses.keys()).filter((mark) => each.clauses[mark] === clause);
      if (marks.length === 0) continue;
      for await (const { source } of this.#sourceRows(each, marks)) {
        const { dataType } = what.set.environment.fields[TARGET]!;
        const pair = { rows: source.rows, columns: [struct(source), nullColumn(dataType, source.rows)] };
        yield* this.#updated(assign(what.set, pair), undefined);
      }
    }
  }

  /** The source rows of marks, part by part of the spool; `rows` are places in `marks`. */
  async *#sourceRows(
    { sources }: MarkedFile,
    marks: readonly number[],
  ): AsyncGenerator<{ source: Table; rows: Int32Array }> {
    const spool = this.#input.source!;
    const byPart = new Map<number, { rows: number[]; sources: number[] }>();
    marks.forEach((mark, row) => {
      const source = sources![mark]!;
      const index = spool.partOf(source);
      let part = byPart.get(index);
      if (!part) {
        part = { rows: [], sources: [] };
        byPart.set(index, part);
      }
      part.rows.push(row);
      part.sources.push(source - spool.startOf(index));
    });
    for (const [index, { rows, sources }] of [...byPart].sort(([a], [b]) => a - b)) {
      const source = pickRows(await spool.part(index), spool.schema, Int32Array.from(sources));
      yield { source, rows: Int32Array.from(rows) };
    }
  }

  #ruled(batch: RecordBatch): RecordBatch {
    return this.#input.rules?.enforce(batch) ?? batch;
  }

  async #record(rows: Table, kind: ChangeKind): Promise<void> {
    if (this.#changes) await this.#changes.add(batchOf(rows, this.#schema), kind);
  }

  #pick(table: Table, rows: readonly number[] | Int32Array): Table {
    return pickRows(table, this.#written, rows instanceof Int32Array ? rows : Int32Array.from(rows));
  }

  /** Whether any of a file's rows are needed: to be copied, changed or recorded. */
  #mustRead(each: MarkedFile): boolean {
    if (this.#changes) return true;
    // Changed rows take their ids along.
    if (this.#tracks && each.clauses.some((clause) => this.#input.clauses[clause]!.kind === 'update'))
      return true;
    const updates = this.#input.clauses.filter(
      (clause, i) => clause.kind === 'update' && each.clauses.includes(i),
    );
    const needsTarget = updates.some(
      (clause) => clause.kind === 'update' && (clause.sides === 'target' || readsColumn(clause.set, TARGET)),
    );
    if (needsTarget) return true;
    return !this.#vectored.has(each) && this.#liveRows(each) !== each.positions.length;
  }

  #rowsOf(each: MarkedFile): number | undefined {
    return this.#state.files.numRecords(each.id);
  }

  #liveRows(each: MarkedFile): number | undefined {
    const rows = this.#rowsOf(each);
    return rows === undefined ? undefined : rows - (each.file.deletionVector?.cardinality ?? 0);
  }
}

const LONG = { type: 'long' } as const;

/** The rows at `positions` that have no mark; the others are visited. Both ascend, the marks from `next` on. */
function unmarked(
  marked: ArrayLike<number>,
  next: number,
  positions: Uint32Array,
  visit: (row: number) => void,
): Int32Array {
  const kept = new Int32Array(positions.length);
  let count = 0;
  let mark = marked[next];
  for (let row = 0; row < positions.length; row++) {
    if (positions[row] === mark) {
      visit(row);
      mark = marked[++next];
    } else kept[count++] = row;
  }
  return kept.subarray(0, count);
}

function writtenSchema({ schema, metadata }: State): StructType {
  const hidden = hiddenColumns(metadata);
  if (!hidden) return schema;
  const names = [hidden.rowId, hidden.rowCommitVersion];
  const fields = names.map((name) => ({ name, dataType: LONG, nullable: true, metadata: {} }));
  return { type: 'struct', fields: [...schema.fields, ...fields] };
}

/** The places of the two sides in the environment of a merge. */
export const SOURCE = 0;
export const TARGET = 1;

function struct({ rows, columns }: Table) {
  return { length: rows, nullCount: 0, children: columns };
}
