import { CommanderError } from 'commander';
import { isTableError } from '../errors.js';
import { untilAborted } from '../runtime/abort.js';
import { EXIT, errorDocument, errorLines, exitCodeOf } from './errors.js';
import { buildProgram, type Cli } from './program.js';
import { openSession } from './session.js';
import { isPipeError, PipeClosed, paintFor, processTerminal, type Terminal, writeTo } from './terminal.js';

/**
 * Runs one command line, without the program's name, and gives its exit code. Data goes to `stdout`, words to `stderr`. SIGINT and SIGTERM stop
 * it at the next safe point with 130; a second one ends the process.
 */
export async function main(argv: readonly string[], terminal: Terminal = processTerminal()): Promise<number> {
  const stop = new AbortController();
  const interrupt = (): void => {
    if (stop.signal.aborted) process.exit(EXIT.interrupted);
    stop.abort();
  };
  const closed = (error: Error): void => {
    if (isPipeError(error)) stop.abort(new PipeClosed());
  };
  process.on('SIGINT', interrupt);
  process.on('SIGTERM', interrupt);
  terminal.stdout.on('error', closed);
  terminal.stderr.on('error', closed);
  let exitCode: number = EXIT.done;
  const cli: Cli = {
    terminal,
    async run(flags, action, options = {}) {
      const session = openSession(terminal, stop.signal, flags);
      try {
        const running = action(session);
        exitCode = (await (options.stopsItself ? running : untilAborted(running, stop.signal))) ?? EXIT.done;
      } finally {
        await session.close();
      }
    },
  };
  try {
    await buildProgram(cli).parseAsync([...argv], { from: 'user' });
    return exitCode;
  } catch (error) {
    return await report(error, argv.includes('--json'), terminal, stop.signal);
  } finally {
    process.off('SIGINT', interrupt);
    process.off('SIGTERM', interrupt);
    terminal.stdout.off('error', closed);
    terminal.stderr.off('error', closed);
  }
}

async function report(
  error: unknown,
  asJson: boolean,
  terminal: Terminal,
  signal: AbortSignal,
): Promise<number> {
  if (error instanceof PipeClosed || signal.reason instanceof PipeClosed) return EXIT.done;
  const exitCode = signal.aborted && isTableError(error, 'ABORTED') ? EXIT.interrupted : exitCodeOf(error);
  try {
    if (asJson && exitCode !== EXIT.done) {
      const { jsonText } = await import('./render/json.js');
      await writeTo(terminal.stdout, `${jsonText(errorDocument(error))}\n`);
    }
    // Commander has said what is wrong already.
    if (!(error instanceof CommanderError)) {
      const paint = paintFor(terminal.stderr, terminal.env);
      const [first, ...rest] =
        exitCode === EXIT.interrupted ? ['interrupted: nothing was committed.'] : errorLines(error);
      await writeTo(terminal.stderr, `${[paint('red', first!), ...rest].join('\n')}\n`);
    }
  } catch (failure) {
    if (!(failure instanceof PipeClosed)) throw failure;
  }
  return exitCode;
}
