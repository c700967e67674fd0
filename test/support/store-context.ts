import type { Context } from '../../src/runtime/context.js';
import type { RequestEvent, RuntimeEvent } from '../../src/runtime/events.js';
import { systemClock, systemIds } from '../../src/runtime/system.js';

/** The machine's clock and ids, with the events kept, for tests against real stores. */
export interface StoreTestContext extends Context {
  readonly events: RuntimeEvent[];
  /** The request events so far, in order. */
  requests(): RequestEvent[];
}

export function testContext(parts: Partial<Pick<Context, 'clock' | 'ids'>> = {}): StoreTestContext {
  const events: RuntimeEvent[] = [];
  return {
    clock: parts.clock ?? systemClock,
    ids: parts.ids ?? systemIds,
    events,
    emit: (event) => events.push(event),
    requests: () => events.filter((event) => event.type === 'request'),
  };
}
