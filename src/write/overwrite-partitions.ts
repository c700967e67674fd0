import { columnMappingMode, physicalName } from '../schema/mapping.js';
import { partitionKey } from '../schema/partition-value.js';
import type { DataType } from '../schema/types.js';
import type { PartitionColumn, State } from '../snapshot/state.js';
import type { StagedFile } from '../stage/staged.js';
import { addActions, liveAmount, plainPlan, removeAction, writeCommit } from './plan.js';
import type { PlannedWrite } from './verb.js';

/**
 * Adds the staged files and removes every live file of the partitions they lie in. Partitions are compared by the typed value, NULL equal to NULL, so
 * that two spellings of one instant are one partition. Reads no data file.
 */
export async function planOverwritePartitions(
  state: State,
  files: readonly StagedFile[],
  deletionTimestamp: number,
): Promise<PlannedWrite> {
  const ids = liveIdsIn(state, files);
  if (ids.length > 0) await state.files.load({ statistics: true, actions: true });
  const paths = ids.map((id) => state.files.path(id));
  const plan = plainPlan(state, files, liveAmount(state, ids), paths);
  const removes = ids.map((id) => removeAction(state.files.add(id), deletionTimestamp));
  const parameters = {
    mode: 'Overwrite',
    partitionBy: JSON.stringify(state.metadata.partitionColumns),
    isDynamicPartitionOverwrite: 'true',
  };
  return {
    plan,
    isEmpty: files.length === 0,
    commit: writeCommit(plan, [...removes, ...addActions(files)], parameters, false),
  };
}

interface Column {
  readonly name: string;
  readonly type: DataType;
  readonly live: PartitionColumn | undefined;
}

function liveIdsIn(state: State, files: readonly StagedFile[]): number[] {
  const columns = partitionColumnsOf(state);
  // Each distinct value is parsed once; files are then compared by small integers.
  const codeOf = columns.map(() => new Map<string, number>());
  const intern = (column: number, raw: string | null): number => {
    const key = partitionKey([columns[column]!.type], [raw]);
    const codes = codeOf[column]!;
    const known = codes.get(key);
    if (known !== undefined) return known;
    codes.set(key, codes.size);
    return codes.size - 1;
  };
  const wanted = new Set(
    files.map((file) =>
      columns.map((column, i) => intern(i, file.partitionValues[column.name] ?? null)).join(' '),
    ),
  );
  const liveCodes = columns.map((column, i) => column.live?.values.map((raw) => intern(i, raw)) ?? []);
  const nullCodes = columns.map((_, i) => intern(i, null));
  const ids: number[] = [];
  for (const id of state.files.ids()) {
    const key = columns
      .map((column, i) => liveCodes[i]![column.live?.codes[id] ?? -1] ?? nullCodes[i])
      .join(' ');
    if (wanted.has(key)) ids.push(id);
  }
  return ids;
}

function partitionColumnsOf(state: State): Column[] {
  const mode = columnMappingMode(state.metadata, state.protocol);
  return state.metadata.partitionColumns.map((logical) => {
    const field = state.schema.fields.find((candidate) => candidate.name === logical)!;
    const name = physicalName(field, mode);
    return { name, type: field.dataType, live: state.files.partition(name) };
  });
}
