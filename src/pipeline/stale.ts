import { isTableError } from '../errors.js';
import type { Action, AddAction } from '../log/actions.js';
import { readCommitFile } from '../log/commit-file.js';
import type { Runtime } from '../runtime/runtime.js';
import type { TableContext } from '../runtime/table-context.js';
import { bindPredicate } from '../scan/bind.js';
import { anyMayMatch } from '../scan/prune-actions.js';
import { parsePredicate } from '../scan/sql.js';
import type { State } from '../snapshot/state.js';
import type { InputFacts } from './facts.js';

/** What became of what a run read. `unknown`: the commits since then are gone. */
export type Freshness = 'fresh' | 'stale' | 'unknown';

/** Commits read at once. */
const AHEAD = 32;

/** Judges what runs read. Each commit of an input is read once, each predicate judged once a commit. */
export class Staleness {
  readonly #runtime: Runtime;
  readonly #inputs = new Map<string, Promise<InputHistory>>();

  constructor(runtime: Runtime) {
    this.#runtime = runtime;
  }

  /** `stale` when a later commit of an input added or removed data that may match what was read of it. `oldest` is the oldest version anyone will ask about. */
  async judge(inputs: readonly InputFacts[], oldest: (url: string) => number): Promise<Freshness> {
    let result: Freshness = 'fresh';
    for (const input of inputs) {
      let history = this.#inputs.get(input.url);
      if (!history) {
        history = InputHistory.open(this.#runtime.table(input.url), oldest(input.url));
        this.#inputs.set(input.url, history);
      }
      const freshness = await (await history).judge(input);
      if (freshness === 'stale') return 'stale';
      if (freshness === 'unknown') result = 'unknown';
    }
    return result;
  }
}

/** What happened to a table since some version. */
class InputHistory {
  readonly #state: State | undefined;
  /** By version, those that changed data, newest first. */
  readonly #changes: readonly { readonly version: number; readonly touched: Touched }[];
  /** Commits up to this version are gone. */
  readonly #goneUpTo: number;
  readonly #newestTouch = new Map<string | null, Promise<number>>();

  private constructor(
    state: State | undefined,
    changes: readonly { readonly version: number; readonly touched: Touched }[],
    goneUpTo: number,
  ) {
    this.#state = state;
    this.#changes = changes;
    this.#goneUpTo = goneUpTo;
  }

  static async open(table: TableContext, oldest: number): Promise<InputHistory> {
    let state: State;
    try {
      state = await table.latest.get();
    } catch (error) {
      if (isTableError(error, 'NOT_A_TABLE')) return new InputHistory(undefined, [], 0);
      throw error;
    }
    const changes: { version: number; touched: Touched }[] = [];
    for (let newest = state.version; newest > oldest; newest -= AHEAD) {
      const versions = Array.from({ length: Math.min(AHEAD, newest - oldest) }, (_, i) => newest - i);
      const commits = await Promise.all(versions.map((version) => readCommitFile(table.store, version)));
      for (const [i, actions] of commits.entries()) {
        if (!actions) return new InputHistory(state, changes, versions[i]!);
        const touched = touchedBy(actions, state.metadata.partitionColumns.length > 0);
        if (touched) changes.push({ version: versions[i]!, touched });
      }
    }
    return new InputHistory(state, changes, oldest);
  }

  async judge({ id, version, where }: InputFacts): Promise<Freshness> {
    if (!this.#state) return 'unknown';
    if (this.#state.metadata.id !== id) return 'stale';
    let touch = this.#newestTouch.get(where);
    if (!touch) {
      touch = this.#lastTouch(where);
      this.#newestTouch.set(where, touch);
    }
    if ((await touch) > version) return 'stale';
    return version < this.#goneUpTo ? 'unknown' : 'fresh';
  }

  /** The newest version that may have touched the rows of a predicate; -1 for none that is known. */
  async #lastTouch(where: string | null): Promise<number> {
    const { metadata, protocol, schema } = this.#state!;
    const [newest] = this.#changes;
    if (newest === undefined) return -1;
    if (where === null) return newest.version;
    const bound = bindPredicate(parsePredicate(where), schema);
    for (const { version, touched } of this.#changes) {
      if (touched === 'all') return version;
      if (await anyMayMatch({ metadata, protocol, schema, adds: touched }, bound)) return version;
    }
    return -1;
  }
}

/** The files whose rows a commit added or removed; `all` where it does not tell which rows those were. */
type Touched = 'all' | readonly Pick<AddAction, 'partitionValues' | 'stats'>[];

function touchedBy(actions: readonly Action[], isPartitioned: boolean): Touched | undefined {
  const files: Pick<AddAction, 'partitionValues' | 'stats'>[] = [];
  for (const action of actions) {
    if ('add' in action && action.add.dataChange) files.push(action.add);
    if (!('remove' in action) || !action.remove.dataChange) continue;
    const { partitionValues, stats } = action.remove;
    if (isPartitioned && !partitionValues) return 'all';
    files.push({ partitionValues: partitionValues ?? {}, stats });
  }
  return files.length > 0 ? files : undefined;
}
