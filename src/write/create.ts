import { attemptCommit, unknownState } from '../commit/attempt.js';
import { withHiddenColumns, withRowIds } from '../commit/row-ids.js';
import { isTableError, TableError } from '../errors.js';
import { serializeActions } from '../log/action-lines.js';
import type { Action, MetadataAction } from '../log/actions.js';
import { buildCommitInfo } from '../log/commit-info.js';
import { assertWritable } from '../log/features.js';
import { isLogFile } from '../log/paths.js';
import { assertProperties, tableProperties } from '../log/properties.js';
import type { TableContext } from '../runtime/table-context.js';
import { parseDdl } from '../schema/ddl.js';
import { serializeSchema } from '../schema/schema-json.js';
import type { StructType } from '../schema/types.js';
import { protocolFor, validateSchema } from '../schema/validate.js';
import { firstState } from '../snapshot/apply.js';
import type { StagedFile } from '../stage/staged.js';
import { ENGINE_INFO } from '../version.js';
import { discardFiles } from './discard.js';
import { withMapping } from './mapped-schema.js';
import { addActions, stagedAmount } from './plan.js';
import { RowRules } from './rules.js';
import type { RowSource } from './source.js';
import { stageFiles } from './stage.js';

/** What a new table is. */
export interface TableDefinition {
  /** DDL text (`id long not null, day date`) or a schema. */
  readonly schema: string | StructType;
  /** Names of the partition columns, in order. */
  readonly partitionBy?: readonly string[];
  /** Table properties, such as `delta.checkpointInterval`. */
  readonly properties?: Readonly<Record<string, string>>;
  readonly name?: string;
  readonly description?: string;
}

export interface CreateOptions {
  /** The first rows, committed with the table as version 0. */
  readonly rows?: RowSource;
  readonly signal?: AbortSignal;
  /** Milliseconds to go on trying to learn what became of the commit; 10 minutes by default. */
  readonly retryFor?: number;
}

/**
 * Creates version 0 at the table's URL in one atomic commit. Throws `TABLE_EXISTS` where there is a log, `INVALID_SCHEMA`, `INVALID_INPUT`, `UNSAFE_STORE`:
 * nothing was created, and staged rows are deleted as well as can be; `COMMIT_STATE_UNKNOWN`: it may have been, and nothing is deleted.
 */
export async function create(
  table: TableContext,
  definition: TableDefinition,
  options: CreateOptions = {},
): Promise<void> {
  const { metadata, schema } = describe(table, definition);
  const protocol = protocolFor(schema, metadata.configuration);
  assertWritable(protocol, metadata, table.url);
  // What no row could be checked by is refused now rather than with the first row.
  new RowRules({ schema, metadata, protocol }, table.url);
  await assertAbsent(table);
  await table.assertSafe();
  const files = options.rows
    ? await stageFiles(table, { schema, metadata, protocol }, options.rows, options.signal)
    : [];
  try {
    await commitFirst(
      table,
      [
        { protocol },
        { metaData: metadata },
        ...withRowIds({ protocol, metadata, domains: new Map() }, addActions(files), 0),
      ],
      metadata,
      files,
      options,
    );
  } catch (error) {
    if (!isTableError(error, 'COMMIT_STATE_UNKNOWN'))
      await discardFiles(
        table,
        files.map(({ path }) => path),
      );
    throw error;
  }
}

async function commitFirst(
  table: TableContext,
  actions: readonly Action[],
  metadata: MetadataAction,
  files: readonly StagedFile[],
  options: CreateOptions,
): Promise<void> {
  const { clock, ids } = table.ctx;
  const txnId = ids.uuid();
  const timestamp = clock.now();
  const amount = stagedAmount(files);
  const commitInfo = buildCommitInfo({
    operation: 'CREATE TABLE',
    parameters: {
      partitionBy: JSON.stringify(metadata.partitionColumns),
      clusterBy: '[]',
      description: metadata.description ?? null,
      isManaged: 'false',
      properties: JSON.stringify(metadata.configuration),
    },
    metrics:
      amount.files > 0
        ? { numFiles: amount.files, numOutputRows: amount.rows ?? 0, numOutputBytes: amount.bytes }
        : {},
    isBlindAppend: true,
    timestamp,
    inCommitTimestamp: tableProperties(metadata.configuration).inCommitTimestamps,
    engineInfo: ENGINE_INFO,
    txnId,
  });
  const all = [{ commitInfo }, ...actions];
  const putAt = clock.monotonic();
  const attempt = await attemptCommit(table.store, table.ctx, {
    version: 0,
    bytes: serializeActions(all),
    txnId,
    deadline: putAt + (options.retryFor ?? 600_000),
    signal: options.signal,
  });
  if (attempt.outcome === 'conflict' || attempt.outcome === 'cleaned') throw tableExists(table.url);
  if (attempt.outcome === 'unknown') {
    throw unknownState(
      table.url,
      0,
      txnId,
      files.map((file) => file.path),
      attempt.cause,
    );
  }
  // What is known of a table that stood here before and was removed must not outlive it: its version may be higher.
  table.latest.forget();
  table.latest.forget();
  table.latest.adopt(firstState(timestamp, all), putAt);
  table.ctx.emit({ type: 'committed', url: table.url, version: 0, operation: 'CREATE TABLE', attempts: 1 });
}

function describe(
  table: TableContext,
  definition: TableDefinition,
): { metadata: MetadataAction; schema: StructType } {
  const wanted = typeof definition.schema === 'string' ? parseDdl(definition.schema) : definition.schema;
  const partitionColumns = definition.partitionBy ?? [];
  validateSchema(wanted, partitionColumns, definition.properties ?? {});
  assertProperties(definition.properties ?? {});
  const { ids } = table.ctx;
  const tracked = withHiddenColumns(definition.properties ?? {}, () => ids.uuid());
  const { schema, configuration } = withMapping(table, wanted, tracked);
  return {
    schema,
    metadata: {
      id: table.ctx.ids.uuid(),
      ...(definition.name === undefined ? {} : { name: definition.name }),
      ...(definition.description === undefined ? {} : { description: definition.description }),
      format: { provider: 'parquet', options: {} },
      schemaString: serializeSchema(schema),
      partitionColumns,
      configuration,
      createdTime: table.ctx.clock.now(),
    },
  };
}

async function assertAbsent(table: TableContext): Promise<void> {
  for await (const page of table.store.list('_delta_log/')) {
    if (page.some((object) => isLogFile(object.key))) throw tableExists(table.url);
  }
}

function tableExists(url: string): TableError {
  return new TableError(
    'TABLE_EXISTS',
    `There is a table at ${url} already. Open it, or choose another URL.`,
    { url },
  );
}
