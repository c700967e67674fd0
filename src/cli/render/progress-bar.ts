import type { SingleBar } from 'cli-progress';
import type { Session } from '../session.js';

const WIDTH = 30;

/**
 * A bar on standard error that goes away when it is stopped; start it. `text` gives its line: `share` is from 0 to 1, and `drawn` draws the bar itself. The
 * package is loaded by the call.
 */
export async function progressBar(
  session: Session,
  text: (share: number, drawn: () => string) => string,
): Promise<SingleBar> {
  const { Format, SingleBar } = (await import('cli-progress')).default;
  return new SingleBar({
    stream: session.terminal.stderr as NodeJS.WritableStream as NodeJS.WriteStream,
    clearOnComplete: true,
    hideCursor: true,
    fps: 10,
    format: (options, { progress }) =>
      text(progress, () => Format.BarFormat(progress, { ...options, barsize: WIDTH })),
    barCompleteChar: '\u2588',
    barIncompleteChar: '\u2591',
  });
}
