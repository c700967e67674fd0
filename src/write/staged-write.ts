import { checkWinners } from '../commit/conflict.js';
import { type Planned, transact } from '../commit/transaction.js';
import { isTableError } from '../errors.js';
import type { Action } from '../log/actions.js';
import type { TableContext } from '../runtime/table-context.js';
import { decodePath } from '../schema/path.js';
import type { State } from '../snapshot/state.js';
import type { StagedFile } from '../stage/staged.js';
import { assertMayRemove, assertWithin, stagedAmount, type WritePlan } from './plan.js';
import {
  isReplay,
  NOTHING,
  type PlannedWrite,
  planVerb,
  type Verb,
  type WriteOptions,
  type WriteResult,
} from './verb.js';

/** Rows that lie in the table's store as files which no snapshot mentions yet, and what is to be done with them. */
export class StagedWrite {
  readonly verb: Verb;
  /** Plain data. */
  readonly files: readonly StagedFile[];
  readonly #table: TableContext;
  readonly #base: State;
  readonly #options: WriteOptions;

  constructor(
    table: TableContext,
    base: State,
    verb: Verb,
    files: readonly StagedFile[],
    options: WriteOptions,
  ) {
    this.#table = table;
    this.#base = base;
    this.#options = options;
    this.verb = verb;
    this.files = files;
  }

  /** What a commit would do now, pinned to the newest version. Commits nothing. Throws what a commit would refuse. */
  async plan(): Promise<WritePlan> {
    return (await this.#planOn(await this.#table.latest.get())).plan;
  }

  /**
   * Commits the staged files by the verb, in one atomic commit, planned again on the newest version whenever another writer was first.
   * Throws `COMMIT_CONFLICT`, `GUARD_REFUSED`, `APPEND_ONLY`: nothing was committed and the staged files are deleted as well as can be;
   * `COMMIT_STATE_UNKNOWN`: it may have been committed, and nothing is deleted.
   */
  async commit(): Promise<WriteResult> {
    try {
      const { committed, version, attempts, result } = await transact(
        this.#table,
        (state) => this.#decide(state),
        this.#options,
      );
      if (!committed) await this.discard();
      return { ...result, version, attempts: committed ? attempts : 0 };
    } catch (error) {
      if (!isTableError(error, 'COMMIT_STATE_UNKNOWN')) await this.discard();
      throw error;
    }
  }

  /** Deletes the staged files as well as can be. Not to be called once a commit was tried, unless it is proved to have failed. */
  async discard(): Promise<void> {
    await discardFiles(this.#table, this.files);
  }

  async #decide(state: State): Promise<Planned<Omit<WriteResult, 'version' | 'attempts'>>> {
    if (isReplay(state, this.#options.txn))
      return { settled: { status: 'skipped', added: NOTHING, removed: NOTHING } };
    const token = this.#options.txn;
    if (this.files.length === 0 && !token)
      return { settled: { status: 'unchanged', added: NOTHING, removed: NOTHING } };
    const { plan, commit } = await this.#planOn(state);
    const record: Action[] = token ? [{ txn: { ...token, lastUpdated: this.#table.ctx.clock.now() } }] : [];
    return {
      plan: { ...commit, actions: [...record, ...commit.actions] },
      result: { status: 'committed', added: stagedAmount(this.files), removed: plan.removed },
    };
  }

  async #planOn(state: State): Promise<PlannedWrite> {
    checkWinners(this.#table.url, this.#base, state);
    const planned = await planVerb(this.verb, state, this.files, this.#table.ctx.clock.now());
    assertMayRemove(this.#table.url, state, planned.plan.removed);
    assertWithin(this.#options, planned.plan);
    return planned;
  }
}

/** Deletes files that are proved to be in no commit. A failure leaves them, invisible, for vacuum, and is told as an event. */
export async function discardFiles(table: TableContext, files: readonly StagedFile[]): Promise<void> {
  await Promise.all(
    files.map(async (file) => {
      try {
        await table.store.delete(decodePath(file.path));
      } catch (error) {
        table.ctx.emit({
          type: 'warning',
          message: `A staged file could not be deleted: ${String(error)}`,
          file: file.path,
        });
      }
    }),
  );
}
