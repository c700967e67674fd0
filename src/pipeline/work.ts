import type { RecordBatch } from 'apache-arrow';
import type { TableContext } from '../runtime/table-context.js';
import { col, type Expression, ge, isNull, or } from '../scan/predicate.js';
import type { State } from '../snapshot/state.js';
import { planAppend } from '../write/append.js';
import { BlindWork } from '../write/blind.js';
import { conditionOf } from '../write/condition.js';
import { stageMerge } from '../write/merge.js';
import { insideOnly, stageOverwriteWhere } from '../write/overwrite.js';
import { stageBatches } from '../write/stage-files.js';
import type { MergeSpec } from '../write/verb.js';
import type { Work } from '../write/work.js';
import type { Definition } from './definition.js';

/**
 * Stages the rows of a run as its mode has it. Rows for which `target` is not TRUE are refused (`OUTSIDE_TARGET`) before anything is committed. On failure
 * nothing stays staged.
 */
export async function stageRun(
  table: TableContext,
  definition: Definition,
  state: State,
  batches: AsyncIterable<RecordBatch>,
  target: Expression,
  signal: AbortSignal,
): Promise<Work> {
  switch (definition.mode) {
    case 'replace':
      return stageOverwriteWhere(table, state, batches, target, signal);
    case 'append-once': {
      const inside = insideOnly(batches, conditionOf(target, state.schema), table.url);
      return new BlindWork(table, 'append', await stageBatches(table, state, inside, { signal }), planAppend);
    }
    case 'upsert': {
      const inside = insideOnly(batches, conditionOf(target, state.schema), table.url);
      return stageMerge(table, state, inside, upsertSpec(definition), signal);
    }
  }
}

/** The row of the table stays unless the new one is at least as new. */
function upsertSpec({ on, order }: Definition): MergeSpec {
  if (order === undefined) return { on };
  const [source, target] = [col(['source', order]), col(['target', order])];
  return {
    on,
    whenMatched: { where: or(ge(source, target), isNull(target)), update: 'all' },
    dedupe: { by: order, order: 'last' },
  };
}
