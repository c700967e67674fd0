import type { Command } from 'commander';
import { wholeNumber } from '../options.js';
import type { Register } from '../program.js';
import {
  type CommonFlags,
  type ExecuteFlags,
  type RangeFlags,
  withExecution,
  withPipeline,
} from './options.js';

interface CatchUpFlags extends CommonFlags, ExecuteFlags, Pick<RangeFlags, 'tz'> {
  readonly until?: string;
  readonly lookback?: number;
}

export const registerCatchUp: Register = (program, cli) => {
  const command = program
    .command('catchup')
    .description('Run every interval that has ended and is missing, oldest first.')
    .argument('<file>', 'the file that defines the pipeline')
    .option('--until <instant>', 'only intervals that ended by then (default: now)')
    .option('--tz <zone>', "the zone of --until where it has none (default: the pipeline's)")
    .option('--lookback <n>', "run the last intervals again (default: the pipeline's)", wholeNumber)
    .addHelpText(
      'after',
      `
Examples:
  tablectl catchup pipeline.ts
  tablectl catchup pipeline.ts --max-active 4 --shard 0/2`,
    );
  withPipeline(withExecution(command)).action((file: string, flags: CatchUpFlags, command: Command) =>
    cli.run(
      flags,
      async (session) => {
        const [{ loadPipelineFile }, { execute }, { rangeOf }] = await Promise.all([
          import('./load.js'),
          import('./execute.js'),
          import('./options.js'),
        ]);
        const pipeline = await loadPipelineFile(session, file, flags);
        const { to } = await rangeOf(session, pipeline, { to: flags.until, tz: flags.tz }, { within: true });
        if (flags.migrate) await pipeline.migrate();
        return execute(session, flags, {
          command,
          run: (options) =>
            pipeline.catchUp({
              ...options,
              ...(to === undefined ? {} : { until: to }),
              ...(flags.lookback === undefined ? {} : { lookback: flags.lookback }),
            }),
        });
      },
      { stopsItself: true },
    ),
  );
};
