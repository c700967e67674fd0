import type { Register } from '../program.js';
import { type CommonFlags, withPipeline } from './options.js';

interface RunFlags extends CommonFlags {
  readonly interval: string;
  readonly force?: boolean;
  readonly asRecorded?: boolean;
  readonly allowOpen?: boolean;
  readonly migrate?: boolean;
}

export const registerRun: Register = (program, cli) => {
  const command = program
    .command('run')
    .description('Run a pipeline for one interval: its rows replace those of the last run, in one commit.')
    .argument('<file>', 'the file that defines the pipeline')
    .requiredOption('--interval <interval>', 'a label such as 2024-01-05, or START/END')
    .option('--force', 'produce again when another run of the interval was first')
    .option('--as-recorded', 'read the versions of the inputs that the last run recorded')
    .option('--allow-open', 'run an interval that has not ended')
    .option('--migrate', 'replace the calendar recorded beside the log by the one defined')
    .addHelpText(
      'after',
      `
Examples:
  tablectl run pipeline.ts --interval 2024-01-05
  tablectl run pipeline.ts --interval 2024-01-05T00:00:00Z/2024-01-06T00:00:00Z --json`,
    );
  withPipeline(command).action((file: string, flags: RunFlags) =>
    cli.run(
      flags,
      async (session) => {
        const [{ calling, loadPipelineFile }, { runDocument }, { counted, durationText }, { instantText }] =
          await Promise.all([
            import('./load.js'),
            import('./documents.js'),
            import('../render/bytes.js'),
            import('../../interval/interval.js'),
          ]);
        const pipeline = await loadPipelineFile(session, file, flags);
        const interval = pipeline.interval(flags.interval);
        const local = interval.timeZone === 'UTC' ? '' : ` (${interval.local} in ${interval.timeZone})`;
        session.talk(`interval: ${instantText(interval.startMs)} to ${instantText(interval.endMs)}${local}`);
        if (flags.migrate) await pipeline.migrate();
        const { force, asRecorded, allowOpen } = flags;
        const { signal } = session;
        const result = await calling(file, () =>
          pipeline.run(interval, { force, asRecorded, allowOpen, signal }),
        );
        if (flags.json) await session.printJson(runDocument(pipeline.url, result));
        else {
          const { status, rows, attempt, version, durationMs } = result;
          const told = {
            committed: ` ${counted(rows, 'row')} as version ${version}: ${interval}, attempt ${attempt}, in ${durationText(durationMs)}`,
            skipped: `: ${interval} was run before, attempt ${attempt}`,
            superseded: `: another run of ${interval} was committed first, attempt ${attempt}; the rows of this one were dropped`,
          }[status];
          const colour = status === 'committed' ? 'green' : 'yellow';
          await session.print(`${session.paint(colour, status)}${told}\n`);
        }
        return undefined;
      },
      { stopsItself: true },
    ),
  );
};
