import { Gathering } from '../../src/commit/gathering.js';
import { Pace } from '../../src/commit/pace.js';
import { Queue } from '../../src/commit/queue.js';
import type { Context } from '../../src/runtime/context.js';
import type { TableContext } from '../../src/runtime/table-context.js';
import { Latest } from '../../src/snapshot/latest.js';
import { Pool } from '../../src/stage/pool.js';
import type { Store } from '../../src/store/store.js';

/** A table's context over any store, for tests that stand between the table and its store. */
export function tableContextOver(
  store: Store,
  ctx: Context,
  pool: Pool = new Pool(ctx, { workers: 1 }),
): TableContext {
  const queue = new Queue();
  return {
    url: store.url,
    store,
    ctx,
    latest: new Latest(store, ctx),
    queue,
    appends: new Gathering(ctx.clock, queue),
    pace: new Pace(ctx),
    openings: new Set(),
    pool: async () => pool,
    assertSafe: async () => undefined,
  };
}
