import type { RuntimeEvent } from './events.js';

/** Time as the core sees it. Handed in, so that tests and simulation bring their own. */
export interface Clock {
  /** Milliseconds since the Unix epoch. */
  now(): number;
  /** Milliseconds from an arbitrary start; never goes back. */
  monotonic(): number;
  /** Resolves after `ms` milliseconds; rejects with `ABORTED` when the signal fires first. Does not keep the process alive longer than its caller. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

/** Identity and chance as the core sees them. */
export interface Ids {
  /** A random (version 4) UUID in lower case. */
  uuid(): string;
  /** A number in [0, 1), for jitter. */
  random(): number;
}

/** What every layer below the public API is handed: clock, ids and a place for events. */
export interface Context {
  readonly clock: Clock;
  readonly ids: Ids;
  emit(event: RuntimeEvent): void;
}
