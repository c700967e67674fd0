import type { Command } from 'commander';
import type { Alteration } from '../write/alteration.js';
import { alterationFor, type ColumnChange } from './alter-changes.js';
import { type OutputFlags, type StoreFlags, withOutput, withStore } from './options.js';
import type { Register } from './program.js';

/** The options of `alter` that are no change of their own. */
export interface AlterFlags extends StoreFlags, OutputFlags {
  readonly within?: string;
  readonly first?: boolean;
  readonly after?: string;
  readonly dryRun?: boolean;
  readonly yes?: boolean;
}

const CHANGES: readonly (readonly [flag: string, value: string, kind: ColumnChange, text: string])[] = [
  ['--add', 'ddl', 'add', "add columns, such as 'note string, price decimal(10,2)'"],
  ['--rename', 'old=new', 'rename', 'rename a column'],
  ['--drop', 'column', 'drop', 'drop a column'],
  ['--type', 'column=type', 'type', 'widen the type of a column'],
  ['--comment', 'column=text', 'comment', 'comment on a column; without a text, no more'],
  [
    '--default',
    'column=expression',
    'default',
    'a value for rows that give none; without an expression, no more',
  ],
  ['--nullable', 'column', 'nullable', 'allow NULL in a column'],
  ['--move', 'column=place', 'move', "put a column 'first' or after another one"],
  ['--set', 'key=value', 'set', 'set a table property'],
  ['--unset', 'key', 'unset', 'unset a table property'],
  ['--add-constraint', 'name=condition', 'addConstraint', 'demand of every row that a condition is true'],
  ['--drop-constraint', 'name', 'dropConstraint', 'drop a constraint'],
  ['--drop-feature', 'name', 'dropFeature', 'take a table feature away that is not in use any more'],
  ['--name', 'text', 'name', 'a name for people; empty for none'],
  ['--description', 'text', 'description', 'a description for people; empty for none'],
];

export const registerAlter: Register = (program, cli) => {
  const command = program
    .command('alter')
    .description('Change columns, properties and constraints of a table, all of it in one commit.')
    .argument('<url>', 'the table');
  const changes = withChanges(command);
  command
    .option('--within <column>', 'with --add: the struct that gets the columns')
    .option('--first', 'with --add: put the columns before all others')
    .option('--after <column>', 'with --add: put the columns after this one')
    .option('--dry-run', 'print what would be done, and commit nothing')
    .option('--yes', 'drop columns without a question; needed where there is no terminal')
    .addHelpText(
      'after',
      `
Changes may be repeated and are made in the order given. a.b is a field of a struct, \`a.b\` in backquotes a name with a dot;
element, key and value lead into arrays and maps. Columns are renamed and dropped where they are mapped
(--set delta.columnMapping.mode=name), types widened where delta.enableTypeWidening is true; the plan names the table
features that the table gains, which older programs may not know. A default is made of constants, or of current_timestamp() and
current_date(), in UTC: one value for all rows of a write. A feature can be dropped once nothing uses it (--unset its property in the same call);
what readers of older versions need stays until log cleanup has removed those.

Examples:
  tablectl alter ./sales --add "note string comment 'by hand'" --after price
  tablectl alter ./sales --set delta.columnMapping.mode=name --rename ts=sold_at --drop note --dry-run
  tablectl alter ./sales --default 'sold_at=current_timestamp()' --default 'note='
  tablectl alter ./sales --unset delta.enableInCommitTimestamps --drop-feature inCommitTimestamp
  tablectl alter s3://lake/sales --add-constraint 'positive=price > 0' --set delta.enableDeletionVectors=true`,
    );
  withOutput(withStore(command)).action((url: string, flags: AlterFlags) => {
    if (changes.length === 0) command.error('error: say what is to change');
    return cli.run(
      flags,
      async (session) => {
        const { alterTable } = await import('./alter-table.js');
        return alterTable(session, url, changes, flags);
      },
      { stopsItself: true },
    );
  });
};

/** The changes of a command line gather in what this gives back, in their order. */
function withChanges(command: Command): readonly Alteration[] {
  const changes: Alteration[] = [];
  for (const [flag, value, kind, text] of CHANGES) {
    command.option(`${flag} <${value}>`, text, (argument: string) => {
      changes.push(alterationFor(kind, argument));
    });
  }
  return changes;
}
