import type { Register } from '../program.js';
import { type CommonFlags, type RangeFlags, withPipeline, withRange } from './options.js';

interface RunsFlags extends CommonFlags, RangeFlags {
  readonly interval?: string;
}

export const registerRuns: Register = (program, cli) => {
  const command = program
    .command('runs')
    .description('The last run of every interval, and failures that no run has made good.')
    .argument('<source>', 'the table, or the file that defines the pipeline')
    .option('--interval <interval>', 'every attempt of one interval')
    .addHelpText(
      'after',
      `
Examples:
  tablectl runs s3://lake/sales --from 2024-01-01
  tablectl runs pipeline.ts --interval 2024-01-05 --json`,
    );
  withPipeline(withRange(command)).action((source: string, flags: RunsFlags) =>
    cli.run(flags, async (session) => {
      const [{ loadPipeline }, { rangeOf }, { tableLines }, { countText, durationText }, { instantText }] =
        await Promise.all([
          import('./load.js'),
          import('./options.js'),
          import('../render/table.js'),
          import('../render/bytes.js'),
          import('../../interval/interval.js'),
        ]);
      const pipeline = await loadPipeline(session, source, flags);
      const { from = -Infinity, to = Infinity } = await rangeOf(session, pipeline, flags, { within: true });
      const found =
        flags.interval === undefined
          ? await pipeline.runs().then(({ committed, failed }) => [...committed, ...failed])
          : await pipeline.attempts(flags.interval);
      const notes = found.filter(({ start }) => Date.parse(start) >= from && Date.parse(start) < to);
      if (flags.json) {
        await session.printJson({ pipeline: pipeline.name, url: pipeline.url, runs: notes });
        return undefined;
      }
      if (notes.length === 0) session.talk('no runs');
      const rows = notes.map((note) => [
        note.label,
        String(note.attempt),
        note.status === 'committed' && note.mode === 'undo' ? 'undone' : note.status,
        note.status === 'committed' ? String(note.version) : '',
        note.status === 'committed' ? countText(note.rows) : '',
        instantText(note.startedAt - (note.startedAt % 1000)),
        durationText(note.durationMs),
        note.status === 'failed' ? note.error.message : (note.codeVersion ?? ''),
      ]);
      const right = 'right' as const;
      const columns = [
        { title: 'interval' },
        { title: 'attempt', align: right },
        { title: 'status' },
        { title: 'version', align: right },
        { title: 'rows', align: right },
        { title: 'started' },
        { title: 'took', align: right },
        { title: 'code or error' },
      ];
      await session.print(`${tableLines(columns, rows, session.paint).join('\n')}\n`);
      return undefined;
    }),
  );
};
