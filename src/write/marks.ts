import type { TableContext } from '../runtime/table-context.js';
import type { BoundPredicate } from '../scan/bind.js';
import type { ScanFile } from '../scan/plan.js';
import type { Predicate } from '../scan/predicate.js';
import type { State } from '../snapshot/state.js';
import type { MarkedFile } from './effects.js';
import { filesOf, identityOf, readFileRows } from './read-files.js';

/** A predicate with its bound form. */
export interface Condition {
  readonly predicate: Predicate;
  readonly bound: BoundPredicate;
}

/** Collects the marked rows of files, which come in ascending positions. */
export class Marks {
  readonly #files = new Map<
    string,
    { id: number; file: ScanFile; positions: number[]; clauses: number[]; sources: number[] }
  >();
  readonly #ids: ReadonlyMap<string, number>;
  readonly #withSources: boolean;

  constructor(ids: Int32Array, files: readonly ScanFile[], withSources: boolean) {
    this.#ids = new Map(
      files.map((file, i) => [identityOf(file.path, file.deletionVector), ids[i]!] as const),
    );
    this.#withSources = withSources;
  }

  add(file: ScanFile, position: number, clause: number, source = -1): void {
    const key = identityOf(file.path, file.deletionVector);
    let marked = this.#files.get(key);
    if (!marked) {
      marked = { id: this.#ids.get(key)!, file, positions: [], clauses: [], sources: [] };
      this.#files.set(key, marked);
    }
    marked.positions.push(position);
    marked.clauses.push(clause);
    if (this.#withSources) marked.sources.push(source);
  }

  finish(): MarkedFile[] {
    return [...this.#files.values()].map(({ id, file, positions, clauses, sources }) => ({
      id,
      file,
      positions: Uint32Array.from(positions),
      clauses: Uint8Array.from(clauses),
      sources: this.#withSources ? Int32Array.from(sources) : undefined,
    }));
  }
}

/** Finds the rows for which a condition is TRUE; files without one are not among the result. Reads only the columns that the condition needs. */
export async function markWhere(
  table: TableContext,
  state: State,
  ids: Int32Array,
  { predicate, bound }: Condition,
  signal?: AbortSignal,
): Promise<MarkedFile[]> {
  const files = await filesOf(state, ids, signal);
  const marks = new Marks(ids, files, false);
  const rows = readFileRows(table, state, files, {
    fields: [],
    where: predicate,
    whereColumns: bound.columns.map(({ path }) => path[0]!),
    signal,
  });
  for await (const { file, positions } of rows)
    for (const position of positions) marks.add(file, position, 0);
  return marks.finish();
}
