/** First come, first served: one task at a time. A table's commits in one process stand in such a line, so that they never conflict with each other. */
export class Queue {
  #last: Promise<unknown> = Promise.resolve();
  #handedIn = 0;

  /** How many tasks were handed in so far: whoever remembers the number behind its own task can tell whether others stand behind it. */
  get handedIn(): number {
    return this.#handedIn;
  }

  /** Runs `task` when every task handed in before has ended, however it ended. */
  run<T>(task: () => Promise<T>): Promise<T> {
    this.#handedIn++;
    const result = this.#last.then(task);
    this.#last = result.catch(() => undefined);
    return result;
  }
}
