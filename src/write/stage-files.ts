import type { RecordBatch } from 'apache-arrow';
import { parseJson } from '../log/json.js';
import { tableProperties } from '../log/properties.js';
import type { TableContext } from '../runtime/table-context.js';
import { columnMappingMode } from '../schema/mapping.js';
import type { Json, JsonObject, StructType } from '../schema/types.js';
import { assertStorable } from '../schema/validate.js';
import type { State } from '../snapshot/state.js';
import { stageRows } from '../stage/stage.js';
import type { StagedFile } from '../stage/staged.js';

/** The part of a state that says how files of a table are written. */
export type FileRules = Pick<State, 'schema' | 'metadata' | 'protocol'> & Partial<Pick<State, 'domains'>>;

export interface StageFilesOptions {
  /** The table's by default. */
  readonly schema?: StructType;
  /** A folder of the table for files that are no data files. */
  readonly dataFolder?: string;
  /** Divides the memory among so many writes at once. */
  readonly share?: number;
  readonly signal?: AbortSignal;
}

/** Stages batches of the table's Arrow types as the table's properties ask for. Effect and errors as `stageRows` and `assertStorable`. */
export async function stageBatches(
  table: TableContext,
  { schema, metadata, protocol, domains }: FileRules,
  batches: AsyncIterable<RecordBatch>,
  options: StageFilesOptions = {},
): Promise<StagedFile[]> {
  assertStorable(options.schema ?? schema);
  const properties = tableProperties(metadata.configuration);
  const pool = await table.pool();
  const { share, signal, dataFolder } = options;
  return stageRows(table.store, table.ctx, pool, batches, {
    schema: options.schema ?? schema,
    mapping: columnMappingMode(metadata, protocol),
    partitionColumns: metadata.partitionColumns,
    targetFileSize: properties.targetFileSize,
    stats: { ...properties.dataSkipping, always: clusteringColumns(domains) },
    ...(share === undefined ? {} : { memory: Math.floor(pool.memory / share) }),
    ...(dataFolder === undefined ? {} : { dataFolder }),
    signal,
  });
}

/** The physical paths of the columns that a clustered table is ordered by: writers owe their statistics (protocol: Writer Requirements for Clustered Table). */
function clusteringColumns(domains: State['domains'] | undefined): readonly (readonly string[])[] {
  const domain = domains?.get('delta.clustering');
  if (!domain) return [];
  const { clusteringColumns: columns } = parseJson(domain.configuration) as JsonObject;
  return Array.isArray(columns)
    ? columns.map((column: Json) => (Array.isArray(column) ? column : [column]).map(String))
    : [];
}
