import { repeated, withOutput, withStore } from './options.js';
import type { Register } from './program.js';
import { type WriteFlags, withWrite } from './write-options.js';

interface UpdateFlags extends WriteFlags {
  readonly set: readonly string[];
  readonly where: string;
}

export const registerUpdate: Register = (program, cli) => {
  const command = program
    .command('update')
    .description('Change columns of rows, in one commit.')
    .argument('<url>', 'the table')
    .requiredOption(
      '--set <column=expression>',
      "what a column becomes, such as 'price = price * 2'; may be repeated",
      repeated,
    )
    .requiredOption('--where <sql>', 'rows for which this is true; those for which it is NULL stay')
    .addHelpText(
      'after',
      `
Expressions see the row as it was. A value that its column cannot hold without loss is refused. No row is removed, so nothing is
asked.

Examples:
  tablectl update ./sales --set 'price = 9.99' --where 'id = 17'
  tablectl update s3://lake/sales --set 'price = price * 1.1' --set "note = 'raised'" --where 'price < 5' --dry-run`,
    );
  withWrite(command);
  withOutput(withStore(command)).action((url: string, flags: UpdateFlags) =>
    cli.run(
      flags,
      async (session) => {
        const { changeRows, setClause } = await import('./change-rows.js');
        const set = setClause(flags.set);
        return changeRows(session, url, { verb: 'update', set, where: flags.where }, flags);
      },
      { stopsItself: true },
    ),
  );
};
