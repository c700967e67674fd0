import type { Clock, Context, Ids } from '../../src/runtime/context.js';
import type { RuntimeEvent } from '../../src/runtime/events.js';

/** A clock that moves only when it is slept on or pushed. */
export class FakeClock implements Clock {
  time: number;
  constructor(start = 1_700_000_000_000) {
    this.time = start;
  }
  now(): number {
    return this.time;
  }
  monotonic(): number {
    return this.time;
  }
  async sleep(ms: number): Promise<void> {
    this.time += ms;
  }
  advance(ms: number): void {
    this.time += ms;
  }
}

let contexts = 0;

/** Ids that count up, different for each caller, and a seeded chance. */
export function fakeIds(seed = 1): Ids {
  const own = String(++contexts).padStart(8, '0');
  let count = 0;
  let state = seed >>> 0;
  return {
    uuid: () => `${own}-0000-4000-8000-${String(++count).padStart(12, '0')}`,
    random: () => {
      state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
      return state / 2 ** 32;
    },
  };
}

/** A context whose events are kept for assertions. */
export function fakeContext(
  clock: Clock = new FakeClock(),
): Context & { clock: Clock; events: RuntimeEvent[] } {
  const events: RuntimeEvent[] = [];
  return { clock, ids: fakeIds(), events, emit: (event) => events.push(event) };
}
