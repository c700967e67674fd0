import type { IntervalOutcome } from '../../pipeline/backfill.js';
import { counted, countText, durationText } from '../render/bytes.js';
import { progressBar } from '../render/progress-bar.js';
import type { Session } from '../session.js';

/** Shows on standard error how far many runs are: a bar on a terminal, a line an interval in a pipe and where there are few. */
export interface RunProgress {
  /** One more interval has ended. */
  ended(outcome: IntervalOutcome, done: number): void;
  /** Takes the bar away and tells what went wrong meanwhile; what ends later has a line. */
  stop(): void;
}

/** So few intervals are told one by one on a terminal too. */
const FEW = 10;

/** `total` is the number of intervals. */
export async function startRunProgress(session: Session, total: number): Promise<RunProgress> {
  const startedAt = performance.now();
  const left = (done: number): string =>
    durationText(((performance.now() - startedAt) / done) * (total - done));
  const line = (outcome: IntervalOutcome, done: number): string =>
    outcomeText(session, outcome, ` (${done}/${total}${done < total ? `, ${left(done)} left` : ''})`);
  if (session.terminal.stderr.isTTY !== true || total <= FEW) {
    return { ended: (outcome, done) => session.talk(line(outcome, done)), stop: () => undefined };
  }
  let [ended, rows] = [0, 0];
  const bar = await progressBar(session, (_, drawn) => {
    const rate = ended / ((performance.now() - startedAt) / 1000);
    const pace =
      ended === 0 ? '' : `, ${rate.toFixed(1)} a second${ended < total ? `, ${left(ended)} left` : ''}`;
    return `${drawn()} ${countText(ended)} of ${counted(total, 'interval')}, ${counted(rows, 'row')}${pace}`;
  });
  bar.start(total, 0);
  const noted: string[] = [];
  return {
    ended(outcome, done) {
      ended = done;
      rows += outcome.rows ?? 0;
      if (!bar.isActive) session.talk(line(outcome, done));
      else if (outcome.status !== 'committed') noted.push(outcomeText(session, outcome, ''));
      bar.update(done);
    },
    stop() {
      if (!bar.isActive) return;
      bar.stop();
      for (const text of noted) session.talk(text);
    },
  };
}

function outcomeText(
  { paintTalk }: Session,
  { interval, status, rows, error, durationMs }: IntervalOutcome,
  place: string,
): string {
  const colour = status === 'committed' ? 'green' : status === 'failed' ? 'red' : 'yellow';
  const what = rows === undefined || status === 'skipped' ? '' : ` ${counted(rows, 'row')}`;
  const why = error ? `: ${error.message}` : '';
  return `${interval.label} ${paintTalk(colour, status)}${what} in ${durationText(durationMs)}${place}${why}`;
}
