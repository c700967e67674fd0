import { supportedFeatures } from '../log/features.js';
import { printDdl } from '../schema/ddl.js';
import { create, planCreate, type TableDefinition } from '../write/create.js';
import type { CreateFlags } from './create.js';
import { durationText } from './render/bytes.js';
import { pairLines } from './render/table.js';
import type { Session } from './session.js';
import { printWrite, recordedOf } from './write-result.js';

/** What `create --dry-run` tells (spec/schema/create.json). */
interface CreateDocument {
  readonly dryRun: true;
  readonly status: 'planned';
  readonly url: string;
  readonly name?: string;
  readonly description?: string;
  /** The columns as DDL. */
  readonly schema: string;
  readonly partitionColumns: readonly string[];
  readonly properties: Readonly<Record<string, string>>;
  readonly protocol: {
    readonly minReaderVersion: number;
    readonly minWriterVersion: number;
    readonly features: readonly string[];
  };
  /** Milliseconds. */
  readonly ms: number;
}

/** Creates an empty table, or with `--dry-run` tells what it would be. Throws as `create`. */
export async function createEmpty(session: Session, url: string, flags: CreateFlags): Promise<undefined> {
  const startedAt = performance.now();
  const { schema, partitionBy, property: properties, name, description, token: txn, json } = flags;
  const definition = { schema, partitionBy, properties, name, description };
  const table = (await session.runtime()).table(url);
  const ms = (): number => Math.round(performance.now() - startedAt);
  if (flags.dryRun) return printPlan(session, await planOf(table, definition), ms(), json);
  const { signal } = session;
  const { status, version, added, removed, rows, recorded } = await create(table, definition, {
    txn,
    signal,
  });
  const created = status === 'committed';
  const outcome = { status, verb: 'create', url: table.url, version, created, added, removed, rows } as const;
  await printWrite(session, { ...outcome, recorded: recorded && recordedOf(recorded), ms: ms() }, json);
}

async function planOf(
  table: Parameters<typeof planCreate>[0],
  definition: TableDefinition,
): Promise<Omit<CreateDocument, 'ms'>> {
  const { schema, metadata, protocol } = await planCreate(table, definition);
  const { minReaderVersion, minWriterVersion } = protocol;
  return {
    dryRun: true,
    status: 'planned',
    url: table.url,
    name: metadata.name ?? undefined,
    description: metadata.description ?? undefined,
    schema: printDdl(schema),
    partitionColumns: metadata.partitionColumns,
    properties: metadata.configuration,
    protocol: { minReaderVersion, minWriterVersion, features: supportedFeatures(protocol) },
  };
}

async function printPlan(
  session: Session,
  plan: Omit<CreateDocument, 'ms'>,
  ms: number,
  json: boolean | undefined,
): Promise<undefined> {
  if (json) {
    await session.printJson({ ...plan, ms });
    return;
  }
  const { protocol, partitionColumns, properties } = plan;
  const told = Object.entries(properties).map(([key, value]) => `${key}=${value}`);
  const lines = pairLines(
    [
      ['table', plan.url],
      ['plan', 'create as version 0'],
      ['name', plan.name],
      ['description', plan.description],
      ['columns', plan.schema],
      ['partitioned by', partitionColumns.length > 0 ? partitionColumns.join(', ') : undefined],
      ['properties', told.length > 0 ? told.join('\n') : undefined],
      ['reader version', String(protocol.minReaderVersion)],
      ['writer version', String(protocol.minWriterVersion)],
      ['features', protocol.minWriterVersion < 7 ? undefined : protocol.features.join(', ')],
      ['took', durationText(ms)],
    ],
    session.paint,
  );
  await session.print(`${lines.join('\n')}\n`);
  session.talk('A dry run: nothing was created.');
}
