import type { RecordBatch } from 'apache-arrow';
import { isTableError, TableError } from '../errors.js';
import { conformBatch } from '../schema/conform.js';
import { sameType, typeText } from '../schema/type-text.js';
import type { StructType } from '../schema/types.js';
import { createTable, openTable, type Table } from '../table.js';
import type { Token } from '../write/plan.js';
import type { WriteResult } from '../write/verb.js';
import type { ImportFlags } from './import.js';
import { type BoundDerivations, bindDerivations, derive, parseDerivation } from './input/derive.js';
import { withoutNaive } from './input/naive.js';
import { openInput } from './input/open.js';
import type { Input, OnBytes } from './input/source.js';
import { startProgress } from './render/progress.js';
import { type Session, untilAborted } from './session.js';
import { printWrite, type WriteDocument } from './write-result.js';

/** An input with the schema that its rows are given in, derived columns included. */
interface Prepared {
  readonly input: Input;
  /** As the input has them, zone-less timestamps settled. */
  readonly own: StructType;
  readonly derived: BoundDerivations;
}

type Outcome = Omit<WriteDocument, 'ms'>;

/** Reads all inputs from the start, as batches of `target` where there is a table already. */
type Rows = (target?: StructType) => AsyncIterable<RecordBatch>;

/**
 * Writes the rows of the files to the table in one commit, creating it first where asked: then table and rows are one commit too. Wrong input commits
 * and creates nothing.
 */
export async function importFiles(
  session: Session,
  url: string,
  files: readonly string[],
  flags: ImportFlags,
): Promise<undefined> {
  const startedAt = performance.now();
  const { token } = flags;
  const derivations = (flags.derive ?? []).map(parseDerivation);
  const runtime = await session.runtime();
  const existing = await untilAborted(openExisting(session, url, flags), session.signal);
  if (files.filter((file) => file === '-').length > 1)
    throw new TableError('INVALID_INPUT', 'Standard input can be read once; give - once.', {});
  const inputs: Input[] = [];
  try {
    for (const file of files) {
      inputs.push(
        await openInput(runtime.context, file, {
          format: flags.format,
          ntzAs: flags.ntzAs,
          delimiter: flags.delimiter,
          nullText: flags.null,
          stdin: session.terminal.stdin,
          signal: session.signal,
        }),
      );
    }
    const sizes = inputs.map(({ size }) => size);
    const total = sizes.includes(undefined) ? undefined : sizes.reduce<number>((sum, size) => sum + size!, 0);
    const progress = await startProgress(session, total);
    let outcome: Outcome;
    try {
      const target = existing && (await existing.snapshot({ maxStaleness: 60_000 })).schema;
      const prepared: Prepared[] = [];
      for (const input of inputs) prepared.push(await prepare(session, input, derivations, target, flags));
      const rows: Rows = (schema) => batchesOf(session, prepared, schema, progress.read);
      outcome = existing
        ? await writeRows(session, existing, rows(target), flags, token)
        : await createWith(session, url, prepared, rows, flags, token);
    } finally {
      progress.stop();
    }
    await printWrite(session, { ...outcome, ms: Math.round(performance.now() - startedAt) }, flags.json);
  } finally {
    for (const input of inputs) await input.close();
  }
}

async function openExisting(session: Session, url: string, flags: ImportFlags): Promise<Table | undefined> {
  try {
    const table = await openTable(url, { runtime: await session.runtime() });
    const { partitionColumns } = await table.snapshot({ maxStaleness: 60_000 });
    if (flags.partitionBy && flags.partitionBy.join() !== partitionColumns.join())
      throw new TableError(
        'INVALID_INPUT',
        `The table at ${table.url} is there already and is partitioned by ${partitionColumns.join(', ') || 'nothing'}, not by ${flags.partitionBy.join(', ')}.`,
        { url: table.url, expected: flags.partitionBy, found: partitionColumns },
      );
    return table;
  } catch (error) {
    if (!isTableError(error, 'NOT_A_TABLE')) throw error;
    if (flags.create) return undefined;
    throw new TableError(
      error.code,
      `${error.message} To create it from the input, add --create.`,
      error.context,
      error,
    );
  }
}

async function prepare(
  session: Session,
  input: Input,
  derivations: Parameters<typeof bindDerivations>[0],
  target: StructType | undefined,
  flags: ImportFlags,
): Promise<Prepared> {
  if (target !== undefined && !input.describesItself) {
    // Text is read as the table's own types; what is derived is not in it.
    const names = new Set(derivations.map(({ name }) => name.toLowerCase()));
    const fields = target.fields.filter(({ name }) => !names.has(name.toLowerCase()));
    const own: StructType = { type: 'struct', fields };
    return { input, own, derived: bindDerivations(derivations, own) };
  }
  const own = withoutNaive(await input.schema(session.signal), target, flags.ntzAs, input.name);
  return { input, own, derived: bindDerivations(derivations, own) };
}

/** The batches of all inputs with derived columns, told apart by file where one does not fit. */
async function* batchesOf(
  session: Session,
  prepared: readonly Prepared[],
  target: StructType | undefined,
  onBytes: OnBytes,
): AsyncGenerator<RecordBatch> {
  for (const { input, own, derived } of prepared) {
    let row = 0;
    for await (const batch of input.batches(own, onBytes, session.signal)) {
      try {
        const settled = conformBatch(batch, own, { naive: 'utc', firstRow: row });
        for (const slice of derive(derived, settled)) {
          // Checked here, where the file's name and the row in it are known.
          yield target === undefined ? slice : conformBatch(slice, target, { firstRow: row });
          row += slice.numRows;
        }
      } catch (error) {
        throw inFile(error, input.name);
      }
    }
  }
}

function inFile(error: unknown, file: string): unknown {
  if (!isTableError(error, 'INVALID_ROW', 'UNKNOWN_COLUMN') || error.context.file !== undefined) return error;
  return new TableError(error.code, `${file}: ${error.message}`, { ...error.context, file }, error);
}

async function writeRows(
  session: Session,
  table: Table,
  rows: AsyncIterable<RecordBatch>,
  flags: ImportFlags,
  token: Token | undefined,
): Promise<Outcome> {
  const options = {
    txn: token,
    signal: session.signal,
    maxPartitions: flags.maxPartitions,
    maxFilesRemoved: flags.maxFilesRemoved,
    maxRowsRemoved: flags.maxRowsRemoved,
  };
  const result: WriteResult =
    flags.mode === 'append'
      ? await table.append(rows, options)
      : await table.overwritePartitions(rows, options);
  const { status, version, added, removed } = result;
  return { status, url: table.url, version, created: false, added, removed };
}

/** Creates the table with the rows as its first commit. Where another writer creates it meanwhile, writes to theirs if the input can be read again. */
async function createWith(
  session: Session,
  url: string,
  prepared: readonly Prepared[],
  rows: Rows,
  flags: ImportFlags,
  token: Token | undefined,
): Promise<Outcome> {
  const definition = {
    schema: commonSchema(prepared),
    partitionBy: flags.partitionBy,
    properties: flags.property,
    runtime: await session.runtime(),
    signal: session.signal,
  };
  if (flags.mode === 'overwrite-partitions' && (flags.partitionBy ?? []).length === 0)
    throw new TableError(
      'INVALID_INPUT',
      '--mode overwrite-partitions with --create needs --partition-by.',
      {},
    );
  try {
    if (token !== undefined || flags.maxPartitions !== undefined) {
      // Tokens and guards belong to writes, so the table comes first, empty.
      const table = await createTable(url, definition);
      return { ...(await writeRows(session, table, rows(definition.schema), flags, token)), created: true };
    }
    return await createdOutcome(await createTable(url, { ...definition, rows: rows() }));
  } catch (error) {
    if (!isTableError(error, 'TABLE_EXISTS') || prepared.some(({ input }) => !input.repeatable)) throw error;
    const table = await openTable(url, { runtime: definition.runtime });
    const { schema } = await table.snapshot({ maxStaleness: 60_000 });
    return writeRows(session, table, rows(schema), flags, token);
  }
}

async function createdOutcome(table: Table): Promise<Outcome> {
  const snapshot = await table.snapshot({ maxStaleness: 60_000 });
  const rows = await snapshot.count();
  return {
    status: 'committed',
    url: table.url,
    version: snapshot.version,
    created: true,
    added: { files: snapshot.fileCount, rows, bytes: snapshot.size },
    removed: { files: 0, rows: 0, bytes: 0 },
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
