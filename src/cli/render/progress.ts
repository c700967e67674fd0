import type { Session } from '../session.js';
import { bytesText, countText, durationText } from './bytes.js';
import { progressBar } from './progress-bar.js';

/** Shows on standard error how far an import is: a bar on a terminal, a line now and then in a pipe. */
export interface Progress {
  /** More bytes of the input were read. */
  read(bytes: number): void;
  /** Takes the bar away; once is enough, twice no harm. */
  stop(): void;
}

/** Between two lines in a pipe; what is done sooner says nothing. */
const LINE_EVERY_MS = 10_000;

/** `total` is the bytes of the input, undefined where unknown. */
export async function startProgress(session: Session, total: number | undefined): Promise<Progress> {
  let rows = 0;
  session.listen((event) => {
    if (event.type === 'rowsStaged') rows += event.rows;
  });
  const text = (done: number): string => `${bytesText(done)} read, ${countText(rows)} rows`;
  return session.terminal.stderr.isTTY === true
    ? barProgress(session, total, text)
    : lineProgress(session, total, text);
}

function lineProgress(session: Session, total: number | undefined, text: (done: number) => string): Progress {
  const startedAt = performance.now();
  let done = 0;
  const timer = setInterval(() => {
    const share = total === undefined ? '' : ` of ${bytesText(total)}`;
    session.talk(
      `${text(done).replace(' read', `${share} read`)} in ${durationText(performance.now() - startedAt)}`,
    );
  }, LINE_EVERY_MS);
  timer.unref();
  return {
    read(bytes) {
      done += bytes;
    },
    stop: () => clearInterval(timer),
  };
}

async function barProgress(
  session: Session,
  total: number | undefined,
  text: (done: number) => string,
): Promise<Progress> {
  let done = 0;
  const bar = await progressBar(session, (share, drawn) => {
    if (total === undefined) return text(done);
    const percent = String(Math.floor(share * 100)).padStart(3);
    return `${drawn()} ${percent} %  ${text(done)}`;
  });
  bar.start(total ?? 1, 0);
  return {
    read(bytes) {
      done += bytes;
      bar.update(Math.min(done, total ?? 0));
    },
    stop() {
      if (bar.isActive) bar.stop();
    },
  };
}
