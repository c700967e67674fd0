import type { Command } from 'commander';
import type { Pipeline, Planned } from '../../pipeline/pipeline.js';
import type { RunPlan } from '../../pipeline/plan.js';
import { EXIT } from '../errors.js';
import type { OutputFlags } from '../options.js';
import { durationText } from '../render/bytes.js';
import type { Session } from '../session.js';
import { planDocument, reportDocument } from './documents.js';
import type { ExecuteFlags } from './options.js';
import { planLines } from './plan-lines.js';
import { type RunProgress, startRunProgress } from './progress.js';
import { resumeCommand } from './resume.js';

/** What catch-ups and backfills are told alike. */
type Running = Omit<NonNullable<Parameters<Pipeline['catchUp']>[0]>, 'until' | 'lookback'>;

interface Doing {
  /** What was typed, for the one that goes on after a stop. */
  readonly command: Command;
  readonly run: (options: Running) => Promise<Planned>;
}

/**
 * Plans, prints the plan, runs exactly that, tells each interval as it ends, and gives the exit code: 3 when part failed, 1 when all did, 130 when stopped.
 * The first interrupt starts no more intervals and waits for those that run.
 */
export async function execute(
  session: Session,
  flags: ExecuteFlags & OutputFlags,
  { command, run }: Doing,
): Promise<number> {
  let progress: RunProgress | undefined;
  session.signal.addEventListener('abort', () => {
    progress?.stop();
    session.talk('stopping: what runs is finished, nothing else is started; interrupt again to end at once');
  });
  const { plan, report } = await run({
    maxActive: flags.maxActive,
    retries: flags.retries,
    shard: flags.shard,
    dryRun: flags.dryRun,
    drain: session.signal,
    onPlan: async (made) => {
      await tellPlan(session, made, flags);
      if (!flags.dryRun && made.items.length > 0)
        progress = await startRunProgress(session, made.items.length);
    },
    onOutcome: (outcome, { done }) => progress?.ended(outcome, done),
  }).finally(() => progress?.stop());
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
    const told = `${parts.join(', ')} in ${durationText(report.durationMs)}`;
    await session.print(parts.length === 0 ? 'nothing to run\n' : `${told}\n`);
  }
  if (counts.failed > 0 || stopped) session.talk(`what is left is run by: ${resumeCommand(command, report)}`);
  if (stopped) return EXIT.interrupted;
  if (counts.failed > 0) return done > 0 ? EXIT.partial : EXIT.failed;
  return EXIT.done;
}

async function tellPlan(session: Session, plan: RunPlan, flags: ExecuteFlags & OutputFlags): Promise<void> {
  if (flags.json) return;
  if (flags.dryRun) await session.print(`${planLines(plan, session.paint, true).join('\n')}\n`);
  else session.talk(planLines(plan, session.paintTalk, false).join('\n'));
}
