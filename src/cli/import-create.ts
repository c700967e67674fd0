import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isTableError, TableError } from '../errors.js';
import { sameType, typeText } from '../schema/type-text.js';
import type { StructType } from '../schema/types.js';
import { createTable, openTable, type Table } from '../table.js';
import type { Verb } from '../write/verb.js';
import { type ExecuteOptions, executeWrite, type Outcome, planWrite } from './execute-write.js';
import type { ImportFlags } from './import.js';
import type { Prepared, Rows } from './import-rows.js';
import type { Session } from './session.js';
import { NO_ROWS } from './write-result.js';

/** An import into a table that is not there. */
export interface Creation {
  readonly url: string;
  readonly verb: Verb;
  readonly prepared: readonly Prepared[];
  readonly rows: Rows;
  readonly flags: ImportFlags;
  readonly execute: ExecuteOptions;
}

/**
 * Creates the table with the rows as its first commit; empty and before them where they need a table: a token, a guard, a verb that compares. Where another
 * writer creates it meanwhile, writes to theirs if the input can be read again. Throws as `createTable` and `executeWrite`.
 */
export async function importNew(session: Session, creation: Creation): Promise<Outcome> {
  const { url, verb, prepared, rows, flags, execute } = creation;
  if (verb === 'overwritePartitions' && (flags.partitionBy ?? []).length === 0)
    throw new TableError(
      'INVALID_INPUT',
      '--mode overwrite-partitions with --create needs --partition-by.',
      {},
    );
  const runtime = await session.runtime();
  const definition = {
    schema: commonSchema(prepared),
    partitionBy: flags.partitionBy,
    properties: flags.property,
    runtime,
    signal: session.signal,
  };
  if (flags.dryRun) return planNew(session, creation, definition);
  const writeTo = async (table: Table, schema: StructType): Promise<Outcome> =>
    executeWrite(session, runtime.table(table.url), rows(schema), verb, flags, execute);
  const isFirstCommit =
    typeof verb === 'string' && flags.token === undefined && flags.maxPartitions === undefined;
  try {
    if (isFirstCommit)
      return await createdOutcome(await createTable(url, { ...definition, rows: rows() }), flags);
    return { ...(await writeTo(await createTable(url, definition), definition.schema)), created: true };
  } catch (error) {
    if (!isTableError(error, 'TABLE_EXISTS') || prepared.some(({ input }) => !input.repeatable)) throw error;
    const table = await openTable(url, { runtime });
    return writeTo(table, (await table.snapshot({ maxStaleness: 60_000 })).schema);
  }
}

/** Plans on a table that is made for it in a temporary folder, and goes with it. */
async function planNew(
  session: Session,
  { url, verb, rows, flags, execute }: Creation,
  definition: Parameters<typeof createTable>[1] & { readonly schema: StructType },
): Promise<Outcome> {
  const runtime = await session.runtime();
  const folder = await mkdtemp(join(tmpdir(), 'tablectl-'));
  try {
    const { url: trial } = await createTable(folder, definition);
    const table = runtime.table(trial);
    const { version: _, ...plan } = await planWrite(
      session,
      table,
      rows(definition.schema),
      verb,
      flags,
      execute,
    );
    return { ...plan, url: runtime.table(url).url, status: 'planned', created: true };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function createdOutcome(table: Table, { mode }: ImportFlags): Promise<Outcome> {
  const snapshot = await table.snapshot({ maxStaleness: 60_000 });
  const rows = await snapshot.count();
  return {
    status: 'committed',
    verb: mode,
    url: table.url,
    version: snapshot.version,
    created: true,
    added: { files: snapshot.fileCount, rows, bytes: snapshot.size },
    removed: { files: 0, rows: 0, bytes: 0 },
    rows: { ...NO_ROWS, inserted: rows },
  };
}

/** The columns of all inputs; those of one name must have one type. Columns that some input lacks are nullable. */
function commonSchema(prepared: readonly Prepared[]): StructType {
  const [first, ...others] = prepared;
  const fields = [...first!.derived.schema.fields];
  for (const { input, derived } of others) {
    for (const field of derived.schema.fields) {
      const at = fields.findIndex(({ name }) => name.toLowerCase() === field.name.toLowerCase());
      const known = fields[at];
      if (known === undefined) fields.push({ ...field, nullable: true });
      else if (!sameType(known.dataType, field.dataType))
        throw new TableError(
          'INVALID_INPUT',
          `${input.name}: column '${field.name}' is ${typeText(field.dataType)}, but ${typeText(known.dataType)} in ${first!.input.name}. Create the table with --schema first.`,
          { file: input.name, column: field.name },
        );
      else if (field.nullable && !known.nullable) fields[at] = { ...known, nullable: true };
    }
    for (const [i, field] of fields.entries()) {
      const isMissing = !derived.schema.fields.some(
        ({ name }) => name.toLowerCase() === field.name.toLowerCase(),
      );
      if (isMissing && !field.nullable) fields[i] = { ...field, nullable: true };
    }
  }
  return { type: 'struct', fields };
}
