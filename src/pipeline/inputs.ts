import type { Interval } from '../interval/interval.js';
import type { Runtime } from '../runtime/runtime.js';
import type { TableContext } from '../runtime/table-context.js';
import { printPredicate } from '../scan/print.js';
import { pruneFiles } from '../scan/prune.js';
import { Scan } from '../scan/scan.js';
import { loadState } from '../snapshot/load.js';
import type { State } from '../snapshot/state.js';
import { conditionOf, parsed } from '../write/condition.js';
import { filesOf, identityOf } from '../write/read-files.js';
import type { Where } from '../write/verb.js';
import type { Definition, ReadInput } from './definition.js';
import type { InputFacts } from './facts.js';
import { bindTarget } from './target.js';

export interface InputsOptions {
  readonly runtime: Runtime;
  readonly definition: Definition;
  readonly interval: Interval;
  /** The table that is written, and its state at the start of the run. */
  readonly target: TableContext;
  readonly base: State;
  /** Reads these versions instead of the newest ones. */
  readonly recorded?: readonly InputFacts[];
  readonly signal: AbortSignal;
}

/** The tables that one run reads: each pinned at the first read, each read recorded. */
export class Inputs {
  readonly #options: InputsOptions;
  readonly #pinned = new Map<string, Promise<State>>();
  readonly #facts = new Map<string, InputFacts>();
  readonly #ownReads: (Where | undefined)[] = [];

  constructor(options: InputsOptions) {
    this.#options = options;
  }

  /** What `produce` calls. */
  readonly read: ReadInput = async (reference, options = {}) => {
    const { runtime, target, signal } = this.#options;
    const { version, during, ...scanOptions } = options;
    const table = runtime.table(typeof reference === 'string' ? reference : reference.url);
    const state = await this.#pin(table, version);
    const where = during === undefined ? scanOptions.where : this.#during(during, scanOptions.where, state);
    const facts: InputFacts = {
      url: table.url,
      id: state.metadata.id,
      version: state.version,
      where: where === undefined ? null : printPredicate(parsed(where)),
    };
    this.#facts.set(JSON.stringify(facts), facts);
    if (table === target && state === this.#options.base) this.#ownReads.push(where);
    return new Scan(table, async () => state, { ...scanOptions, where, signal });
  };

  get facts(): readonly InputFacts[] {
    return [...this.#facts.values()];
  }

  /** True when rows of the written table were read. */
  get readsTarget(): boolean {
    return this.#ownReads.length > 0;
  }

  /** True when what was read of the written table is no longer what is there: other files may hold rows that were asked for. */
  async targetChanged(now: State): Promise<boolean> {
    const { base } = this.#options;
    if (now.version === base.version) return false;
    for (const where of this.#ownReads) {
      const [before, after] = await Promise.all([filesFor(base, where), filesFor(now, where)]);
      if (before.size !== after.size || [...before].some((file) => !after.has(file))) return true;
    }
    return false;
  }

  #during(column: string, scope: Where | undefined, state: State): Where {
    const { definition, interval } = this.#options;
    return bindTarget({ ...definition, column, scope }, state).predicate(interval);
  }

  #pin(table: TableContext, version: number | undefined): Promise<State> {
    const { recorded, target, base } = this.#options;
    const wanted = version ?? recorded?.find(({ url }) => url === table.url)?.version;
    const key = `${table.url} ${wanted ?? ''}`;
    let state = this.#pinned.get(key);
    if (!state) {
      if (wanted !== undefined) state = loadState(table.store, table.ctx, { version: wanted });
      else state = table === target ? Promise.resolve(base) : table.latest.get();
      this.#pinned.set(key, state);
    }
    return state;
  }
}

async function filesFor(state: State, where: Where | undefined): Promise<Set<string>> {
  const ids =
    where === undefined
      ? state.files.ids()
      : (await pruneFiles(state, conditionOf(where, state.schema).bound)).ids;
  const files = await filesOf(state, ids);
  return new Set(files.map(({ path, deletionVector }) => identityOf(path, deletionVector)));
}
