import { wholeNumber } from '../options.js';
import type { Register } from '../program.js';
import { type CommonFlags, withPipeline } from './options.js';

interface UndoFlags extends CommonFlags {
  readonly interval: string;
  readonly toVersion?: number;
}

export const registerUndo: Register = (program, cli) => {
  const command = program
    .command('undo')
    .description('Bring the rows of one interval back to an earlier version, as a new run.')
    .argument('<source>', 'the table, or the file that defines the pipeline')
    .requiredOption('--interval <interval>', 'a label such as 2024-01-05, or START/END')
    .option(
      '--to-version <n>',
      'the version whose rows come back (default: before the last run)',
      wholeNumber,
    )
    .addHelpText(
      'after',
      `
Examples:
  tablectl undo pipeline.ts --interval 2024-01-05
  tablectl undo s3://lake/sales --interval 2024-01-05 --to-version 12`,
    );
  withPipeline(command).action((source: string, flags: UndoFlags) =>
    cli.run(
      flags,
      async (session) => {
        const [{ loadPipeline }, { runDocument }, { counted }] = await Promise.all([
          import('./load.js'),
          import('./documents.js'),
          import('../render/bytes.js'),
        ]);
        const pipeline = await loadPipeline(session, source, flags);
        const { toVersion } = flags;
        const result = await pipeline.undo(flags.interval, { toVersion, signal: session.signal });
        if (flags.json) await session.printJson(runDocument(pipeline.url, result));
        else {
          const { status, interval, rows, version } = result;
          await session.print(
            status === 'committed'
              ? `${session.paint('green', 'undone')}: ${interval} has ${counted(rows, 'row')} again, version ${version}\n`
              : `${session.paint('yellow', status)}: another run of ${interval} was first\n`,
          );
        }
        return undefined;
      },
      { stopsItself: true },
    ),
  );
};
