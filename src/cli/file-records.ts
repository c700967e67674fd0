import type { FileVerdict } from '../scan/prune.js';
import { columnMappingMode, physicalName } from '../schema/mapping.js';
import type { State } from '../snapshot/state.js';
import { liveAmount } from '../write/plan.js';
import { bytesText, counted, countText } from './render/bytes.js';
import { isoTime } from './render/json.js';
import { oneLine, tableLines } from './render/table.js';
import type { Paint } from './terminal.js';

/** One live file (spec/schema/files.json). `kept` and what follows it only with a condition. */
export interface FileRecord {
  readonly path: string;
  readonly bytes: number;
  readonly rows?: number;
  readonly modifiedAt: string;
  readonly partitionValues: Readonly<Record<string, string | null>>;
  readonly deletedRows?: number;
  readonly kept?: boolean;
  readonly skippedBy?: 'partition' | 'statistics';
  readonly evidence?: FileVerdict['evidence'];
}

/** The live files in the order of the log. Reads the log alone. Throws `UNKNOWN_COLUMN`, `INVALID_PREDICATE`. */
export async function fileRecords(
  state: State,
  where: string | undefined,
  signal: AbortSignal,
): Promise<Iterable<FileRecord>> {
  const { files, metadata, protocol, schema } = state;
  const verdicts = new Map<number, FileVerdict>();
  if (where !== undefined) {
    const [{ bindPredicate }, { explainFiles }] = await Promise.all([
      import('../scan/bind.js'),
      import('../scan/prune.js'),
    ]);
    for (const verdict of await explainFiles(state, bindPredicate(where, schema), { signal }))
      verdicts.set(verdict.id, verdict);
  }
  await files.load({ statistics: true, actions: true }, { signal });
  const mode = columnMappingMode(metadata, protocol);
  const columns = metadata.partitionColumns.map((name) => {
    const field = schema.fields.find((candidate) => candidate.name === name)!;
    return { name, column: files.partition(physicalName(field, mode)) };
  });
  const record = (id: number): FileRecord => {
    const { rows } = liveAmount(state, [id]);
    const values = columns.map(
      ({ name, column }) => [name, column?.values[column.codes[id]!] ?? null] as const,
    );
    const deletedRows = files.hasDeletionVector(id) ? files.add(id).deletionVector?.cardinality : undefined;
    const { kept, skippedBy, evidence } = verdicts.get(id) ?? {};
    return {
      path: files.path(id),
      bytes: files.size(id),
      rows,
      modifiedAt: isoTime(files.modificationTime(id)),
      partitionValues: Object.fromEntries(values),
      deletedRows,
      kept,
      skippedBy,
      evidence,
    };
  };
  return {
    *[Symbol.iterator]() {
      for (const id of files.ids()) yield record(id);
    },
  };
}

/** The files for people; with a condition, each with its verdict, and their sum. */
export function fileLines(records: readonly FileRecord[], explained: boolean, paint: Paint): string[] {
  const columns = [
    ...(explained ? [{ title: 'read' }] : []),
    { title: 'rows', align: 'right' as const },
    { title: 'bytes', align: 'right' as const },
    { title: 'path' },
    ...(explained ? [{ title: 'why' }] : []),
  ];
  const rows = records.map((record) => [
    ...(explained ? [record.kept ? 'kept' : 'skipped'] : []),
    record.rows === undefined ? '-' : countText(record.rows),
    bytesText(record.bytes),
    oneLine(record.path),
    ...(explained ? [whyText(record)] : []),
  ]);
  const kept = explained ? records.filter((record) => record.kept) : records;
  const bytes = kept.reduce((sum, record) => sum + record.bytes, 0);
  const total = explained
    ? `${countText(kept.length)} of ${counted(records.length, 'file')} kept, ${bytesText(bytes)}`
    : `${counted(records.length, 'file')}, ${bytesText(bytes)}`;
  return [...tableLines(columns, rows, paint), paint('dim', total)];
}

function whyText({ kept, skippedBy, evidence = [] }: FileRecord): string {
  if (kept) return 'may hold rows';
  const known = evidence.map(({ column, value, min, max, nullCount }) => {
    if (value !== undefined) return `${column} = ${value}`;
    const range = min === undefined && max === undefined ? '' : ` in [${min ?? '?'}, ${max ?? '?'}]`;
    return `${column}${range}${nullCount === undefined ? '' : `, ${counted(nullCount, 'NULL')}`}`;
  });
  return oneLine(`${skippedBy}: ${known.join('; ')}`);
}
