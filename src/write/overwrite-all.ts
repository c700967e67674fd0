import { TableError } from '../errors.js';
import type { Action, MetadataAction, ProtocolAction } from '../log/actions.js';
import { assertWritable } from '../log/features.js';
import type { TableContext } from '../runtime/table-context.js';
import { parseDdl } from '../schema/ddl.js';
import { serializeSchema } from '../schema/schema-json.js';
import type { StructType } from '../schema/types.js';
import { protocolFor, validateSchema } from '../schema/validate.js';
import type { State } from '../snapshot/state.js';
import type { StagedFile } from '../stage/staged.js';
import { BlindWork } from './blind.js';
import { withMapping, withoutMapping } from './mapped-schema.js';
import { addActions, distinctPartitions, liveAmount, plainPlan, removeAction, writeCommit } from './plan.js';
import { withFeatures } from './protocol-upgrade.js';
import { type FileRules, stageBatches } from './stage-files.js';
import type { PlannedWrite } from './verb.js';
import type { Work } from './work.js';

/** What the table becomes when everything is replaced: as it is, or with another schema. Throws `INVALID_SCHEMA`, `UNSUPPORTED_FEATURE`. */
export function replacedTable(
  table: TableContext,
  state: State,
  schema: string | StructType | undefined,
): { readonly rules: FileRules; readonly actions: readonly Action[] } {
  if (schema === undefined) return { rules: state, actions: [] };
  const { url } = table;
  const wanted = typeof schema === 'string' ? parseDdl(schema) : schema;
  const { metadata } = state;
  const { configuration, partitionColumns } = metadata;
  const lost = partitionColumns.filter((name) => !wanted.fields.some((field) => field.name === name));
  if (lost.length > 0) {
    throw new TableError(
      'INVALID_SCHEMA',
      `${url} is partitioned by ${partitionColumns.join(', ')}, so its new schema needs ${lost.join(', ')} too.`,
      { url, missing: lost },
    );
  }
  validateSchema(wanted, partitionColumns, configuration);
  if (serializeSchema(withoutMapping(wanted)) === serializeSchema(withoutMapping(state.schema)))
    return { rules: state, actions: [] };
  const mapped = withMapping(table, wanted, configuration);
  const next: MetadataAction = {
    ...metadata,
    schemaString: serializeSchema(mapped.schema),
    configuration: mapped.configuration,
  };
  const protocol: ProtocolAction = withFeatures(state.protocol, protocolFor(mapped.schema, configuration));
  assertWritable(protocol, next, url);
  const upgrade: Action[] = protocol === state.protocol ? [] : [{ protocol }];
  return {
    rules: { schema: mapped.schema, metadata: next, protocol, domains: state.domains },
    actions: [...upgrade, { metaData: next }],
  };
}

/** Stages rows that replace everything in the table. */
export async function stageOverwriteAll(
  table: TableContext,
  { rules, actions }: ReturnType<typeof replacedTable>,
  batches: Parameters<typeof stageBatches>[2],
  signal?: AbortSignal,
): Promise<Work> {
  const files = await stageBatches(table, rules, batches, { signal });
  return new BlindWork(table, 'overwrite', files, (newest, staged) =>
    planOverwriteAll(newest, staged, { rules, actions }, table.ctx.clock.now()),
  );
}

async function planOverwriteAll(
  state: State,
  files: readonly StagedFile[],
  { rules, actions: before }: ReturnType<typeof replacedTable>,
  deletionTimestamp: number,
): Promise<PlannedWrite> {
  const ids = Array.from(state.files.ids());
  if (ids.length > 0) await state.files.load({ statistics: true, actions: true });
  const adds = ids.map((id) => state.files.add(id));
  const paths = ids.map((id) => state.files.path(id));
  const plan = {
    ...plainPlan(state, files, liveAmount(state, ids), paths),
    partitions: distinctPartitions([...files, ...adds]),
    ...(before.length > 0 ? { schema: rules.schema } : {}),
  };
  const removes = adds.map((add) => removeAction(add, deletionTimestamp));
  const parameters = { mode: 'Overwrite', partitionBy: JSON.stringify(state.metadata.partitionColumns) };
  const actions = [...before, ...removes, ...addActions(files)];
  return {
    plan,
    isEmpty: actions.length === 0,
    commit: writeCommit(plan, actions, parameters, false),
  };
}
