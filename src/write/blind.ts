import type { TableContext } from '../runtime/table-context.js';
import type { State } from '../snapshot/state.js';
import type { StagedFile } from '../stage/staged.js';
import { discardFiles } from './discard.js';
import type { PlannedWrite, VerbName } from './verb.js';
import type { Work } from './work.js';

/** The work of a verb that reads nothing of the table: its files fit any state, and only what they replace is planned anew. */
export class BlindWork implements Work {
  readonly verb: VerbName;
  readonly files: readonly StagedFile[];
  readonly reads: boolean;
  readonly #table: TableContext;
  readonly #plan: (state: State, files: readonly StagedFile[]) => Promise<PlannedWrite>;

  constructor(
    table: TableContext,
    verb: VerbName,
    files: readonly StagedFile[],
    plan: (state: State, files: readonly StagedFile[]) => Promise<PlannedWrite>,
  ) {
    this.#table = table;
    this.verb = verb;
    // Without rows, whether everything is gone already.
    this.reads = verb === 'overwrite';
    this.files = files;
    this.#plan = plan;
  }

  plan(state: State): Promise<PlannedWrite> {
    return this.#plan(state, this.files);
  }

  discard(): Promise<void> {
    return discardFiles(
      this.#table,
      this.files.map(({ path }) => path),
    );
  }

  async close(): Promise<void> {}
}
