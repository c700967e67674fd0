import { keyValue, nameList, type OutputFlags, type StoreFlags, withOutput, withStore } from './options.js';
import type { Register } from './program.js';
import { tokenArgument, type WriteFlags } from './write-options.js';

/** The options of `create`, as commander parses them. */
export interface CreateFlags extends StoreFlags, OutputFlags, Pick<WriteFlags, 'token' | 'dryRun'> {
  readonly schema: string;
  readonly partitionBy?: readonly string[];
  readonly property?: Readonly<Record<string, string>>;
  readonly name?: string;
  readonly description?: string;
}

export const registerCreate: Register = (program, cli) => {
  const command = program
    .command('create')
    .description('Create an empty table.')
    .argument('<url>', 'where the table is to be')
    .requiredOption('--schema <ddl>', "columns, such as 'id long not null, price decimal(10,2), day date'")
    .option('--partition-by <columns>', 'partition columns, separated by commas', nameList)
    .option(
      '--property <key=value>',
      'a table property, such as delta.checkpointInterval=20; may be repeated',
      keyValue,
    )
    .option('--name <name>', 'a name for people')
    .option('--description <text>', 'a description for people')
    .option('--dry-run', 'print what would be created, and create nothing')
    .option(
      '--token <app:version>',
      'create once: skipped where the table is there with this version of the application recorded, or a later one',
      tokenArgument,
    )
    .addHelpText(
      'after',
      `
Examples:
  tablectl create ./sales --schema 'id long not null, price decimal(10,2), day date' --partition-by day
  tablectl create s3://lake/sales --schema 'id long, tags array<string>' --property delta.appendOnly=true --dry-run`,
    );
  withOutput(withStore(command)).action((url: string, flags: CreateFlags) =>
    cli.run(
      flags,
      async (session) => {
        const { createEmpty } = await import('./create-table.js');
        return createEmpty(session, url, flags);
      },
      { stopsItself: true },
    ),
  );
};
