import { openTable } from '../table.js';
import type { VersionFlags } from './options.js';
import type { RowStream } from './rows.js';
import type { Session } from './session.js';

/** What a read takes from the command line. */
export interface ReadFlags extends VersionFlags {
  readonly where?: string;
  readonly columns?: readonly string[];
  readonly limit?: number;
}

/** Plans a read; rows are read as they are asked for. Throws as `openTable` and `Scan.plan`. */
export async function scanRows(session: Session, url: string, flags: ReadFlags): Promise<RowStream> {
  const table = await openTable(url, { runtime: await session.runtime() });
  const { version, timestamp } = flags;
  const snapshot = await table.snapshot({ version, timestamp, maxStaleness: 60_000 });
  const { where, columns, limit } = flags;
  const scan = snapshot.scan({ where, columns, limit, signal: session.signal });
  const { schema } = await scan.plan();
  return { url: table.url, version: snapshot.version, schema, batches: scan.batches() };
}
