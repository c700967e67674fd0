import { printDdl } from '../schema/ddl.js';
import { openTable } from '../table.js';
import type { Alteration, AlterPlan } from '../write/alteration.js';
import type { AlterFlags } from './alter.js';
import { columnPath, nameOf } from './alter-changes.js';
import { assertConfirmed } from './confirm.js';
import { durationText } from './render/bytes.js';
import { pairLines } from './render/table.js';
import type { Session } from './session.js';

/** What `alter` tells (spec/schema/alter.json). */
interface AlterDocument {
  readonly status: 'committed' | 'unchanged' | 'planned';
  readonly dryRun: boolean;
  readonly url: string;
  readonly version: number;
  readonly operation: string;
  readonly changes: readonly string[];
  /** The columns as they are then, as DDL. */
  readonly schema: string;
  readonly properties: Readonly<Record<string, string>>;
  readonly newFeatures: readonly string[];
  readonly droppedFeatures: readonly string[];
  /** Milliseconds. */
  readonly ms: number;
}

/** Changes a table as the command line says, or with `--dry-run` tells what that would do. */
export async function alterTable(
  session: Session,
  url: string,
  given: readonly Alteration[],
  flags: AlterFlags,
): Promise<undefined> {
  const startedAt = performance.now();
  const table = await openTable(url, { runtime: await session.runtime() });
  const changes = given.map((change) => placed(change, flags));
  const { signal } = session;
  const ms = (): number => Math.round(performance.now() - startedAt);
  if (flags.dryRun) {
    const plan = await table.planAlter(changes, { signal });
    const status = plan.changes.length > 0 ? 'planned' : 'unchanged';
    await print(session, { ...documentOf(table.url, plan), status, dryRun: true, ms: ms() }, flags);
    session.talk('A dry run: nothing was committed.');
    return undefined;
  }
  const dropped = changes.flatMap((change) => ('dropColumn' in change ? [change.dropColumn] : []));
  if (dropped.length > 0 && !flags.yes) {
    await table.planAlter(changes, { signal });
    const names = dropped.map((column) => (typeof column === 'string' ? column : column.join('.')));
    await assertConfirmed(session, `This would drop ${names.join(', ')} from ${table.url}, with all values.`);
  }
  const result = await table.alter(changes, { signal });
  const { status, version } = result;
  await print(session, { ...documentOf(table.url, result), status, version, dryRun: false, ms: ms() }, flags);
  return undefined;
}

/** Where new columns go is said once for all of them. */
function placed(change: Alteration, { within, first, after }: AlterFlags): Alteration {
  if (!('addColumns' in change)) return change;
  return {
    ...change,
    ...(within === undefined ? {} : { within: columnPath(within) }),
    ...(first ? { first } : {}),
    ...(after === undefined ? {} : { after: nameOf(after) }),
  };
}

function documentOf(url: string, plan: AlterPlan): Omit<AlterDocument, 'status' | 'dryRun' | 'ms'> {
  const { version, operation, changes, schema, properties, newFeatures, droppedFeatures } = plan;
  const features = { newFeatures, droppedFeatures };
  return { url, version, operation, changes, schema: printDdl(schema), properties, ...features };
}

async function print(session: Session, document: AlterDocument, { json }: AlterFlags): Promise<void> {
  if (json) return session.printJson(document);
  const { paint } = session;
  const { status, version, changes, newFeatures, ms } = document;
  if (status === 'unchanged')
    return session.print(`${paint('yellow', status)}: the table is so already (version ${version})\n`);
  const features = newFeatures.length > 0 ? newFeatures.join(', ') : undefined;
  if (status === 'committed') {
    const gained = features ? `, which brings ${features}` : '';
    return session.print(
      `${paint('green', status)} version ${version}: ${changes.join('; ')}${gained} in ${durationText(ms)}\n`,
    );
  }
  const lines = pairLines(
    [
      ['table', document.url],
      ['plan', `${document.operation} on version ${version}`],
      ['changes', changes.join('\n')],
      ['new features', features],
      ['lost features', document.droppedFeatures.join(', ') || undefined],
      ['columns', document.schema],
      ['took', durationText(ms)],
    ],
    paint,
  );
  return session.print(`${lines.join('\n')}\n`);
}
