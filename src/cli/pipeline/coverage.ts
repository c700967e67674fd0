import { nameList } from '../options.js';
import type { Register } from '../program.js';
import { type CommonFlags, type RangeFlags, withPipeline, withRange } from './options.js';

interface CoverageFlags extends CommonFlags, RangeFlags {
  readonly inputs: boolean;
  readonly rows: boolean;
  readonly keys?: boolean | readonly string[];
}

export const registerCoverage: Register = (program, cli) => {
  const command = program
    .command('coverage')
    .description('What is done and what is missing, from the table alone: a calendar, a cell an interval.')
    .argument('<source>', 'the table, or the file that defines the pipeline')
    .option('--no-inputs', 'do not look at what happened to the inputs')
    .option('--no-rows', 'do not compare the rows in the table with those recorded')
    .option(
      '--keys [columns]',
      "look for keys that lie in two intervals: the pipeline's, or these columns, separated by commas",
      nameList,
    )
    .addHelpText(
      'after',
      `
Examples:
  tablectl coverage s3://lake/sales
  tablectl coverage pipeline.ts --from 2024-01-01 --json
  tablectl coverage s3://lake/sales --keys order_id`,
    );
  withPipeline(withRange(command)).action((source: string, flags: CoverageFlags) =>
    cli.run(flags, async (session) => {
      const [{ loadPipeline }, { rangeOf }, { coverageJson, coverageLines }] = await Promise.all([
        import('./load.js'),
        import('./options.js'),
        import('./calendar.js'),
      ]);
      const pipeline = await loadPipeline(session, source, flags);
      const range = await rangeOf(session, pipeline, flags);
      const { inputs, rows, keys } = flags;
      const found = await pipeline.coverage({ ...range, inputs, rows, keys, signal: session.signal });
      if (flags.json) for (const piece of coverageJson(found)) await session.print(piece);
      else await session.print(`${coverageLines(found, pipeline.calendar, session.paint).join('\n')}\n`);
      return undefined;
    }),
  );
};
