import { TableError } from '../errors.js';
import { assertWritable } from '../log/features.js';
import type { TableContext } from '../runtime/table-context.js';
import { parseDdl } from '../schema/ddl.js';
import { evolveSchema, fitsSchema, widenedPaths } from '../schema/evolution.js';
import { columnMappingMode } from '../schema/mapping.js';
import { serializeSchema } from '../schema/schema-json.js';
import type { StructType } from '../schema/types.js';
import { validateSchema } from '../schema/validate.js';
import type { State } from '../snapshot/state.js';
import type { StagedFile } from '../stage/staged.js';
import { assertUnused } from './alter-dependents.js';
import { lookAhead } from './evolve-source.js';
import type { Isolation } from './isolation.js';
import { withMapping } from './mapped-schema.js';
import { withNeededFeatures } from './protocol-upgrade.js';
import type { RowSource } from './source.js';
import {
  EVOLVE,
  type Evolve,
  type EvolveOptions,
  type PlannedWrite,
  type Verb,
  type VerbName,
} from './verb.js';
import type { Work } from './work.js';

/** What the rows of a write do to the schema, and with what rights. */
interface Evolution {
  readonly told: readonly StructType[];
  readonly modes: ReadonlySet<Evolve>;
}

/** Throws `INVALID_INPUT` for a way to evolve that the verb has not; gives the ways that the rows are asked for, none where the schema stays. */
export function evolveModes(verb: Verb, options: EvolveOptions, url: string): ReadonlySet<Evolve> {
  const { evolve, evolveTo } = options;
  const modes = new Set(evolve === undefined ? [] : typeof evolve === 'string' ? [evolve] : evolve);
  const refuse = (why: string): never => {
    throw new TableError('INVALID_INPUT', `${url}: ${why}`, { url, evolve });
  };
  for (const mode of modes)
    if (!EVOLVE.includes(mode)) refuse(`evolve is one of ${EVOLVE.join(', ')}; got '${String(mode)}'.`);
  const isReplaced = typeof verb === 'object' && verb.verb === 'overwrite' && 'all' in verb;
  const hasSchema = isReplaced && verb.schema !== undefined;
  if (modes.has('overwrite')) {
    if (!hasSchema || modes.size > 1)
      refuse("evolve: 'overwrite' goes with overwrite({ all: true, schema }) alone, without another way.");
    modes.delete('overwrite');
  } else if (modes.size > 0 && hasSchema) {
    refuse('a new schema is given whole; the rows have nothing to add to it.');
  }
  if (modes.size > 0 && typeof verb === 'object' && (verb.verb === 'delete' || verb.verb === 'update'))
    refuse(`${verb.verb} takes no rows, so there is no schema to evolve to. Use alter.`);
  if (evolveTo !== undefined && modes.size === 0)
    refuse("evolveTo needs evolve: 'add-columns' or 'widen', or both.");
  return modes;
}

/**
 * Stages a write whose rows may have columns that the table lacks, or of wider types: `stage` is handed the table as it will be. What they have is told by
 * `evolveTo`, else by the rows (see `lookAhead`). Throws `INVALID_SCHEMA` for what the table cannot become, `INVALID_ROW` where the rows do not tell a type.
 */
export async function stageEvolving(
  table: TableContext,
  state: State,
  rows: RowSource,
  options: { readonly modes: ReadonlySet<Evolve>; readonly evolveTo?: string | StructType },
  stage: (state: State, rows: RowSource) => Promise<Work>,
): Promise<Work> {
  const { evolveTo, modes } = options;
  if (evolveTo !== undefined) {
    const told = typeof evolveTo === 'string' ? parseDdl(evolveTo) : evolveTo;
    const evolved = evolvedState(table, state, { told: [told], modes });
    return new EvolvingWork(table, { work: await stage(evolved, rows), base: state, evolved, modes });
  }
  const seen = await lookAhead(rows, state.schema);
  try {
    const evolved = evolvedState(table, state, { told: seen.told, modes });
    return new EvolvingWork(table, { work: await stage(evolved, seen.rows), base: state, evolved, modes });
  } catch (error) {
    await seen.close();
    throw error;
  }
}

/** The state as it is with the evolved schema; the same where that changes nothing. Throws `INVALID_SCHEMA`, `UNSUPPORTED_FEATURE`. */
export function evolvedState(table: TableContext, state: State, { told, modes }: Evolution): State {
  const { metadata } = state;
  const { configuration } = metadata;
  const rules = { add: modes.has('add-columns'), widen: modes.has('widen'), configuration };
  const schema = told.reduce((each, given) => evolveSchema(each, given, rules), state.schema);
  if (schema === state.schema) return state;
  validateEvolved(schema, metadata.partitionColumns, configuration);
  assertPartitionsKeep(state, schema);
  for (const path of widenedPaths(state.schema, schema))
    assertUnused({ schema: state.schema, configuration }, path, 'given another type');
  const mapped = withMapping(table, schema, configuration);
  const next = {
    ...metadata,
    schemaString: serializeSchema(mapped.schema),
    configuration: mapped.configuration,
  };
  const protocol = withNeededFeatures(state.protocol, mapped.schema, next);
  assertWritable(protocol, next, table.url);
  return { ...state, schema: mapped.schema, metadata: next, protocol };
}

/** As `validateSchema`, but for columns without a type, which a table may have had from the beginning. */
export function validateEvolved(
  schema: StructType,
  partitionColumns: readonly string[],
  configuration: Readonly<Record<string, string>>,
): void {
  const fields = schema.fields.filter(({ dataType }) => dataType.type !== 'void');
  validateSchema({ type: 'struct', fields }, partitionColumns, configuration);
}

/** A day and its midnight are written differently as partition values, so that files there would be of two spellings. */
function assertPartitionsKeep(state: State, schema: StructType): void {
  for (const name of state.metadata.partitionColumns) {
    const before = state.schema.fields.find((field) => field.name === name);
    const after = schema.fields.find((field) => field.name === name);
    if (before?.dataType.type !== 'date' || after?.dataType.type === 'date') continue;
    throw new TableError(
      'INVALID_SCHEMA',
      `The partition column '${name}' is a date, and partition values are text; it stays one.`,
      { column: name },
    );
  }
}

/** A write with a change of the schema in the same commit. */
class EvolvingWork implements Work {
  readonly #table: TableContext;
  readonly #work: Work;
  readonly #base: State;
  readonly #evolved: State;
  readonly #modes: ReadonlySet<Evolve>;

  constructor(
    table: TableContext,
    input: {
      readonly work: Work;
      readonly base: State;
      readonly evolved: State;
      readonly modes: ReadonlySet<Evolve>;
    },
  ) {
    this.#table = table;
    this.#work = input.work;
    this.#base = input.base;
    this.#evolved = input.evolved;
    this.#modes = input.modes;
  }

  get verb(): VerbName {
    return this.#work.verb;
  }
  get reads(): boolean {
    return this.#work.reads;
  }
  get files(): readonly StagedFile[] {
    return this.#work.files;
  }

  async prepare(state: State): Promise<void> {
    await this.#work.prepare?.(this.#on(state));
  }

  async plan(state: State, isolation?: Isolation): Promise<PlannedWrite> {
    const evolved = this.#on(state);
    if (evolved === state) return this.#work.plan(state, isolation);
    const planned = await this.#work.plan(evolved, 'serializable');
    const changes = [
      ...(evolved.protocol === state.protocol ? [] : [{ protocol: evolved.protocol }]),
      { metaData: evolved.metadata },
    ];
    const actions = [...changes, ...planned.commit.actions];
    return {
      ...planned,
      plan: { ...planned.plan, schema: evolved.schema },
      commit: { ...planned.commit, actions },
    };
  }

  /**
   * Rows fit a state that others evolved meanwhile when it has all that they have, in the same types. Where columns are mapped their physical names would
   * differ; a verb that reads has compiled its clauses: then the schema must be the very same.
   */
  checkWinners(url: string, before: State, now: State): void {
    if (before.metadata === now.metadata && before.protocol === now.protocol) return;
    const what = this.#misfit(now);
    if (what === undefined) return;
    throw new TableError(
      'COMMIT_CONFLICT',
      `The ${what} of ${url} was changed by another commit between versions ${before.version} and ${now.version}, and these rows do not fit it. Nothing was committed; run the write again.`,
      { url, what, readVersion: before.version, version: now.version },
    );
  }

  #misfit(now: State): 'metadata' | 'protocol' | undefined {
    const wanted = this.#evolved;
    let becomes: State;
    try {
      becomes = this.#on(now);
    } catch {
      return 'metadata';
    }
    if (!same(features(becomes), features(wanted))) return 'protocol';
    const { schemaString: written, ...rest } = wanted.metadata;
    const { schemaString, ...others } = becomes.metadata;
    if (!same(rest, others)) return 'metadata';
    if (schemaString === written) return undefined;
    const isFree =
      (this.verb === 'append' || this.verb === 'overwritePartitions') &&
      columnMappingMode(wanted.metadata, wanted.protocol) === 'none';
    return isFree && fitsSchema(wanted.schema, becomes.schema) ? undefined : 'metadata';
  }

  discard(): Promise<void> {
    return this.#work.discard();
  }
  close(): Promise<void> {
    return this.#work.close();
  }

  #on(state: State): State {
    const { schema, metadata, protocol } = this.#evolved;
    if (same(state.metadata, metadata)) return state;
    // Ids and physical names are given once.
    if (same(state.metadata, this.#base.metadata) && same(state.protocol, this.#base.protocol))
      return { ...state, schema, metadata, protocol };
    return evolvedState(this.#table, state, { told: [this.#evolved.schema], modes: this.#modes });
  }
}

function same(a: object, b: object): boolean {
  return a === b || JSON.stringify(a) === JSON.stringify(b);
}

function features({ protocol }: State): object {
  const { readerFeatures, writerFeatures } = protocol;
  return {
    ...protocol,
    readerFeatures: [...(readerFeatures ?? [])].sort(),
    writerFeatures: [...(writerFeatures ?? [])].sort(),
  };
}
