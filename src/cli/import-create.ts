import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isTableError, TableError } from '../errors.js';
import { printDdl } from '../schema/ddl.js';
import type { StructType } from '../schema/types.js';
import { createTable, openTable } from '../table.js';
import { type CreateVerb, create, type TableDefinition } from '../write/create.js';
import { type Outcome, planWrite, verbName, writeOptions, writeOutcome } from './execute-write.js';
import { type Import, writeInto } from './import-existing.js';
import { commonSchema } from './import-rows.js';
import type { Session } from './session.js';

/** An import into a table that is not there. */
export interface Creation extends Import {
  readonly url: string;
}

/**
 * Creates the table with the rows as its first commit. A replay of a token that the table has recorded is skipped. Where another writer creates it meanwhile,
 * writes to theirs if the input can be read again. Throws as `create` and `executeWrite`.
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
  };
  if (flags.dryRun) return planNew(session, creation, definition);
  const table = runtime.table(url);
  try {
    const given = { rows: rows(definition.schema), verb: verb as CreateVerb };
    const result = await create(table, definition, { ...writeOptions(session, flags, execute), ...given });
    const created = result.status === 'committed';
    return { ...writeOutcome(table.url, verbName(verb), result), created };
  } catch (error) {
    if (!isTableError(error, 'TABLE_EXISTS') || prepared.some(({ input }) => !input.repeatable)) throw error;
    return writeInto(session, await openTable(url, { runtime }), creation);
  }
}

/** Plans on a table that is made for it in a temporary folder, and goes with it. */
async function planNew(
  session: Session,
  { url, verb, rows, flags, execute }: Creation,
  definition: TableDefinition & { readonly schema: StructType },
): Promise<Outcome> {
  const runtime = await session.runtime();
  const folder = await mkdtemp(join(tmpdir(), 'tablectl-'));
  try {
    const { url: trial } = await createTable(folder, { ...definition, runtime });
    const table = runtime.table(trial);
    const { version: _, ...plan } = await planWrite(
      session,
      table,
      rows(definition.schema),
      verb,
      flags,
      execute,
    );
    return {
      ...plan,
      url: runtime.table(url).url,
      status: 'planned',
      created: true,
      schema: printDdl(definition.schema),
    };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
