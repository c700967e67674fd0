import type { CommitPlan } from '../commit/transaction.js';
import { TableError } from '../errors.js';
import type { Action } from '../log/actions.js';
import type { TableContext } from '../runtime/table-context.js';
import type { State } from '../snapshot/state.js';
import type { StagedFile } from '../stage/staged.js';
import { discardFiles } from './discard.js';
import type { Effects } from './effects.js';
import { appendedSince, type Isolation, isolationOn } from './isolation.js';
import {
  addActions,
  cdcActions,
  distinctPartitions,
  liveAmount,
  removeAction,
  stagedAmount,
  vectorActions,
  type WritePlan,
} from './plan.js';
import { filesOf, identityOf } from './read-files.js';
import { recordsChanges } from './rewrite.js';
import type { PlannedWrite, VerbName } from './verb.js';
import type { Work } from './work.js';

/** The live files that a verb is about, by their ids. */
export interface Candidates {
  /** Files that go whole, whatever is in them: proved by partition values or statistics. */
  readonly whole: Int32Array;
  /** Files that must be read. */
  readonly read: Int32Array;
}

/** A verb that reads the table. */
export interface Reading {
  readonly verb: VerbName;
  /** Rows of the source that are staged already, whatever the state. */
  readonly inserted: readonly StagedFile[];
  /** The files that the verb is about on a state, from the log alone. */
  candidates(state: State): Promise<Candidates>;
  /** Reads the files to be read and stages what they become. */
  execute(state: State, read: Int32Array): Promise<Effects>;
  /** How the commit is told to people. */
  describe(
    state: State,
    plan: WritePlan,
    effects: Effects,
  ): Pick<CommitPlan, 'operation' | 'parameters' | 'metrics'>;
  close(): Promise<void>;
}

/** What was staged, and a state on which executing the verb gives just that. */
interface Done {
  readonly effects: Effects;
  readonly state: State;
  readonly whole: Int32Array;
  /** The identities of the files that were read. */
  readonly read: ReadonlySet<string>;
}

/**
 * The work of a verb that reads. It holds for every state in which the files to be read are the very files that were read: then a winner touched nothing
 * that was read and added nothing that may match. Files that go whole are found anew on each state. Where write-serializable is enough it also holds for a
 * state that has, besides the files it was about, only what others appended without reading: these files are left as they are, as if they came afterwards. On any other state what was
 * staged is deleted and the verb executes again, so that the commit equals running it alone at that version.
 */
export class Rewriting implements Work {
  readonly reads = true;
  readonly #table: TableContext;
  readonly #reading: Reading;
  #done: Done | undefined;

  constructor(table: TableContext, reading: Reading) {
    this.#table = table;
    this.#reading = reading;
  }

  get verb(): VerbName {
    return this.#reading.verb;
  }

  get files(): readonly StagedFile[] {
    return [...this.#reading.inserted, ...(this.#done?.effects.files ?? [])];
  }

  async prepare(state: State): Promise<void> {
    await this.#settle(state, 'serializable');
  }

  async plan(state: State, asked?: Isolation): Promise<PlannedWrite> {
    const isolation = isolationOn(state, asked);
    const { whole, effects } = await this.#settle(state, isolation);
    const { inserted } = this.#reading;
    if (whole.length + effects.changed.length > 0)
      await state.files.load({ statistics: true, actions: true });
    const now = this.#table.ctx.clock.now();
    const gone = Array.from(whole);
    const rewritten: number[] = [];
    const actions: Action[] = gone.map((id) => removeAction(state.files.add(id), now));
    for (const { path, vectorId, vector } of effects.changed) {
      const id = state.files.find(path, vectorId);
      if (id < 0) throw new TableError('INTERNAL', `The file ${path} was read and is not there.`, { path });
      if (vector) actions.push(...vectorActions(state.files.add(id), vector, now));
      else actions.push(removeAction(state.files.add(id), now));
      rewritten.push(id);
      if (!vector) gone.push(id);
    }
    const files = [...inserted, ...effects.files];
    for (const action of addActions(files)) actions.push(action);
    for (const action of cdcActions(effects.changes)) actions.push(action);
    const removed = liveAmount(state, gone);
    const wholeRows = liveAmount(state, Array.from(whole)).rows;
    const { deleted } = effects.rows;
    const touched = [...whole, ...rewritten];
    const plan: WritePlan = {
      version: state.version,
      added: stagedAmount(files),
      removed,
      rewritten: liveAmount(state, rewritten),
      rows: {
        ...effects.rows,
        inserted: effects.rows.inserted + (stagedAmount(inserted).rows ?? 0),
        deleted: wholeRows === undefined || deleted === undefined ? undefined : wholeRows + deleted,
      },
      removedPaths: touched.map((id) => state.files.path(id)),
      partitions: distinctPartitions([...files, ...touched.map((id) => state.files.add(id))]),
    };
    const description = this.#reading.describe(state, plan, effects);
    return {
      plan,
      isEmpty: actions.length === 0,
      commit: { ...description, isBlindAppend: false, isolation, actions },
    };
  }

  async discard(): Promise<void> {
    await this.#discardEffects();
    await discardFiles(
      this.#table,
      this.#reading.inserted.map(({ path }) => path),
    );
    await this.close();
  }

  close(): Promise<void> {
    return this.#reading.close();
  }

  /** The files that go whole on a state, and what becomes of those that had to be read. */
  async #settle(state: State, isolation: Isolation): Promise<Pick<Done, 'whole' | 'effects'>> {
    const found = await this.#reading.candidates(state);
    const { whole, read } = completed(state, found);
    const wanted = await identities(state, read);
    const done = this.#done;
    if (done && sameSet(wanted, done.read)) {
      this.#done = { ...done, state, whole };
      return this.#done;
    }
    if (done && isolation === 'write-serializable') {
      const early = await this.#beforeAppends(state, found, done);
      if (early) return { whole: early, effects: done.effects };
    }
    await this.#discardEffects();
    const effects = await this.#reading.execute(state, read);
    this.#done = { effects, state, whole, read: wanted };
    return this.#done;
  }

  /** The files that go whole, where those that the verb was about are all there and others only appended to them; undefined where something else happened. */
  async #beforeAppends(state: State, found: Candidates, done: Done): Promise<Int32Array | undefined> {
    const about = new Set([
      ...(await identities(state, found.whole)),
      ...(await identities(state, found.read)),
    ]);
    const since = { from: done.state.version, to: state.version };
    const appended = await appendedSince(this.#table, about, since);
    if (!appended || appended.size === 0) return undefined;
    const { whole, read } = completed(state, {
      whole: await without(state, found.whole, appended),
      read: await without(state, found.read, appended),
    });
    const isSame =
      sameSet(await identities(state, read), done.read) &&
      sameSet(await identities(state, whole), await identities(done.state, done.whole));
    return isSame ? whole : undefined;
  }

  async #discardEffects(): Promise<void> {
    if (!this.#done) return;
    const { files, changes, vectorPaths } = this.#done.effects;
    this.#done = undefined;
    await discardFiles(this.#table, [...[...files, ...changes].map(({ path }) => path), ...vectorPaths]);
  }
}

/** Where changes are recorded, a commit that records some must record all: then files that would go whole are read as well. */
function completed(state: State, { whole, read }: Candidates): Candidates {
  if (read.length === 0 || whole.length === 0 || !recordsChanges(state)) return { whole, read };
  return { whole: new Int32Array(0), read: Int32Array.from([...whole, ...read]).sort() };
}

async function identities(state: State, ids: Int32Array): Promise<ReadonlySet<string>> {
  const files = await filesOf(state, ids);
  return new Set(files.map(({ path, deletionVector }) => identityOf(path, deletionVector)));
}

async function without(state: State, ids: Int32Array, gone: ReadonlySet<string>): Promise<Int32Array> {
  const files = await filesOf(state, ids);
  return ids.filter((_, i) => !gone.has(identityOf(files[i]!.path, files[i]!.deletionVector)));
}

function sameSet(a: ReadonlySet<string>, b: ReadonlySet<string>): boolean {
  if (a.size !== b.size) return false;
  for (const each of a) if (!b.has(each)) return false;
  return true;
}
