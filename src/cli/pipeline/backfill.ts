import { type Command, Option } from 'commander';
import type { Reprocess } from '../../pipeline/plan.js';
import { repeated } from '../options.js';
import type { Register } from '../program.js';
import {
  type CommonFlags,
  type ExecuteFlags,
  type RangeFlags,
  withExecution,
  withPipeline,
  withRange,
} from './options.js';

interface BackfillFlags extends CommonFlags, ExecuteFlags, RangeFlags {
  readonly reprocess?: Reprocess;
  readonly backwards?: boolean;
  readonly interval?: readonly string[];
  readonly allowOpen?: boolean;
}

export const registerBackfill: Register = (program, cli) => {
  const command = program
    .command('backfill')
    .description('Run the intervals of a range: the plan is printed first, and exactly that is run.')
    .argument('<file>', 'the file that defines the pipeline')
    .option('--interval <interval>', 'only this interval or START/END; may be repeated', repeated)
    .addOption(
      new Option(
        '--reprocess <which>',
        'missing; stale: also those whose inputs changed; all (default: missing). none, failed and completed are taken too',
      ).choices(['missing', 'stale', 'all', 'none', 'failed', 'completed']),
    )
    .option('--backwards', 'newest first')
    .option('--allow-open', 'take the interval that has not ended as well')
    .addHelpText(
      'after',
      `
Examples:
  tablectl backfill pipeline.ts --from 2024-01-01 --to 2024-07-01 --max-active 4
  tablectl backfill pipeline.ts --from 2024-01-01 --reprocess all --dry-run`,
    );
  withPipeline(withExecution(withRange(command))).action(
    (file: string, flags: BackfillFlags, command: Command) =>
      cli.run(
        flags,
        async (session) => {
          const [{ loadPipelineFile }, { execute }, { rangeOf }, { intervalsOf }] = await Promise.all([
            import('./load.js'),
            import('./execute.js'),
            import('./options.js'),
            import('../../interval/argument.js'),
          ]);
          const pipeline = await loadPipelineFile(session, file, flags);
          const range = await rangeOf(session, pipeline, flags);
          const intervals = flags.interval?.flatMap((text) => [...intervalsOf(pipeline.calendar, text)]);
          if (flags.migrate) await pipeline.migrate();
          return execute(session, flags, {
            command,
            run: (options) =>
              pipeline.backfill({
                ...options,
                ...range,
                ...(intervals ? { intervals } : {}),
                reprocess: flags.reprocess,
                order: flags.backwards ? 'backwards' : 'forwards',
                allowOpen: flags.allowOpen,
              }),
          });
        },
        { stopsItself: true },
      ),
  );
};
