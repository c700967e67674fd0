import { transactTogether } from '../commit/group.js';
import { type CommitPlan, type Planned, transact } from '../commit/transaction.js';
import { isTableError, TableError } from '../errors.js';
import type { TableContext } from '../runtime/table-context.js';
import type { State } from '../snapshot/state.js';
import type { StagedFile } from '../stage/staged.js';
import { assertMayRemove, assertWithin, NO_ROWS, NOTHING, tokenActions, type WritePlan } from './plan.js';
import {
  assertFollows,
  assertSameRows,
  describeRecord,
  ROWS_DIGEST,
  type RowsTap,
  recordOf,
} from './replay.js';
import type { PlannedWrite, VerbName, WriteOptions, WriteResult } from './verb.js';
import { type Work, winnersCheckOf } from './work.js';

/** A verb half done: what it adds lies in the table's store as files which no snapshot mentions yet. */
export class StagedWrite {
  readonly #table: TableContext;
  readonly #base: State;
  readonly #work: Work;
  readonly #options: WriteOptions;
  readonly #tap: RowsTap | undefined;
  #planned: WritePlan | undefined;

  private constructor(
    table: TableContext,
    base: State,
    work: Work,
    options: WriteOptions,
    tap: RowsTap | undefined,
  ) {
    this.#tap = tap;
    this.#table = table;
    this.#base = base;
    this.#work = work;
    this.#options = options;
  }

  /** Executes the work on the state it was staged against. On failure nothing stays staged. Callers use `table.stage`. */
  static async prepare(
    table: TableContext,
    base: State,
    work: Work,
    options: WriteOptions,
    tap?: RowsTap,
  ): Promise<StagedWrite> {
    try {
      await work.prepare?.(base);
      return new StagedWrite(table, base, work, options, tap);
    } catch (error) {
      await work.discard();
      throw error;
    }
  }

  get verb(): VerbName {
    return this.#work.verb;
  }

  /** Plain data. A verb that reads the table stages other files when what it read has changed. */
  get files(): readonly StagedFile[] {
    return this.#work.files;
  }

  /**
   * What a commit would do now, pinned to the newest version. Commits nothing. `commit` holds to it: see there. Throws what a commit would refuse.
   */
  async plan(): Promise<WritePlan> {
    this.#planned = (await this.#planOn(await this.#table.latest.get())).plan;
    return this.#planned;
  }

  /**
   * Commits by the verb, in one atomic commit, planned again on the newest version whenever another writer was first; a verb that reads executes again when
   * what it read was touched. After `plan()` the commit may remove no other files than the plan says, unless `replan`.
   * Throws `COMMIT_CONFLICT`, `GUARD_REFUSED`, `APPEND_ONLY`: nothing was committed and the staged files are deleted as well as can be;
   * `COMMIT_STATE_UNKNOWN`: it may have been committed, and nothing is deleted.
   */
  async commit(options: { readonly replan?: boolean } = {}): Promise<WriteResult> {
    const pinned = options.replan ? undefined : this.#planned;
    try {
      const commit = this.verb === 'append' && !this.#work.checkWinners ? transactTogether : transact;
      const { committed, version, attempts, result } = await commit(
        this.#table,
        (state) => this.#decide(state, pinned),
        this.#options,
        winnersCheckOf(this.#work),
      );
      if (!committed) await this.discard();
      return { ...result, version, attempts: committed ? attempts : 0 };
    } catch (error) {
      if (!isTableError(error, 'COMMIT_STATE_UNKNOWN')) await this.discard();
      throw error;
    } finally {
      await this.#work.close();
    }
  }

  /** Deletes the staged files as well as can be. Not to be called once a commit was tried, unless it is proved to have failed. */
  discard(): Promise<void> {
    return this.#work.discard();
  }

  async #decide(
    state: State,
    pinned: WritePlan | undefined,
  ): Promise<Planned<Omit<WriteResult, 'version' | 'attempts'>>> {
    const token = this.#options.txn;
    const nothing = { added: NOTHING, removed: NOTHING, rows: NO_ROWS };
    const record = recordOf(state, token, this.#table.ctx.clock.now());
    if (record) {
      const { recorded, digest } = await describeRecord(this.#table, state, record);
      if (this.#tap) assertSameRows(this.#table.url, recorded, digest, this.#tap.digest);
      return { settled: { status: 'skipped', ...nothing, recorded } };
    }
    if (token) assertFollows(this.#table.url, state, token);
    const { plan, commit, isEmpty } = await this.#planOn(state);
    if (pinned) assertAsPlanned(this.#table.url, pinned, plan);
    if (isEmpty && !token) {
      // Nothing to do on a state that may lie behind says nothing of the table now.
      const isSettled = !this.#work.reads || (await this.#table.latest.get()).version === state.version;
      return isSettled ? { settled: { status: 'unchanged', ...nothing } } : { stale: true };
    }
    const tokens = tokenActions(token, this.#table.ctx.clock.now());
    const { added, removed, rows } = plan;
    return {
      plan: { ...commit, ...this.#facts(commit), actions: [...tokens, ...commit.actions] },
      result: { status: 'committed', added, removed, rows },
    };
  }

  #facts({ facts }: CommitPlan): Pick<CommitPlan, 'facts'> {
    return this.#tap ? { facts: { ...facts, [ROWS_DIGEST]: { ...this.#tap.digest } } } : {};
  }

  async #planOn(state: State): Promise<PlannedWrite> {
    winnersCheckOf(this.#work)(this.#table.url, this.#base, state);
    const planned = await this.#work.plan(state, this.#options.isolation);
    assertMayRemove(this.#table.url, state, planned.plan);
    assertWithin(this.#options, planned.plan);
    return planned;
  }
}

/** A plan that was shown is a promise about what goes. */
function assertAsPlanned(url: string, shown: WritePlan, now: WritePlan): void {
  const wanted = new Set(shown.removedPaths);
  if (wanted.size === now.removedPaths.length && now.removedPaths.every((path) => wanted.has(path))) return;
  throw new TableError(
    'COMMIT_CONFLICT',
    `The plan was made on version ${shown.version} of ${url} and would remove ${shown.removedPaths.length} files; on version ${now.version} it would remove others (${now.removedPaths.length}). Nothing was committed; plan again, or commit with replan.`,
    { url, what: 'plan', readVersion: shown.version, version: now.version },
  );
}
