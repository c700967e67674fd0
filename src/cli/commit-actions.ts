import { isTableError, TableError } from '../errors.js';
import { parseCommit } from '../log/action-lines.js';
import type { Action, AddAction, RemoveAction } from '../log/actions.js';
import { stringifyJson } from '../log/json.js';
import { commitPath } from '../log/paths.js';
import { bytesText } from './render/bytes.js';
import { oneLine } from './render/table.js';
import type { Session } from './session.js';
import type { Paint } from './terminal.js';

/** The actions of one commit. Throws `NOT_A_TABLE` where there is no log, `VERSION_NOT_FOUND` where it has no such commit. */
export async function readActions(
  session: Session,
  url: string,
  version: number,
): Promise<{ url: string; actions: Action[] }> {
  const { store, latest } = (await session.runtime()).table(url);
  const key = commitPath(version);
  try {
    const bytes = await store.get(key, { signal: session.signal });
    return { url: store.url, actions: parseCommit(bytes, { version, file: key }) };
  } catch (error) {
    if (!isTableError(error, 'NOT_FOUND')) throw error;
    const { version: newest } = await latest.get();
    const why = version > newest ? `the newest is ${newest}` : 'its commit was cleaned up';
    throw new TableError(
      'VERSION_NOT_FOUND',
      `The log of ${store.url} has no commit of version ${version}: ${why}.`,
      { url: store.url, version, newest },
      error,
    );
  }
}

/** The actions for people: a line each for files, members under each other for the rest. */
export function actionLines(actions: readonly Action[], paint: Paint): string[] {
  return actions.flatMap((action) => {
    const [name, body] = Object.entries(action)[0] as [string, Readonly<Record<string, unknown>>];
    if (name === 'add') return fileLines(paint('green', 'add'), body as unknown as AddAction);
    if (name === 'remove') return fileLines(paint('red', 'remove'), body as unknown as RemoveAction);
    return [paint('bold', name), ...memberLines(body)];
  });
}

function fileLines(name: string, file: AddAction | RemoveAction): string[] {
  const values = Object.entries(file.partitionValues ?? {}).map(
    ([column, value]) => `${column}=${value ?? 'NULL'}`,
  );
  const facts = [
    oneLine(file.path),
    typeof file.size === 'number' ? bytesText(file.size) : undefined,
    values.length > 0 ? oneLine(values.join(', ')) : undefined,
    file.deletionVector ? `deletes ${file.deletionVector.cardinality} rows` : undefined,
    file.dataChange ? undefined : 'no data change',
  ];
  const line = `${name} ${facts.filter((fact) => fact !== undefined).join('  ')}`;
  return typeof file.stats === 'string' ? [line, `  stats  ${oneLine(file.stats)}`] : [line];
}

function memberLines(body: Readonly<Record<string, unknown>>): string[] {
  const members = Object.entries(body).filter(([, value]) => value !== undefined);
  const width = Math.max(0, ...members.map(([key]) => key.length));
  return members.map(
    ([key, value]) =>
      `  ${key.padEnd(width)}  ${oneLine(typeof value === 'string' ? value : stringifyJson(value))}`,
  );
}
