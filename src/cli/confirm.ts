import { createInterface } from 'node:readline/promises';
import { TableError } from '../errors.js';
import { untilAborted } from '../runtime/abort.js';
import type { Session } from './session.js';
import type { Terminal } from './terminal.js';

/**
 * Asks whether to go on. Throws `GUARD_REFUSED` where the answer is not yes, and where there is no terminal to ask on; `ABORTED` when interrupted.
 * `what` says what would happen, as a sentence.
 */
export async function assertConfirmed(session: Session, what: string): Promise<void> {
  if (!canAsk(session.terminal))
    throw new TableError(
      'GUARD_REFUSED',
      `${what} There is no terminal to ask on, so nothing was committed; add --yes if that is meant, or --dry-run to see the plan.`,
      { guard: 'yes' },
    );
  if (!(await asked(session, `${what} Go on? [y/N] `)))
    throw new TableError('GUARD_REFUSED', 'The answer was not yes. Nothing was committed.', { guard: 'yes' });
}

/** Rows typed in until the end of standard input leave nobody to answer. */
function canAsk({ stdin, stderr }: Terminal): boolean {
  return stdin.isTTY === true && stderr.isTTY === true && !stdin.readableEnded && !stdin.destroyed;
}

async function asked({ terminal, signal }: Session, question: string): Promise<boolean> {
  const { stdin, stderr } = terminal;
  // A line as it is, so that the terminal itself turns ^C into a signal.
  const lines = createInterface({ input: stdin, output: stderr, terminal: false });
  try {
    const ended = new Promise<string>((resolve) => lines.once('close', () => resolve('')));
    const answer = await untilAborted(Promise.race([lines.question(question), ended]), signal);
    return /^\s*y(es)?\s*$/i.test(answer);
  } finally {
    if (signal.aborted) stderr.write('\n');
    lines.close();
  }
}
