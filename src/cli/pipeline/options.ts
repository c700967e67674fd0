import type { Command } from 'commander';
import { InvalidArgumentError, Option } from 'commander';
import type { Pipeline } from '../../pipeline/pipeline.js';
import type { Shard } from '../../pipeline/plan.js';
import { type OutputFlags, type StoreFlags, wholeNumber, withOutput, withStore } from '../options.js';
import type { Session } from '../session.js';
import type { PipelineFlags } from './load.js';

export type CommonFlags = StoreFlags & OutputFlags & PipelineFlags;

export interface RangeFlags {
  readonly from?: string;
  readonly to?: string;
  readonly tz?: string;
}

/** How a plan is run. */
export interface ExecuteFlags {
  readonly maxActive?: number;
  readonly retries?: number;
  readonly shard?: Shard;
  readonly dryRun?: boolean;
  readonly migrate?: boolean;
}

/** `--pipeline`, the store, `--json`. */
export function withPipeline(command: Command): Command {
  return withOutput(withStore(command.option('--pipeline <name>', 'the pipeline, where there are several')));
}

/** `--from`, `--to`, `--tz`. */
export function withRange(command: Command): Command {
  return command
    .option('--from <instant>', "where the range starts (default: the pipeline's start)")
    .option('--to <instant>', 'where it ends, itself not included (default: now)')
    .option('--tz <zone>', "the zone of --from and --to where they have none (default: the pipeline's)");
}

/** `--max-active` and the others of commands that run many intervals. */
export function withExecution(command: Command): Command {
  return command
    .option('--max-active <n>', 'intervals at once (default: 1)', wholeNumber)
    .option('--retries <n>', 'tries of an interval after the first (default: 2)', wholeNumber)
    .addOption(
      new Option(
        '--shard <i/n>',
        "this worker's part: its number from 0, and how many there are; I may be left out where JOB_COMPLETION_INDEX says it",
      ).argParser(shard),
    )
    .option('--dry-run', 'print the plan and run nothing')
    .option('--migrate', 'replace the calendar recorded beside the log by the one defined');
}

function shard(text: string): Shard {
  const match = /^(\d*)\/(\d+)$/.exec(text);
  const index = match?.[1] === '' ? (process.env.JOB_COMPLETION_INDEX ?? '') : match?.[1];
  const found = { index: Number(index), of: Number(match?.[2]) };
  if (!match || index === '' || !(found.index < found.of))
    throw new InvalidArgumentError('It must be I/N, such as 0/4 to 3/4, or /4 in an indexed job.');
  return found;
}

/** The bounds given, as instants; they are told before anything starts. With `within`, instants between two bounds are taken too. */
export async function rangeOf(
  session: Session,
  pipeline: Pipeline,
  { from, to, tz }: RangeFlags,
  { within = false }: { readonly within?: boolean } = {},
): Promise<{ from?: number; to?: number }> {
  const [{ parsePoint }, { Calendar }, { instantText }, { localText }] = await Promise.all([
    import('../../interval/argument.js'),
    import('../../interval/calendar.js'),
    import('../../interval/interval.js'),
    import('../../interval/label.js'),
  ]);
  const { calendar } = pipeline;
  const reading =
    tz === undefined ? calendar : new Calendar({ every: calendar.toJSON() as never, timeZone: tz });
  const read = (text: string | undefined): number | undefined => {
    if (text === undefined) return undefined;
    const { ms } = parsePoint(reading, text);
    return within ? ms : calendar.bound(ms);
  };
  const range = { from: read(from), to: read(to) };
  if (range.from !== undefined || range.to !== undefined) {
    const { timeZone, zone } = calendar;
    const told = (ms: number | undefined): string => {
      if (ms === undefined) return 'now';
      return `${instantText(ms)}${timeZone === 'UTC' ? '' : ` (${localText(zone, ms)} in ${timeZone})`}`;
    };
    session.talk(`range: from ${told(range.from ?? pipeline.definition.startMs)} to ${told(range.to)}`);
  }
  return {
    ...(range.from === undefined ? {} : { from: range.from }),
    ...(range.to === undefined ? {} : { to: range.to }),
  };
}
