import type { Command } from 'commander';
import { instantText } from '../../interval/interval.js';
import { union } from '../../interval/set.js';
import type { BackfillReport } from '../../pipeline/backfill.js';

/** Options of a command line that are not given again. */
const ONCE = ['dryRun', 'migrate'];

/**
 * The command line that runs what a report says is left. Where only what is missing or stale is run, that is the same one again; where everything is, what was
 * done would be done twice, so it names what is left.
 */
export function resumeCommand(command: Command, report: BackfillReport): string {
  const isAll = ['all', 'completed'].includes(String(command.opts().reprocess));
  const left = report.outcomes.filter(({ status }) => status === 'failed' || status === 'not-run');
  const spans = union(left.map(({ interval }) => interval));
  const without = isAll ? [...ONCE, 'from', 'to', 'tz', 'interval'] : ONCE;
  const named = isAll
    ? spans.map(({ startMs, endMs }) => `--interval ${instantText(startMs)}/${instantText(endMs)}`)
    : [];
  const words = ['tablectl', command.name(), ...command.args.map(quoted), ...givenOptions(command, without)];
  return [...words, ...named].join(' ');
}

function givenOptions(command: Command, without: readonly string[]): string[] {
  return command.options.flatMap((option): string[] => {
    const name = option.attributeName();
    if (without.includes(name) || command.getOptionValueSource(name) !== 'cli') return [];
    const value: unknown = command.opts()[name];
    if (typeof value === 'boolean') return [option.long!];
    return (Array.isArray(value) ? value : [value]).map((each) => `${option.long} ${quoted(textOf(each))}`);
  });
}

function textOf(value: unknown): string {
  // A shard is the one option that is not what was written.
  if (typeof value === 'object' && value !== null && 'index' in value && 'of' in value)
    return `${value.index}/${value.of}`;
  return String(value);
}

function quoted(word: string): string {
  return /^[\w./:=,@+-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}
