import { isTableError, TableError } from '../errors.js';
import { untilAborted } from '../runtime/abort.js';
import { openTable, type Table } from '../table.js';
import { UsageError } from './errors.js';
import { type Outcome, printOutcome } from './execute-write.js';
import type { ImportFlags } from './import.js';
import { importNew } from './import-create.js';
import { writeInto } from './import-existing.js';
import { verbOf } from './import-mode.js';
import { batchesOf, type Prepared, prepare, type Rows } from './import-rows.js';
import { parseDerivation } from './input/derive.js';
import { openInput } from './input/open.js';
import type { Input } from './input/source.js';
import { partitionRecords } from './partition-records.js';
import { bytesText, counted } from './render/bytes.js';
import { startProgress } from './render/progress.js';
import type { Session } from './session.js';
import { openLog } from './state.js';

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
  const derivations = (flags.derive ?? []).map(parseDerivation);
  const runtime = await session.runtime();
  const existing = await untilAborted(openExisting(session, url, flags), session.signal);
  const verb = verbOf(flags);
  if (verb === undefined) throw await unnamedTarget(session, existing?.url);
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
      const isReplaced = flags.evolve?.includes('overwrite') ?? false;
      const target =
        existing && !isReplaced ? (await existing.snapshot({ maxStaleness: 60_000 })).schema : undefined;
      const prepared: Prepared[] = [];
      for (const input of inputs) prepared.push(await prepare(session, input, derivations, target, flags));
      const rows: Rows = (schema) => batchesOf(session, prepared, schema, progress.read);
      const execute = { onReplay: flags.onReplay, beforeQuestion: progress.stop };
      const given = { verb, prepared, rows, flags, execute };
      outcome = existing
        ? await writeInto(session, existing, given)
        : await importNew(session, { url, ...given });
    } finally {
      progress.stop();
    }
    await printOutcome(session, outcome, startedAt, flags.json);
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

/** The refusal of an overwrite that does not say of what: it tells what everything would be. Reads the log alone. */
async function unnamedTarget(session: Session, url: string | undefined): Promise<UsageError> {
  const help =
    'Say --where SQL for some rows, --all for everything, or --mode overwrite-partitions for the partitions that the rows lie in.';
  if (url === undefined) return new UsageError(`--mode overwrite does not say what it replaces. ${help}`, {});
  const { table, state } = await openLog(session, url);
  const records = await partitionRecords(state, session.signal);
  const isPartitioned = state.metadata.partitionColumns.length > 0;
  const files = records.reduce((sum, record) => sum + record.files, 0);
  const bytes = records.reduce((sum, record) => sum + record.bytes, 0);
  const context = {
    url: table.url,
    version: state.version,
    files,
    bytes,
    ...(isPartitioned ? { partitions: records.length } : {}),
  };
  const partitions = isPartitioned ? `${counted(records.length, 'partition')}, ` : '';
  return new UsageError(
    `--mode overwrite does not say what it replaces, and everything in ${table.url} would go: ${partitions}${counted(files, 'file')} (${bytesText(bytes)}). Nothing was committed. ${help}`,
    context,
  );
}
