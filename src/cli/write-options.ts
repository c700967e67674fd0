import { type Command, InvalidArgumentError, Option } from 'commander';
import type { Isolation } from '../write/isolation.js';
import type { Guards, Token } from '../write/plan.js';
import { type OutputFlags, type StoreFlags, wholeNumber } from './options.js';

/** Options of every command that writes rows, as commander parses them. */
export interface WriteFlags extends StoreFlags, OutputFlags, Guards {
  readonly token?: Token;
  readonly isolation?: Isolation;
  readonly dryRun?: boolean;
  readonly yes?: boolean;
}

/** `--dry-run`, `--token` and the guards; `--yes` where the command may remove rows. */
export function withWrite(command: Command, options: { readonly removes?: boolean } = {}): Command {
  const group = 'Safety:';
  const add = (flags: string, text: string, parse?: (text: string) => unknown): void => {
    const option = new Option(flags, text).helpGroup(group);
    command.addOption(parse ? option.argParser(parse) : option);
  };
  add('--dry-run', 'print what would be done, and commit nothing');
  if (options.removes) add('--yes', 'remove rows without a question; needed where there is no terminal');
  add(
    '--token <app:version>',
    'write once: skipped where the table has this version of the application recorded, or a later one',
    tokenArgument,
  );
  add('--max-partitions <n>', 'refuse to touch more partitions', wholeNumber);
  add('--max-files-removed <n>', 'refuse to remove more files', wholeNumber);
  add('--max-rows-removed <n>', 'refuse to remove more rows', wholeNumber);
  const levels = new Option(
    '--isolation <level>',
    "what a write that reads is equal to: running alone in its place (serializable), or leaving what others only appended meanwhile (default: the table's delta.isolationLevel, else serializable)",
  );
  command.addOption(levels.choices(['serializable', 'write-serializable']).helpGroup(group));
  return command;
}

/** `APP:VERSION`. */
export function tokenArgument(text: string): Token {
  const match = /^(.+):(\d{1,15})$/.exec(text);
  if (match === null)
    throw new InvalidArgumentError('It must be APP:VERSION with a whole number, such as loader:42.');
  return { appId: match[1]!, version: Number(match[2]) };
}
