import type { Context } from '../runtime/context.js';
import type { Store } from '../store/store.js';
import { loadState, stateAhead, stateBy } from './load.js';
import type { State } from './state.js';

/** The newest known state of one table, shared by every reader and writer of the table in a runtime. */
export class Latest {
  readonly #store: Store;
  readonly #ctx: Context;
  #state: State | undefined;
  #confirmedAt = Number.NEGATIVE_INFINITY;
  #running: Promise<State> | undefined;
  #queued: Promise<State> | undefined;

  constructor(store: Store, ctx: Context) {
    this.#store = store;
    this.#ctx = ctx;
  }

  /** The state known now, however old; undefined before the first load. */
  peek(): State | undefined {
    return this.#state;
  }

  /** Milliseconds since the known state was the newest for certain; infinite before the first load. */
  age(): number {
    return this.#ctx.clock.monotonic() - this.#confirmedAt;
  }

  /**
   * A state that was the newest at some instant no longer than `maxStaleness` milliseconds ago; by default one read after this call.
   * Callers at the same time share the requests. Throws what `loadState` throws and keeps the state known before.
   */
  async get(maxStaleness = 0): Promise<State> {
    if (this.#state && this.age() < maxStaleness) return this.#state;
    if (!this.#running) return this.#start();
    // The load under way may have listed before this call; one more serves everyone who asks meanwhile.
    this.#queued ??= this.#running.then(
      () => this.#start(),
      () => this.#start(),
    );
    return this.#queued;
  }

  /** Takes `state` as the newest, confirmed at the monotonic instant `confirmedAt`, unless a newer one is known. */
  adopt(state: State, confirmedAt: number): void {
    if (this.#state && state.version < this.#state.version) return;
    this.#state = state;
    this.#confirmedAt = Math.max(this.#confirmedAt, confirmedAt);
  }

  /**
   * Takes the commit of `version`, whose file was read. How old the known state may be counts as before: nothing is learned of later versions. Leaves the state as
   * it is where that is not the one of the version before. Errors as `stateBy`.
   */
  take(version: number, file: Uint8Array): void {
    const known = this.#state;
    if (known?.version === version - 1) this.#state = stateBy(this.#store, this.#ctx, known, [file]);
  }

  /**
   * Asks for the next `count` versions without a listing, and takes those that are there: for who has reason to believe that there are so many. Gives the known
   * state, the newest where none is known. Age as with `take`; errors as `stateAhead`.
   */
  async advance(count: number, signal?: AbortSignal): Promise<State> {
    const known = this.#state;
    if (!known) return this.get();
    const state = await stateAhead(this.#store, this.#ctx, known, count, signal);
    // Whoever else has learned of a newer one, or that this one is no more, knows better.
    if (this.#state === known) this.#state = state;
    return this.#state ?? this.get();
  }

  /** Forgets what is known, so that the next load starts from the store alone. */
  forget(): void {
    this.#state = undefined;
    this.#confirmedAt = Number.NEGATIVE_INFINITY;
  }

  #start(): Promise<State> {
    this.#queued = undefined;
    const startedAt = this.#ctx.clock.monotonic();
    const before = this.#state;
    const run = loadState(this.#store, this.#ctx, { previous: before }).then((state) => {
      // A lower version than the one known is the truth where the table was made anew, unless a commit here came meanwhile.
      if (this.#state === before) this.forget();
      this.adopt(state, startedAt);
      return this.#state ?? state;
    });
    const done = run.finally(() => {
      if (this.#running === done) this.#running = undefined;
    });
    this.#running = done;
    return done;
  }
}
