import type { RecordedToken } from '../write/replay.js';
import type { WriteResult } from '../write/verb.js';
import type { ImportMode } from './import-mode.js';
import { bytesText, counted, durationText } from './render/bytes.js';
import { isoTime } from './render/json.js';
import type { Session } from './session.js';

/** Verbs as the command line spells them. */
export type VerbText = ImportMode | 'create' | 'delete' | 'update';

export type RowsDone = WriteResult['rows'];

/** What the table has recorded of a token. */
export interface Recorded extends Pick<RecordedToken, 'appId' | 'version'> {
  /** The table's version that recorded it; left out where that commit is gone. */
  readonly commit?: number;
  readonly at?: string;
}

/** What commands that write tell of their commit (spec/schema/write.json). */
export interface WriteDocument extends Pick<WriteResult, 'status' | 'version' | 'added' | 'removed'> {
  readonly verb: VerbText;
  readonly url: string;
  readonly created: boolean;
  readonly rows: RowsDone;
  readonly recorded?: Recorded;
  /** Milliseconds. */
  readonly ms: number;
}

/** Prints the document with `--json`, one line for people without. */
export async function printWrite(
  session: Session,
  document: WriteDocument,
  json: boolean | undefined,
): Promise<void> {
  if (json) await session.printJson(document);
  else await session.print(`${writeLine(document, session)}\n`);
}

/** A recorded token as documents have it. */
export function recordedOf({ appId, version, commit, lastUpdated }: RecordedToken): Recorded {
  return { appId, version, commit, at: lastUpdated === undefined ? undefined : isoTime(lastUpdated) };
}

export function recordedText({ appId, version, commit }: Recorded): string {
  const where = commit === undefined ? '' : `, by version ${commit} of the table`;
  return `${appId}:${version} was committed before${where}`;
}

function writeLine(document: WriteDocument, { paint }: Session): string {
  const { status, verb, version, added, removed, rows, created, ms } = document;
  if (status !== 'committed') return `${paint('yellow', status)}: ${whyNot(document)} (version ${version})`;
  const parts = [`${paint('green', created ? 'created the table as' : 'committed')} version ${version}`];
  // Of verbs that copy rows, files tell little.
  const isByRow = !['create', 'append', 'overwrite-partitions'].includes(verb);
  const counts = isByRow ? rowsText(rows) : '';
  if (counts) parts.push(counts);
  if (added.files > 0) parts.push(`added ${isByRow ? filesText(added) : amountText(added)}`);
  if (removed.files > 0) parts.push(`removed ${isByRow ? filesText(removed) : amountText(removed)}`);
  return `${parts.join(', ')} in ${durationText(ms)}`;
}

function whyNot({ status, verb, recorded }: WriteDocument): string {
  if (status === 'skipped') return recorded ? recordedText(recorded) : 'this token was committed before';
  if (status === 'superseded') return 'another run was first';
  const isOfRows = verb !== 'delete' && verb !== 'update';
  return `${isOfRows ? 'no rows came' : 'no row is there for which --where is true'}, so nothing was committed`;
}

/** `inserted 3 rows, deleted 2`; empty where nothing was done. */
export function rowsText({ inserted, updated, deleted, copied }: RowsDone): string {
  const counts = [
    ['inserted', inserted],
    ['updated', updated],
    ['deleted', deleted],
    ['copied', copied],
  ] as const;
  return counts
    .filter(([, count]) => count !== 0)
    .map(
      ([name, count]) =>
        `${name} ${count === undefined ? 'an unknown number of rows' : counted(count, 'row')}`,
    )
    .join(', ');
}

/** `3 rows in 1 file (2.5 kB)`. */
export function amountText(amount: WriteDocument['added']): string {
  const { rows } = amount;
  return `${rows === undefined ? '' : `${counted(rows, 'row')} in `}${filesText(amount)}`;
}

function filesText({ files, bytes }: WriteDocument['added']): string {
  return `${counted(files, 'file')} (${bytesText(bytes)})`;
}
