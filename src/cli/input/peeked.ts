import type { OnBytes } from './source.js';

/** Rows of standard input that are held to guess its columns from. */
const LOOK_ROWS = 10_000;

type Start<T> = (onBytes: OnBytes, signal: AbortSignal) => AsyncIterable<readonly T[]>;

/**
 * Rows that are looked at before they are read. What can be read again is looked at whole; of standard input the first rows are held, and given back
 * when it is read.
 */
export class Peeked<T> {
  readonly #repeatable: boolean;
  readonly #start: Start<T>;
  #held: (readonly T[])[] = [];
  #rest: AsyncIterator<readonly T[]> | undefined;
  #bytes = 0;
  #onBytes: OnBytes = (bytes) => {
    this.#bytes += bytes;
  };

  constructor(repeatable: boolean, start: Start<T>) {
    this.#repeatable = repeatable;
    this.#start = start;
  }

  /** The rows to guess from. */
  async *look(signal: AbortSignal): AsyncGenerator<readonly T[]> {
    if (this.#repeatable) {
      yield* this.#start(() => undefined, signal);
      return;
    }
    this.#rest ??= this.#start((bytes) => this.#onBytes(bytes), signal)[Symbol.asyncIterator]();
    let rows = this.#held.reduce((sum, some) => sum + some.length, 0);
    yield* this.#held;
    while (rows < LOOK_ROWS) {
      const next = await this.#rest.next();
      if (next.done) return;
      this.#held.push(next.value);
      rows += next.value.length;
      yield next.value;
    }
  }

  /** All rows, once. */
  async *read(onBytes: OnBytes, signal: AbortSignal): AsyncGenerator<readonly T[]> {
    if (this.#rest === undefined) {
      yield* this.#start(onBytes, signal);
      return;
    }
    onBytes(this.#bytes);
    this.#onBytes = onBytes;
    yield* this.#held.splice(0);
    for (let next = await this.#rest.next(); !next.done; next = await this.#rest.next()) yield next.value;
  }
}
