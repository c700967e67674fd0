import type { RuntimeEvent } from '../../runtime/events.js';
import type { Session } from '../session.js';
import { bytesText, countText } from './bytes.js';

/** Shows on standard error how far an import is: a bar on a terminal, nothing in a pipe. */
export interface Progress {
  /** More bytes of the input were read. */
  read(bytes: number): void;
  /** Takes the bar away. */
  stop(): void;
}

/** `total` is the bytes of the input, undefined where unknown. */
export async function startProgress(session: Session, total: number | undefined): Promise<Progress> {
  const { stderr } = session.terminal;
  if (stderr.isTTY !== true) return { read: () => undefined, stop: () => undefined };
  const { Format, SingleBar } = (await import('cli-progress')).default;
  let rows = 0;
  let done = 0;
  const bar = new SingleBar({
    stream: stderr as NodeJS.WritableStream as NodeJS.WriteStream,
    clearOnComplete: true,
    hideCursor: true,
    fps: 10,
    format: (options, { progress }) => {
      const share =
        total === undefined
          ? ''
          : `${Format.BarFormat(progress, { ...options, barsize: 30 })} ${String(Math.floor(progress * 100)).padStart(3)} %  `;
      return `${share}${bytesText(done)} read  ${countText(rows)} rows`;
    },
    barCompleteChar: '\u2588',
    barIncompleteChar: '\u2591',
  });
  bar.start(total ?? 1, 0);
  session.listen((event: RuntimeEvent) => {
    if (event.type === 'rowsStaged') rows += event.rows;
  });
  return {
    read(bytes) {
      done += bytes;
      bar.update(Math.min(done, total ?? 0));
    },
    stop: () => bar.stop(),
  };
}
