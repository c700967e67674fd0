import { attemptCommit, unknownState } from '../commit/attempt.js';
import { addedFiles } from '../commit/evidence.js';
import { withHiddenColumns, withRowIds } from '../commit/row-ids.js';
import type { TransactionOptions } from '../commit/transaction.js';
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
import type { JsonObject, StructType } from '../schema/types.js';
import { protocolFor, validateSchema } from '../schema/validate.js';
import { firstState } from '../snapshot/apply.js';
import type { State } from '../snapshot/state.js';
import { ENGINE_INFO } from '../version.js';
import { withMapping } from './mapped-schema.js';
import {
  type Amount,
  assertWithin,
  type Guards,
  NO_ROWS,
  NOTHING,
  type Token,
  tokenActions,
} from './plan.js';
import { ROWS_DIGEST, RowsTap, recordOf } from './replay.js';
import { RowRules } from './rules.js';
import type { RowSource } from './source.js';
import { assertTargeted, skipped, workOf } from './stage.js';
import type { Verb, WriteResult } from './verb.js';
import type { Work } from './work.js';

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

/** What a new table would be. Plain data. */
export type TablePlan = Pick<State, 'schema' | 'metadata' | 'protocol'>;

/** What `create` would make. Creates nothing; throws what `create` would refuse, `TABLE_EXISTS` included. */
export async function planCreate(table: TableContext, definition: TableDefinition): Promise<TablePlan> {
  const plan = describe(table, definition);
  if (await hasLog(table)) throw tableExists(table.url);
  return plan;
}

/** Verbs that bring rows. */
export type CreateVerb = Exclude<Verb, { readonly verb: 'delete' } | { readonly verb: 'update' }>;

export interface CreateOptions extends TransactionOptions, Guards {
  /** The first rows, committed with the table as version 0. */
  readonly rows?: RowSource;
  /** How the rows are put: what the verb refuses, an overwrite rows outside of its target for example, is refused here too. `append` by default. */
  readonly verb?: CreateVerb;
  /** Makes the creation happen once: where the table is there already and has recorded this version of the application, or a later one, it is `skipped`. */
  readonly txn?: Token;
  /** See `WriteOptions.onReplay`. */
  readonly onReplay?: 'skip' | 'compare';
}

/**
 * Creates version 0 at the table's URL, with its first rows and their token, in one atomic commit. Throws `TABLE_EXISTS` where there is a log without that
 * token, `INVALID_SCHEMA`, `INVALID_INPUT`, `GUARD_REFUSED`, `UNSAFE_STORE`, what the verb refuses: nothing was created, and staged rows are deleted as well as
 * can be; `COMMIT_STATE_UNKNOWN`: it may have been, and nothing is deleted.
 */
export async function create(
  table: TableContext,
  definition: TableDefinition,
  options: CreateOptions = {},
): Promise<WriteResult> {
  const { metadata, protocol } = describe(table, definition);
  if (await hasLog(table)) return replayed(table, options);
  await table.assertSafe();
  const start: Action[] = [{ protocol }, { metaData: metadata }];
  const tap = options.txn && options.onReplay === 'compare' ? new RowsTap() : undefined;
  const empty = firstState(table.ctx.clock.now(), start);
  const work = await stageFirst(table, empty, options, tap);
  try {
    const planned = await work?.plan(empty);
    if (work) assertTargeted(table.url, work, options);
    if (planned) assertWithin(options, planned.plan);
    const actions = [
      ...start,
      ...tokenActions(options.txn, table.ctx.clock.now()),
      ...withRowIds({ protocol, metadata, domains: new Map() }, planned?.commit.actions ?? [], 0),
    ];
    const { added = NOTHING, rows = NO_ROWS } = planned?.plan ?? {};
    const facts = tap && { [ROWS_DIGEST]: { ...tap.digest } };
    if (!(await commitFirst(table, actions, { metadata, added, facts }, options))) {
      await work?.discard();
      return await replayed(table, options);
    }
    return { status: 'committed', version: 0, added, removed: NOTHING, rows, attempts: 1 };
  } catch (error) {
    if (!isTableError(error, 'COMMIT_STATE_UNKNOWN')) await work?.discard();
    throw error;
  } finally {
    await work?.close();
  }
}

async function stageFirst(
  table: TableContext,
  empty: State,
  { rows, verb = 'append', signal }: CreateOptions,
  tap: RowsTap | undefined,
): Promise<Work | undefined> {
  if (rows === undefined) return undefined;
  const name: string = typeof verb === 'string' ? verb : verb.verb;
  if (name === 'delete' || name === 'update')
    throw new TableError('INVALID_INPUT', `${name} puts no rows into a new table.`, { url: table.url });
  return workOf(table, empty, rows, verb, tap, signal);
}

/** What there is to say where the table is there already. */
async function replayed(table: TableContext, options: CreateOptions): Promise<WriteResult> {
  if (options.txn === undefined) throw tableExists(table.url);
  const state = await table.latest.get();
  const record = recordOf(state, options.txn, table.ctx.clock.now());
  if (record === undefined) throw tableExists(table.url);
  return skipped(table, state, record, options.rows, options);
}

interface FirstCommit {
  readonly metadata: MetadataAction;
  readonly added: Amount;
  readonly facts: JsonObject | undefined;
}

/** Commits version 0; false where another commit has it. */
async function commitFirst(
  table: TableContext,
  actions: readonly Action[],
  { metadata, added, facts }: FirstCommit,
  options: CreateOptions,
): Promise<boolean> {
  const { clock, ids } = table.ctx;
  const txnId = ids.uuid();
  const timestamp = clock.now();
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
      added.files > 0
        ? { numFiles: added.files, numOutputRows: added.rows ?? 0, numOutputBytes: added.bytes }
        : {},
    isBlindAppend: true,
    timestamp,
    inCommitTimestamp: tableProperties(metadata.configuration).inCommitTimestamps,
    engineInfo: ENGINE_INFO,
    txnId,
    userMetadata: options.userMetadata,
    facts,
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
  if (attempt.outcome === 'conflict' || attempt.outcome === 'cleaned') return false;
  if (attempt.outcome === 'unknown')
    throw unknownState(table.url, 0, txnId, addedFiles(actions), attempt.cause);
  // What is known of a table that stood here before and was removed must not outlive it: its version may be higher.
  table.latest.forget();
  table.latest.adopt(firstState(timestamp, all), putAt);
  table.ctx.emit({ type: 'committed', url: table.url, version: 0, operation: 'CREATE TABLE', attempts: 1 });
  return true;
}

function describe(table: TableContext, definition: TableDefinition): TablePlan {
  const wanted = typeof definition.schema === 'string' ? parseDdl(definition.schema) : definition.schema;
  const partitionColumns = definition.partitionBy ?? [];
  validateSchema(wanted, partitionColumns, definition.properties ?? {});
  assertProperties(definition.properties ?? {});
  const { ids } = table.ctx;
  const tracked = withHiddenColumns(definition.properties ?? {}, () => ids.uuid());
  const { schema, configuration } = withMapping(table, wanted, tracked);
  const metadata: MetadataAction = {
    id: table.ctx.ids.uuid(),
    ...(definition.name === undefined ? {} : { name: definition.name }),
    ...(definition.description === undefined ? {} : { description: definition.description }),
    format: { provider: 'parquet', options: {} },
    schemaString: serializeSchema(schema),
    partitionColumns,
    configuration,
    createdTime: table.ctx.clock.now(),
  };
  const protocol = protocolFor(schema, configuration);
  assertWritable(protocol, metadata, table.url);
  // What no row could be checked by is refused now rather than with the first row.
  new RowRules({ schema, metadata, protocol }, table.url, table.ctx.clock.now());
  return { schema, metadata, protocol };
}

async function hasLog(table: TableContext): Promise<boolean> {
  for await (const page of table.store.list('_delta_log/')) {
    if (page.some((object) => isLogFile(object.key))) return true;
  }
  return false;
}

function tableExists(url: string): TableError {
  return new TableError(
    'TABLE_EXISTS',
    `There is a table at ${url} already. Open it, or choose another URL.`,
    { url },
  );
}
