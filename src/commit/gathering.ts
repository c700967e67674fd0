import type { Clock } from '../runtime/context.js';
import type { Queue } from './queue.js';

/** How long those whose rows are on their way are waited for. */
const PATIENCE_MS = 1_000;

interface Waiting<T> {
  readonly members: T[];
  readonly ticket: number;
}

/**
 * Who waits at the end of a line waits together: those that join are served as one task when their turn comes. Nobody passes a task that others handed in
 * between. A turn that comes while more are expected than have joined waits for them, so that many who start at once become few groups; one alone never waits.
 */
export class Gathering<T> {
  readonly #clock: Clock;
  readonly #queue: Queue;
  readonly #expected = new Set<{ readonly since: number }>();
  #waiting: Waiting<T> | undefined;
  #wake: () => void = () => undefined;

  constructor(clock: Clock, queue: Queue) {
    this.#clock = clock;
    this.#queue = queue;
  }

  /** Announces one that will join soon. What it gives back is to be called once it has joined, or will not. */
  expect(): () => void {
    const arrival = { since: this.#clock.monotonic() };
    this.#expected.add(arrival);
    return () => {
      this.#expected.delete(arrival);
      this.#wake();
    };
  }

  /** Puts `member` into the group at the end of the line, or into a new one for which `serve` is called at its turn. `serve` must not throw. */
  join(member: T, serve: (members: readonly T[]) => Promise<void>): void {
    if (this.#waiting?.ticket === this.#queue.handedIn) {
      this.#waiting.members.push(member);
      this.#wake();
      return;
    }
    const members = [member];
    void this.#queue.run(async () => {
      await this.#gather(group);
      if (this.#waiting === group) this.#waiting = undefined;
      await serve(members);
    });
    const group = { members, ticket: this.#queue.handedIn };
    this.#waiting = group;
  }

  async #gather(group: Waiting<T>): Promise<void> {
    while (group.ticket === this.#queue.handedIn) {
      const left = this.#patienceLeft(group.members.length);
      if (left <= 0) return;
      const stop = new AbortController();
      const changed = new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
      await Promise.race([changed, this.#clock.sleep(left, stop.signal).catch(() => undefined)]);
      stop.abort();
    }
  }

  /** Milliseconds to wait unless someone joins; 0 where no more are expected than have joined. */
  #patienceLeft(joined: number): number {
    const now = this.#clock.monotonic();
    const lefts = [...this.#expected].map(({ since }) => PATIENCE_MS - (now - since));
    const patient = lefts.filter((left) => left > 0);
    return patient.length > joined ? Math.min(...patient) : 0;
  }
}
