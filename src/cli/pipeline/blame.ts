import type { Register } from '../program.js';
import { type CommonFlags, withPipeline } from './options.js';

interface BlameFlags extends CommonFlags {
  readonly where: string;
}

export const registerBlame: Register = (program, cli) => {
  const command = program
    .command('blame')
    .description('Which runs wrote the rows of a condition.')
    .argument('<source>', 'the table, or the file that defines the pipeline')
    .requiredOption('--where <sql>', 'the condition')
    .addHelpText(
      'after',
      `
Examples:
  tablectl blame s3://lake/sales --where "order_id = 4711"`,
    );
  withPipeline(command).action((source: string, flags: BlameFlags) =>
    cli.run(flags, async (session) => {
      const [{ loadPipeline }, { intervalDocument }, { tableLines }, { countText }] = await Promise.all([
        import('./load.js'),
        import('./documents.js'),
        import('../render/table.js'),
        import('../render/bytes.js'),
      ]);
      const pipeline = await loadPipeline(session, source, flags);
      const found = await pipeline.blame(flags.where, { signal: session.signal });
      if (flags.json) {
        await session.printJson({
          pipeline: pipeline.name,
          url: pipeline.url,
          rows: found.map(({ interval, rows, run, state }) => ({
            interval: interval ? intervalDocument(interval) : null,
            rows,
            state: state ?? null,
            run: run ?? null,
          })),
        });
        return undefined;
      }
      const right = 'right' as const;
      const columns = [
        { title: 'interval' },
        { title: 'rows', align: right },
        { title: 'state' },
        { title: 'attempt', align: right },
        { title: 'version', align: right },
        { title: 'code' },
        { title: 'run' },
      ];
      const rows = found.map(({ interval, rows: count, run, state }) => [
        interval?.label ?? 'none of the pipeline',
        countText(count),
        state ?? '',
        String(run?.attempt ?? ''),
        String(run?.version ?? ''),
        run?.codeVersion ?? '',
        run?.runId ?? 'not known',
      ]);
      await session.print(`${tableLines(columns, rows, session.paint).join('\n')}\n`);
      return undefined;
    }),
  );
};
