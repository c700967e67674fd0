import { findField } from '../parquet/column/read-tree.js';
import type { Leaf, SchemaNode } from '../parquet/flat/footer.js';
import { parsePartitionValue } from '../schema/partition-value.js';
import type { Datum } from '../schema/types.js';
import type { BoundColumn, BoundPredicate } from './bind.js';
import { type OpenFile, type RowGroup, rowGroupsOf } from './open-file.js';
import type { ScanPlan } from './plan.js';
import { pruneRowGroups } from './prune-parquet.js';

/** The row groups of a file that may hold wanted rows, by the statistics in its footer; all of them without a predicate. */
export function wantedRowGroups(
  plan: ScanPlan,
  open: OpenFile,
  where: BoundPredicate | undefined,
): RowGroup[] {
  const groups = rowGroupsOf(open.footer);
  if (where === undefined || groups.length === 0) return groups;
  const kept = pruneRowGroups(where, open.footer, {
    leaf: (column) => leafOf(plan, open, column),
    constant: (column) => constantOf(plan, open, column),
  });
  return Array.from(kept, (index) => groups[index]!);
}

/** The leaf of a column; undefined for one that the file lacks, that is no leaf, or that does not come from the file. */
export function leafOf(plan: ScanPlan, open: OpenFile, column: BoundColumn): Leaf | undefined {
  return isStored(plan, column) ? nodeOf(plan, open, column)?.leaf : undefined;
}

/** The value of a column that is one in the whole file; NULL where the file lacks the column or a struct around it. */
export function constantOf(plan: ScanPlan, open: OpenFile, column: BoundColumn): Datum | undefined {
  const planned = plan.columns.find(({ field }) => field.name === column.path[0]);
  if (planned?.from === 'partition') {
    const raw = open.file.partitionValues[planned.physical] ?? null;
    return parsePartitionValue(column.type, raw, { legacyTimestampZone: plan.legacyTimestampZone });
  }
  if (!isStored(plan, column)) return undefined;
  return nodeOf(plan, open, column) === undefined ? null : undefined;
}

function isStored(plan: ScanPlan, column: BoundColumn): boolean {
  return plan.columns.some(({ field, from }) => from === 'file' && field.name === column.path[0]);
}

function nodeOf(plan: ScanPlan, open: OpenFile, column: BoundColumn): SchemaNode | undefined {
  let node: SchemaNode | undefined = open.footer.root;
  for (const field of column.fields) node = node && findField(node, field, plan.mapping);
  return node;
}
