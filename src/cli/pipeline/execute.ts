import type { IntervalOutcome } from '../../pipeline/backfill.js';
import type { Backfilled, Pipeline } from '../../pipeline/pipeline.js';
import type { RunPlan } from '../../pipeline/plan.js';
import { EXIT } from '../errors.js';
import type { OutputFlags } from '../options.js';
import { counted, durationText } from '../render/bytes.js';
import { tableLines } from '../render/table.js';
import type { Session } from '../session.js';
import { planDocument, reportDocument } from './documents.js';
import type { ExecuteFlags } from './options.js';

/** Lines of a plan that are printed before it runs; a dry run prints all. */
const PLAN_LINES = 40;

/** What catch-ups and backfills are told alike. */
type Running = Omit<NonNullable<Parameters<Pipeline['catchUp']>[0]>, 'until' | 'lookback'>;

interface Doing {
  /** The command that goes on after a stop. */
  readonly resume: string;
  readonly run: (options: Running) => Promise<Backfilled>;
}

/**
 * Plans, prints the plan, runs exactly that, tells each interval as it ends, and gives the exit code: 3 when part failed, 1 when all did, 130 when stopped.
 * The first interrupt starts no more intervals and waits for those that run.
 */
export async function execute(
  session: Session,
  flags: ExecuteFlags & OutputFlags,
  { resume, run }: Doing,
): Promise<number> {
  const startedAt = performance.now();
  session.signal.addEventListener('abort', () => {
    session.talk('stopping: what runs is finished, nothing else is started; interrupt again to end at once');
  });
  const { plan, report } = await run({
    maxActive: flags.maxActive,
    retries: flags.retries,
    shard: flags.shard,
    dryRun: flags.dryRun,
    drain: session.signal,
    onPlan: (made) => tellPlan(session, made, flags),
    onOutcome: (outcome, { done, total }) => {
      session.talk(outcomeLine(session, outcome, done, total, performance.now() - startedAt));
    },
  });
  if (flags.json) {
    const told = report ? reportDocument(report) : null;
    await session.printJson({ plan: planDocument(plan), report: told });
  }
  if (!report) return EXIT.done;
  const { counts, stopped } = report;
  const done = counts.committed + counts.skipped + counts.superseded;
  if (!flags.json) {
    const parts = Object.entries(counts).flatMap(([status, count]) =>
      count > 0 ? [`${count} ${status}`] : [],
    );
    await session.print(`${parts.join(', ') || 'nothing to run'} in ${durationText(report.durationMs)}\n`);
  }
  if (counts.failed > 0 || stopped) session.talk(`what is left is run by: ${resume}`);
  if (stopped) return EXIT.interrupted;
  if (counts.failed > 0) return done > 0 ? EXIT.partial : EXIT.failed;
  return EXIT.done;
}

async function tellPlan(session: Session, plan: RunPlan, flags: ExecuteFlags & OutputFlags): Promise<void> {
  if (flags.json) return;
  const { items } = plan;
  const shown = flags.dryRun ? items : items.slice(0, PLAN_LINES);
  const left = Object.entries(plan.left).map(([state, count]) => `${count} ${state}`);
  const lines = [
    `plan: ${counted(items.length, 'interval')} of ${plan.pipeline} into ${plan.url} at version ${plan.version}${left.length > 0 ? `; left alone: ${left.join(', ')}` : ''}`,
  ];
  if (shown.length > 0) {
    const rows = shown.map(({ interval, why, attempt, replaces }) => [
      interval.label,
      interval.local,
      why,
      String(attempt + 1),
      replaces === undefined ? 'not counted' : String(replaces),
    ]);
    const columns = [
      { title: 'interval' },
      { title: 'starts' },
      { title: 'why' },
      { title: 'attempt', align: 'right' },
      { title: 'rows it replaces', align: 'right' },
    ] as const;
    lines.push(...tableLines(columns, rows, flags.dryRun ? session.paint : session.paintTalk));
  }
  if (shown.length < items.length) lines.push(`... and ${items.length - shown.length} more`);
  if (flags.dryRun) await session.print(`${lines.join('\n')}\n`);
  else session.talk(lines.join('\n'));
}

function outcomeLine(
  { paintTalk }: Session,
  { interval, status, rows, error, durationMs }: IntervalOutcome,
  done: number,
  total: number,
  elapsed: number,
): string {
  const colour = status === 'committed' ? 'green' : status === 'failed' ? 'red' : 'yellow';
  const what = error
    ? `: ${error.message}`
    : rows === undefined || status === 'skipped'
      ? ''
      : ` ${counted(rows, 'row')}`;
  const left = done < total ? `, ${durationText((elapsed / done) * (total - done))} left` : '';
  return `${interval.label} ${paintTalk(colour, status)}${what} in ${durationText(durationMs)} (${done}/${total}${left})`;
}
