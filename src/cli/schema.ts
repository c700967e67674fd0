import { Option } from 'commander';
import {
  type OutputFlags,
  type StoreFlags,
  type VersionFlags,
  withOutput,
  withStore,
  withVersion,
} from './options.js';
import type { Register } from './program.js';

interface SchemaFlags extends StoreFlags, OutputFlags, VersionFlags {
  readonly ddl?: boolean;
}

export const registerSchema: Register = (program, cli) => {
  const command = program
    .command('schema')
    .description("A table's columns.")
    .argument('<url>', 'the table')
    .addOption(new Option('--ddl', 'print the text that create --schema takes').conflicts('json'))
    .addHelpText(
      'after',
      `
Examples:
  tablectl schema ./flights
  tablectl create ./copy --schema "$(tablectl schema ./flights --ddl)"`,
    );
  withOutput(withVersion(withStore(command))).action((url: string, flags: SchemaFlags) =>
    cli.run(flags, async (session) => {
      const [{ openLog }, { typeText }, { printDdl }, { schemaObject }, { tableLines, oneLine }] =
        await Promise.all([
          import('./state.js'),
          import('../schema/type-text.js'),
          import('../schema/ddl.js'),
          import('../schema/schema-json.js').then(({ serializeSchema }) => ({
            schemaObject: (schema: Parameters<typeof serializeSchema>[0]) =>
              JSON.parse(serializeSchema(schema)) as unknown,
          })),
          import('./render/table.js'),
        ]);
      const { table, state } = await openLog(session, url, flags);
      const { schema, metadata, version } = state;
      if (flags.json) {
        await session.printJson({
          url: table.url,
          version,
          partitionColumns: metadata.partitionColumns,
          ddl: printDdl(schema),
          schema: schemaObject(schema),
        });
        return undefined;
      }
      if (flags.ddl) {
        await session.print(`${printDdl(schema)}\n`);
        return undefined;
      }
      const rows = schema.fields.map((field) => [
        oneLine(field.name),
        typeText(field.dataType),
        field.nullable ? '' : 'not null',
        metadata.partitionColumns.includes(field.name) ? 'partition' : '',
        typeof field.metadata.comment === 'string' ? oneLine(field.metadata.comment) : '',
      ]);
      const columns = ['column', 'type', 'null', 'role', 'comment'].map((title) => ({ title }));
      await session.print(
        `${tableLines(columns, rows, session.paint)
          .map((line) => line.trimEnd())
          .join('\n')}\n`,
      );
      return undefined;
    }),
  );
};
