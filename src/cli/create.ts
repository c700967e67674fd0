import { keyValue, nameList, type OutputFlags, type StoreFlags, withOutput, withStore } from './options.js';
import type { Register } from './program.js';

interface CreateFlags extends StoreFlags, OutputFlags {
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
    .addHelpText(
      'after',
      `
Examples:
  tablectl create ./sales --schema 'id long not null, price decimal(10,2), day date' --partition-by day
  tablectl create s3://lake/sales --schema 'id long, tags array<string>' --property delta.appendOnly=true`,
    );
  withOutput(withStore(command)).action((url: string, flags: CreateFlags) =>
    cli.run(
      flags,
      async (session) => {
        const [{ createTable }, { NO_ROWS, printWrite }] = await Promise.all([
          import('../table.js'),
          import('./write-result.js'),
        ]);
        const startedAt = performance.now();
        const table = await createTable(url, {
          schema: flags.schema,
          partitionBy: flags.partitionBy,
          properties: flags.property,
          name: flags.name,
          description: flags.description,
          runtime: await session.runtime(),
          signal: session.signal,
        });
        const nothing = { files: 0, rows: 0, bytes: 0 };
        const ms = Math.round(performance.now() - startedAt);
        await printWrite(
          session,
          {
            status: 'committed',
            verb: 'create',
            url: table.url,
            version: 0,
            created: true,
            added: nothing,
            removed: nothing,
            rows: NO_ROWS,
            ms,
          },
          flags.json,
        );
        return undefined;
      },
      { stopsItself: true },
    ),
  );
};
