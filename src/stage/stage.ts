import type { Context } from '../runtime/context.js';
import type { Store } from '../store/store.js';
import { type BatchSource, Gathering } from './feed.js';
import { Memory } from './memory.js';
import { planStage, type StageSpec } from './plan.js';
import type { Pool } from './pool.js';
import type { StagedFile } from './staged.js';
import { Staging } from './staging.js';
import { Uploads } from './uploads.js';
import { Work } from './work.js';

export type { StageSpec } from './plan.js';

/**
 * Writes rows as Parquet files that no snapshot mentions: split by partition and encoded in the pool's threads, in memory bounded by `spec.memory` (the
 * source is asked for more only when there is room; what does not fit goes to a temporary file on the local disk), stored side by side. Batches hold the
 * columns of the schema in its order, partition columns included; these are left out of the files. Rows of a partition keep their order. A partition
 * gets one file, or more where `targetFileSize` is passed; no rows give no file.
 *
 * On the source's failure, an abort (`ABORTED`), a store's or a worker's failure (`OUT_OF_MEMORY`, `INTERNAL`) or a value that cannot be a partition's
 * (`INVALID_ROW`) the first error is thrown, and what was stored is deleted as well as it can be; what stays is named by `warning` events and is
 * invisible to readers.
 */
export async function stageRows(
  store: Store,
  ctx: Context,
  pool: Pool,
  source: BatchSource,
  spec: StageSpec,
): Promise<StagedFile[]> {
  const plan = planStage(spec);
  const work = new Work(spec.signal);
  const memory = new Memory(pool.slabs, spec.memory ?? pool.memory, work);
  const uploads = new Uploads(store, ctx, plan, spec, work, memory);
  const staging = new Staging(ctx, pool, plan, spec, work, memory, uploads);
  try {
    const gathering = new Gathering(plan.types);
    for await (const batch of work.guard(source)) {
      for (const _ of gathering.add(batch)) await staging.accept(gathering);
    }
    if (gathering.rows > 0) await staging.accept(gathering);
    return await staging.finish();
  } catch (error) {
    const first = await work.abandon(error);
    await uploads.discard();
    throw first;
  } finally {
    await staging.close();
    work.close();
  }
}
