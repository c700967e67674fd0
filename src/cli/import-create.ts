import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isTableError, TableError } from '../errors.js';
import type { StructType } from '../schema/types.js';
import { createTable, openTable, type Table } from '../table.js';
import { executeWrite, type Outcome, planWrite } from './execute-write.js';
import type { ImportFlags } from './import.js';
import { type Import, writeInto } from './import-existing.js';
import { commonSchema } from './import-rows.js';
import type { Session } from './session.js';
import { NO_ROWS } from './write-result.js';

/** An import into a table that is not there. */
export interface Creation extends Import {
  readonly url: string;
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
    return writeInto(session, await openTable(url, { runtime }), creation);
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
