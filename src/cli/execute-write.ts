import type { TxnAction } from '../log/actions.js';
import type { TableContext } from '../runtime/table-context.js';
import { NO_ROWS, NOTHING } from '../write/plan.js';
import { describeRecord, recordOf } from '../write/replay.js';
import type { RowSource } from '../write/source.js';
import { assertTargeted, stage, write } from '../write/stage.js';
import type { StagedWrite } from '../write/staged-write.js';
import type { Verb, VerbName, WriteOptions, WriteResult } from '../write/verb.js';
import { assertConfirmed } from './confirm.js';
import type { Session } from './session.js';
import type { WriteFlags } from './write-options.js';
import { type PlanDocument, planDocument, planLines, removalText, verbText } from './write-plan.js';
import { printWrite, recordedOf, type WriteDocument } from './write-result.js';

/** What became of a write: it was done, or planned. */
export type Outcome = Omit<WriteDocument, 'ms'> | Omit<PlanDocument, 'ms'>;

export interface ExecuteOptions extends Pick<WriteOptions, 'onReplay' | 'evolve' | 'evolveTo'> {
  /** Called before a question is asked, so that nothing else writes on the terminal. */
  readonly beforeQuestion?: () => void;
}

/**
 * Does a write as the flags of the command line say, in one commit; with `--dry-run` it only plans. Where rows would be removed and `--yes` is not there, it
 * asks, and then commits exactly what it asked for. Throws as `table.stage` and `StagedWrite.commit`.
 */
export async function executeWrite(
  session: Session,
  table: TableContext,
  rows: RowSource | undefined,
  verb: Verb,
  flags: WriteFlags,
  execute: ExecuteOptions = {},
): Promise<Outcome> {
  if (flags.dryRun) return planWrite(session, table, rows, verb, flags, execute);
  const name = verbName(verb);
  const options = writeOptions(session, flags, execute);
  // A replay commits nothing, so there is nothing to ask.
  if (flags.yes || !asks(name) || (await replayed(table, flags)))
    return writeOutcome(table.url, name, await write(table, rows, verb, options));
  const staged = await stage(table, rows, verb, options);
  let isMeant = false;
  try {
    const document = await planOf(table, staged, flags);
    if (document.rows.deleted !== 0) {
      execute.beforeQuestion?.();
      await assertConfirmed(session, removalText(document));
    }
    isMeant = true;
  } finally {
    if (!isMeant) await staged.discard();
  }
  return writeOutcome(table.url, name, await staged.commit());
}

/** Stages a write, plans it, deletes what it staged and commits nothing. Throws what the write would be refused for. */
export async function planWrite(
  session: Session,
  table: TableContext,
  rows: RowSource | undefined,
  verb: Verb,
  flags: WriteFlags,
  execute: ExecuteOptions = {},
): Promise<Omit<PlanDocument, 'ms'>> {
  const record = await replayed(table, flags);
  if (record) return skippedPlan(table, verbName(verb), record);
  const options = writeOptions(session, flags, execute);
  const staged = await stage(table, rows, verb, options);
  try {
    assertTargeted(table.url, staged, options);
    return await planOf(table, staged, flags);
  } finally {
    await staged.discard();
  }
}

/** Prints what became of a write. `startedAt` is of `performance.now()`. */
export async function printOutcome(
  session: Session,
  outcome: Outcome,
  startedAt: number,
  json: boolean | undefined,
): Promise<void> {
  const ms = Math.round(performance.now() - startedAt);
  if (!('dryRun' in outcome)) return printWrite(session, { ...outcome, ms }, json);
  const plan = { ...outcome, ms };
  if (json) return session.printJson(plan);
  await session.print(`${planLines(plan, session.paint).join('\n')}\n`);
  session.talk('A dry run: nothing was committed.');
}

/** Overwriting partitions is running them again: its rows name what goes. An update and a merge by key remove no row. */
function asks(verb: VerbName): boolean {
  return verb === 'delete' || verb === 'overwrite' || verb === 'replaceUsing';
}

async function planOf(
  table: TableContext,
  staged: StagedWrite,
  flags: WriteFlags,
): Promise<Omit<PlanDocument, 'ms'>> {
  const plan = await staged.plan();
  const state = await table.latest.get(Number.POSITIVE_INFINITY);
  return planDocument(table.url, staged.verb, plan, state, flags.token !== undefined);
}

/** What the table has recorded of the token, where that makes the write a replay. */
async function replayed(table: TableContext, { token }: WriteFlags): Promise<TxnAction | undefined> {
  return token && recordOf(await table.latest.get(), token, table.ctx.clock.now());
}

async function skippedPlan(
  table: TableContext,
  verb: VerbName,
  record: TxnAction,
): Promise<Omit<PlanDocument, 'ms'>> {
  const state = await table.latest.get(Number.POSITIVE_INFINITY);
  const { recorded } = await describeRecord(table, state, record);
  return {
    dryRun: true,
    status: 'skipped',
    verb: verbText(verb),
    url: table.url,
    version: state.version,
    created: false,
    added: NOTHING,
    removed: NOTHING,
    rewritten: NOTHING,
    rows: NO_ROWS,
    removedPaths: [],
    partitions: [],
    recorded: recordedOf(recorded),
  };
}

export function verbName(verb: Verb): VerbName {
  return typeof verb === 'string' ? verb : verb.verb;
}

/** The options of a write that the flags stand for. */
export function writeOptions(
  { signal }: Session,
  flags: WriteFlags,
  { onReplay, evolve, evolveTo }: ExecuteOptions,
): WriteOptions {
  const { token: txn, maxPartitions, maxFilesRemoved, maxRowsRemoved, isolation } = flags;
  const guards = { maxPartitions, maxFilesRemoved, maxRowsRemoved };
  return { txn, onReplay, signal, isolation, ...guards, evolve, evolveTo };
}

/** What became of a write, as documents have it. */
export function writeOutcome(url: string, verb: VerbName, result: WriteResult): Outcome {
  const { status, version, added, removed, rows, recorded } = result;
  return {
    status,
    verb: verbText(verb),
    url,
    version,
    created: false,
    added,
    removed,
    rows,
    recorded: recorded && recordedOf(recorded),
  };
}
