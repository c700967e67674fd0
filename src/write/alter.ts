import { type Planned, transact } from '../commit/transaction.js';
import { TableError } from '../errors.js';
import type { Action, MetadataAction, ProtocolAction } from '../log/actions.js';
import { datedVersions } from '../log/commit-dates.js';
import { assertWritable, supportedFeatures } from '../log/features.js';
import { listLog } from '../log/listing.js';
import { tableProperties } from '../log/properties.js';
import type { TableContext } from '../runtime/table-context.js';
import { countRows } from '../scan/count.js';
import { serializeSchema } from '../schema/schema-json.js';
import type { Json, JsonObject } from '../schema/types.js';
import type { State } from '../snapshot/state.js';
import { addColumns, changeColumn, dropColumn, renameColumn } from './alter-columns.js';
import { addConstraint, dropConstraint } from './alter-constraints.js';
import { dropFeature, WITH_TRACES } from './alter-features.js';
import { setProperties, unsetProperties } from './alter-properties.js';
import type {
  Alteration,
  AlterBase,
  Altered,
  AlterOptions,
  AlterPlan,
  AlterResult,
  Draft,
} from './alteration.js';
import { validateEvolved } from './evolve.js';
import { traceOf } from './feature-traces.js';
import { withMapping } from './mapped-schema.js';
import { withNeededFeatures } from './protocol-upgrade.js';

/**
 * Changes the table's metadata, all of it in one atomic commit, and no row: columns, properties, constraints, name and description, in the order given. The
 * protocol gains the features that the changes need. Beaten by another commit, the changes are made anew on what that left. Where the table is so already:
 * no commit, `unchanged`.
 *
 * Throws `INVALID_SCHEMA`, `INVALID_INPUT`, `INVALID_PREDICATE`, `UNKNOWN_COLUMN`, `UNSUPPORTED_FEATURE`, `INVALID_ROW` where a row does not satisfy a new
 * constraint, `COMMIT_CONFLICT` where another commit made the changes impossible: nothing was committed. `COMMIT_STATE_UNKNOWN`: it may have been.
 */
export async function alter(
  table: TableContext,
  changes: Alteration | readonly Alteration[],
  options: AlterOptions = {},
): Promise<AlterResult> {
  const alterations = listed(changes, table.url);
  let first: State | undefined = await table.latest.get();
  const checkIdentity = (url: string, before: State, now: State): void => {
    if (before.metadata.id !== now.metadata.id) throw overtaken(url, before, now, undefined);
  };
  const { committed, version, attempts, result } = await transact(
    table,
    async (state): Promise<Planned<AlterPlan>> => {
      const decided = decide(table, state, alterations, first, await factsFor(table, state, alterations));
      first ??= state;
      await checkRows(table, state, decided, options.signal);
      const { plan, actions, parameters, timestamp } = decided;
      if (actions.length === 0) {
        const newest = await table.latest.get();
        return newest.version === state.version ? { settled: plan } : { stale: true };
      }
      const { operation } = plan;
      const timed = timestamp === undefined ? {} : { timestamp };
      return {
        plan: { operation, parameters, metrics: {}, isBlindAppend: false, actions, ...timed },
        result: plan,
      };
    },
    options,
    checkIdentity,
  );
  return {
    ...result,
    status: committed ? 'committed' : 'unchanged',
    version,
    attempts: committed ? attempts : 0,
  };
}

/** What `alter` would do now, on the newest version; the rows that are there are checked too. Commits nothing. Throws what `alter` would refuse. */
export async function planAlter(
  table: TableContext,
  changes: Alteration | readonly Alteration[],
  options: Pick<AlterOptions, 'signal'> = {},
): Promise<AlterPlan> {
  const state = await table.latest.get();
  assertWritable(state.protocol, state.metadata, table.url);
  const alterations = listed(changes, table.url);
  const decided = decide(table, state, alterations, undefined, await factsFor(table, state, alterations));
  await checkRows(table, state, decided, options.signal);
  return decided.plan;
}

interface Decided {
  readonly plan: AlterPlan;
  readonly parameters: JsonObject;
  readonly actions: readonly Action[];
  /** Where the metadata tells it. */
  readonly timestamp?: number;
  readonly after: Pick<State, 'schema' | 'metadata' | 'protocol'>;
  readonly checks: Draft['checks'];
}

function listed(
  changes: Alteration | readonly Alteration[],
  url: string,
): readonly [Alteration, ...Alteration[]] {
  const alterations = (Array.isArray(changes) ? changes : [changes]) as readonly Alteration[];
  const [first, ...rest] = alterations;
  if (first === undefined) throw new TableError('INVALID_INPUT', `Say what of ${url} is to change.`, { url });
  return [first, ...rest];
}

/** `first` is the state that the changes were possible on, if they were on any. */
function decide(
  table: TableContext,
  state: State,
  alterations: readonly Alteration[],
  first: State | undefined,
  facts: Facts,
): Decided {
  try {
    return decideOn(table, state, alterations, facts);
  } catch (error) {
    if (first && JSON.stringify(first.metadata) !== JSON.stringify(state.metadata))
      throw overtaken(table.url, first, state, error);
    throw error;
  }
}

/** What of the log the changes depend on besides the state. */
type Facts = Pick<AlterBase, 'timestamp' | 'traces'>;

async function factsFor(
  table: TableContext,
  state: State,
  alterations: readonly Alteration[],
): Promise<Facts> {
  const traces = new Map<string, string>();
  for (const alteration of alterations) {
    if (!('dropFeature' in alteration) || !WITH_TRACES.includes(alteration.dropFeature)) continue;
    const trace = await traceOf(table, state, alteration.dropFeature);
    if (trace !== undefined) traces.set(alteration.dropFeature, trace);
  }
  return { timestamp: await laterThan(table, state, alterations), traces };
}

/**
 * The time of the commit to be made. One that turns in-commit timestamps on must be later than the commit before, which has the time of its file by the store's
 * clock, or more where files share one (LOG-11; protocol: Writer Requirements for In-Commit Timestamps); only then is the store asked.
 */
async function laterThan(
  table: TableContext,
  state: State,
  alterations: readonly Alteration[],
): Promise<number> {
  const now = Math.max(table.ctx.clock.now(), state.timestamp + 1);
  const isAsked = alterations.some((each) => 'setProperties' in each && ICT in each.setProperties);
  if (!isAsked || isTimed(state.metadata)) return now;
  const dated = datedVersions(await listLog(table.store, {}));
  const before = dated.findLast(({ version }) => version <= state.version);
  return Math.max(now, Math.floor(before?.modifiedAt ?? 0) + 1);
}

const ICT = 'delta.enableInCommitTimestamps';

function overtaken(url: string, before: State, now: State, cause: unknown): TableError {
  return new TableError(
    'COMMIT_CONFLICT',
    `The metadata of ${url} was changed by another commit between versions ${before.version} and ${now.version} so that these changes are no longer possible${cause instanceof Error ? `: ${cause.message}` : '.'} Nothing was committed.`,
    { url, what: 'metadata', readVersion: before.version, version: now.version },
    cause,
  );
}

function decideOn(
  table: TableContext,
  state: State,
  alterations: readonly Alteration[],
  facts: Facts,
): Decided {
  const { ids } = table.ctx;
  const base: AlterBase = {
    url: table.url,
    hasFiles: state.files.count > 0,
    domains: [...state.domains.keys()],
    version: state.version + 1,
    ...facts,
    uuid: () => ids.uuid(),
  };
  const steps: Altered[] = [];
  let draft: Draft = {
    schema: state.schema,
    partitionColumns: state.metadata.partitionColumns,
    configuration: state.metadata.configuration,
    name: state.metadata.name,
    description: state.metadata.description,
    protocol: state.protocol,
    checks: [],
  };
  for (const alteration of alterations) {
    const step = altered(draft, alteration, base);
    steps.push(step);
    draft = step.draft;
  }
  const after = finished(table, state, draft);
  const { operation, parameters } = told(steps);
  const sameMetadata = JSON.stringify(after.metadata) === JSON.stringify(state.metadata);
  const actions: Action[] = [
    ...(after.protocol === state.protocol ? [] : [{ protocol: after.protocol }]),
    ...(sameMetadata ? [] : [{ metaData: after.metadata }]),
  ];
  const present = supportedFeatures(state.protocol);
  const kept = supportedFeatures(after.protocol);
  return {
    plan: {
      version: state.version,
      operation,
      changes: actions.length === 0 ? [] : steps.map((step) => step.told),
      schema: after.schema,
      partitionColumns: after.metadata.partitionColumns,
      properties: after.metadata.configuration,
      protocol: after.protocol,
      newFeatures: kept.filter((name) => !present.includes(name)),
      droppedFeatures: present.filter((name) => !kept.includes(name)),
    },
    parameters,
    actions,
    ...(isTimed(after.metadata) && !isTimed(state.metadata) ? { timestamp: base.timestamp } : {}),
    after,
    checks: draft.checks,
  };
}

function altered(draft: Draft, alteration: Alteration, base: AlterBase): Altered {
  if ('addColumns' in alteration) return addColumns(draft, alteration);
  if ('renameColumn' in alteration) return renameColumn(draft, alteration, base);
  if ('dropColumn' in alteration) return dropColumn(draft, alteration, base);
  if ('changeColumn' in alteration) return changeColumn(draft, alteration, base);
  if ('setProperties' in alteration) return setProperties(draft, alteration, base);
  if ('unsetProperties' in alteration) return unsetProperties(draft, alteration, base);
  if ('dropFeature' in alteration) return dropFeature(draft, alteration, base);
  if ('addConstraint' in alteration) return addConstraint(draft, alteration);
  if ('dropConstraint' in alteration) return dropConstraint(draft, alteration);
  if ('name' in alteration) return worded(draft, 'name', alteration.name);
  if ('description' in alteration) return worded(draft, 'description', alteration.description);
  throw new TableError(
    'INVALID_INPUT',
    `There is no such change of a table: ${JSON.stringify(alteration)}.`,
    {},
  );
}

function worded(draft: Draft, what: 'name' | 'description', text: string | null): Altered {
  return {
    draft: { ...draft, [what]: text },
    operation: 'SET TBLPROPERTIES',
    parameters: { properties: JSON.stringify({ [what === 'name' ? 'name' : 'comment']: text }) },
    told: text === null ? `no ${what}` : `${what} ${JSON.stringify(text)}`,
  };
}

/** As other engines put it: of one change what that tells, of several of one kind their columns together. */
function told(steps: readonly Altered[]): Pick<AlterPlan, 'operation'> & Pick<Decided, 'parameters'> {
  const [first, ...rest] = steps as readonly [Altered, ...Altered[]];
  if (rest.length === 0) return first;
  const { operation } = first;
  const isOne = rest.every((step) => step.operation === operation);
  if (isOne && (operation === 'ADD COLUMNS' || operation === 'DROP COLUMNS')) {
    const columns = steps.flatMap(({ parameters }) => JSON.parse(String(parameters.columns)) as Json[]);
    return { operation, parameters: { columns: JSON.stringify(columns) } };
  }
  const changes = steps.map((step) => ({ operation: step.operation, ...step.parameters }));
  return { operation: isOne ? operation : 'ALTER TABLE', parameters: { changes: JSON.stringify(changes) } };
}

const isTimed = ({ configuration }: MetadataAction): boolean =>
  tableProperties(configuration).inCommitTimestamps;

/** The rows that are there must satisfy a new constraint (protocol: CHECK Constraints). */
async function checkRows(
  table: TableContext,
  state: State,
  { checks, after }: Decided,
  signal: AbortSignal | undefined,
): Promise<void> {
  const { store, ctx, url } = table;
  for (const { name, check } of checks) {
    const where = `(${check}) IS NOT TRUE`;
    const rows = await countRows(store, ctx, { ...state, ...after }, { where, signal });
    if (rows === 0) continue;
    throw new TableError(
      'INVALID_ROW',
      `The constraint ${name} cannot be added to ${url}: ${rows === 1 ? 'a row does' : `${rows} rows do`} not satisfy ${check}. Nothing was committed.`,
      { url, constraint: name, expression: check, rows },
    );
  }
}

function word(what: 'name' | 'description', text: string | null | undefined): Record<string, string | null> {
  return text === undefined ? {} : { [what]: text };
}

function finished(table: TableContext, state: State, draft: Draft): Decided['after'] {
  const changed = draft.schema !== state.schema;
  if (changed) validateEvolved(draft.schema, draft.partitionColumns, draft.configuration);
  const { schema, configuration } = withMapping(table, draft.schema, draft.configuration);
  const { name, description, partitionColumns } = draft;
  const { metadata: before } = state;
  const metadata: MetadataAction = {
    ...before,
    ...word('name', name),
    ...word('description', description),
    schemaString: changed ? serializeSchema(schema) : before.schemaString,
    partitionColumns,
    configuration,
  };
  const protocol: ProtocolAction = withNeededFeatures(draft.protocol, schema, metadata);
  assertWritable(protocol, metadata, table.url);
  return { schema, metadata, protocol };
}
