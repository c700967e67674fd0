import type { Verification } from '../../pipeline/verify.js';
import { nameList, wholeNumber } from '../options.js';
import type { Register } from '../program.js';
import { counted } from '../render/bytes.js';
import { type CommonFlags, type RangeFlags, withPipeline, withRange } from './options.js';

interface VerifyFlags extends CommonFlags, RangeFlags {
  readonly interval?: string;
  readonly sample?: number;
  readonly ignore?: readonly string[];
  readonly asRecorded?: boolean;
}

export const registerVerify: Register = (program, cli) => {
  const command = program
    .command('verify')
    .description(
      'Produce intervals again and compare them with what was recorded and what is in the table. Commits nothing.',
    )
    .argument('<file>', 'the file that defines the pipeline')
    .option('--interval <interval>', 'one interval; by default every one of the range that was run')
    .option('--sample <n>', 'so many of them, spread over the range', wholeNumber)
    .option('--ignore <columns>', 'columns to leave out, separated by commas', nameList)
    .option('--as-recorded', 'read the versions of the inputs that the runs recorded')
    .addHelpText(
      'after',
      `
Exit code 5 when an interval differs, or was never run.

Examples:
  tablectl verify pipeline.ts --interval 2024-01-05
  tablectl verify pipeline.ts --from 2024-01-01 --to 2024-02-01 --sample 5 --ignore loaded_at`,
    );
  withPipeline(withRange(command)).action((file: string, flags: VerifyFlags) =>
    cli.run(flags, async (session) => {
      const [{ calling, loadPipelineFile }, { rangeOf }, { intervalDocument }, { EXIT }] = await Promise.all([
        import('./load.js'),
        import('./options.js'),
        import('./documents.js'),
        import('../errors.js'),
      ]);
      const pipeline = await loadPipelineFile(session, file, flags);
      const { ignore, asRecorded } = flags;
      let intervals = flags.interval === undefined ? [] : [pipeline.interval(flags.interval)];
      if (flags.interval === undefined) {
        const range = await rangeOf(session, pipeline, flags);
        const { entries } = await pipeline.coverage({ ...range, rows: false, inputs: false });
        intervals = spread(
          entries.filter(({ attempt }) => attempt > 0).map(({ interval }) => interval),
          flags.sample,
        );
      }
      if (intervals.length === 0) session.talk('nothing to verify: no interval of the range was run');
      const found: Verification[] = [];
      for (const interval of intervals) {
        const verification = await calling(file, () =>
          pipeline.verify(interval, { ignore, asRecorded, signal: session.signal }),
        );
        found.push(verification);
        if (!flags.json) await session.print(`${verificationLines(verification).join('\n')}\n`);
      }
      if (flags.json) {
        await session.printJson({
          pipeline: pipeline.name,
          url: pipeline.url,
          intervals: found.map(({ interval, recorded, produced, live, ...rest }) => ({
            ...rest,
            interval: intervalDocument(interval),
            recorded: recorded ?? null,
            produced: produced ?? null,
            live: live ?? null,
          })),
        });
      }
      return found.every(({ status }) => status === 'same') ? EXIT.done : EXIT.found;
    }),
  );
};

/** So many of the items, evenly spread. */
function spread<T>(items: readonly T[], count: number | undefined): T[] {
  if (count === undefined || count >= items.length) return [...items];
  return Array.from({ length: count }, (_, i) => items[Math.floor((i * items.length) / count)]!);
}

function verificationLines({ interval, status, ...found }: Verification): string[] {
  const { recorded, produced, live, onlyProduced, onlyInTable, unstable } = found;
  const side = (name: string, digest: Verification['live']): string[] =>
    digest ? [`${name} ${counted(digest.rows, 'row')}, digest ${digest.digest}`] : [];
  if (status !== 'differs')
    return [`${interval} ${status}${produced ? ` (${counted(produced.rows, 'row')})` : ''}`];
  const row = (mark: string) => (value: object) => `  ${mark} ${JSON.stringify(value, text)}`;
  return [
    `${interval} differs${unstable ? ': producing it twice gave two results' : ''}`,
    ...[...side('  recorded', recorded), ...side('  produced', produced), ...side('  in table', live)],
    ...onlyProduced.map(row('+')),
    ...onlyInTable.map(row('-')),
  ];
}

function text(_: string, value: unknown): unknown {
  return typeof value === 'bigint' ? value.toString() : value;
}
