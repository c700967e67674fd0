import { withOutput, withStore } from './options.js';
import type { Register } from './program.js';
import { type WriteFlags, withWrite } from './write-options.js';

interface DeleteFlags extends WriteFlags {
  readonly where: string;
}

export const registerDelete: Register = (program, cli) => {
  const command = program
    .command('delete')
    .description('Delete rows, in one commit.')
    .argument('<url>', 'the table')
    .requiredOption('--where <sql>', 'rows for which this is true; those for which it is NULL stay')
    .addHelpText(
      'after',
      `
Files that hold such rows alone go unread; the others are written again without them, or get a deletion vector where the table
has them on. Asks on a terminal before rows go, and needs --yes elsewhere.

Examples:
  tablectl delete ./sales --where "day < date '2023-01-01'" --dry-run
  tablectl delete s3://lake/customers --where 'id in (17, 42)' --max-rows-removed 2 --yes`,
    );
  withWrite(command, { removes: true });
  withOutput(withStore(command)).action((url: string, flags: DeleteFlags) =>
    cli.run(
      flags,
      async (session) => {
        const { changeRows } = await import('./change-rows.js');
        return changeRows(session, url, { verb: 'delete', where: flags.where }, flags);
      },
      { stopsItself: true },
    ),
  );
};
