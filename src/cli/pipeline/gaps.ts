import type { Register } from '../program.js';
import { type CommonFlags, type RangeFlags, withPipeline, withRange } from './options.js';

export const registerGaps: Register = (program, cli) => {
  const command = program
    .command('gaps')
    .description('The spans of time that have ended and were never run.')
    .argument('<source>', 'the table, or the file that defines the pipeline')
    .addHelpText(
      'after',
      `
Examples:
  tablectl gaps s3://lake/sales
  tablectl gaps pipeline.ts --from 2024-01-01 --json`,
    );
  withPipeline(withRange(command)).action((source: string, flags: CommonFlags & RangeFlags) =>
    cli.run(flags, async (session) => {
      const [{ loadPipeline }, { rangeOf }, { instantText }] = await Promise.all([
        import('./load.js'),
        import('./options.js'),
        import('../../interval/interval.js'),
      ]);
      const pipeline = await loadPipeline(session, source, flags);
      const range = await rangeOf(session, pipeline, flags);
      const found = await pipeline.gaps({ ...range, rows: false, signal: session.signal });
      const gaps = found.map(({ startMs, endMs }) => ({
        start: instantText(startMs),
        end: instantText(endMs),
      }));
      if (flags.json) await session.printJson({ pipeline: pipeline.name, url: pipeline.url, gaps });
      else if (gaps.length === 0) session.talk('no gaps');
      else await session.print(gaps.map(({ start, end }) => `${start}/${end}\n`).join(''));
      return undefined;
    }),
  );
};
