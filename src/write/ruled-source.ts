import type { RecordBatch } from 'apache-arrow';
import type { TableContext } from '../runtime/table-context.js';
import type { RowsTap } from './replay.js';
import { RowRules } from './rules.js';
import { batchesOf, type RowSource } from './source.js';
import type { FileRules } from './stage-files.js';

/** The rows of a source in the table's schema, with defaults where they say nothing, seen by `tap`. Generated columns may still be NULL. */
export function givenBatches(rows: RowSource, rules: RowRules, tap?: RowsTap): AsyncIterable<RecordBatch> {
  const batches = batchesOf(rows, rules.given, rules.defaults);
  return tap ? tap.pass(batches, rules.given) : batches;
}

/** The rows of a source as they are to be written: complete, and checked against all that the table demands of rows. Throws as `RowRules.enforce`. */
export function ruledBatches(
  table: Pick<TableContext, 'url' | 'ctx'>,
  state: FileRules,
  rows: RowSource,
  tap?: RowsTap,
): AsyncIterable<RecordBatch> {
  const rules = new RowRules(state, table.url, table.ctx.clock.now());
  const batches = givenBatches(rows, rules, tap);
  return rules.isEmpty ? batches : rules.enforceAll(batches);
}
