import type { WriteResult } from '../write/verb.js';
import { bytesText, counted, durationText } from './render/bytes.js';
import type { Session } from './session.js';

/** What `create` and `import` tell of their commit (spec/schema/write.json). */
export interface WriteDocument extends Pick<WriteResult, 'status' | 'version' | 'added' | 'removed'> {
  readonly url: string;
  readonly created: boolean;
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

function writeLine(
  { status, version, added, removed, created, ms }: WriteDocument,
  { paint }: Session,
): string {
  if (status !== 'committed') {
    const why = {
      unchanged: 'no rows came, so nothing was committed',
      skipped: 'this token was committed before',
      superseded: 'another run was first',
    }[status];
    return `${paint('yellow', status)}: ${why} (version ${version})`;
  }
  const verb = created ? 'created the table as' : 'committed';
  const parts = [`${paint('green', verb)} version ${version}`];
  if (added.files > 0) parts.push(`added ${amountText(added)}`);
  if (removed.files > 0) parts.push(`removed ${amountText(removed)}`);
  return `${parts.join(', ')} in ${durationText(ms)}`;
}

function amountText({ files, rows, bytes }: WriteDocument['added']): string {
  const count = rows === undefined ? '' : `${counted(rows, 'row')} in `;
  return `${count}${counted(files, 'file')} (${bytesText(bytes)})`;
}
