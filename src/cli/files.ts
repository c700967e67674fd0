import {
  type OutputFlags,
  type StoreFlags,
  type VersionFlags,
  withOutput,
  withStore,
  withVersion,
} from './options.js';
import type { Register } from './program.js';

interface FilesFlags extends StoreFlags, OutputFlags, VersionFlags {
  readonly where?: string;
}

export const registerFiles: Register = (program, cli) => {
  const command = program
    .command('files')
    .description('The live data files; with --where, which of them a read would keep or skip, and why.')
    .argument('<url>', 'the table')
    .option('--where <sql>', 'the condition of a read')
    .addHelpText(
      'after',
      `
Examples:
  tablectl files ./flights
  tablectl files ./flights --where "day = date '2001-03-01' and delay > 60"`,
    );
  withOutput(withVersion(withStore(command)), { ndjson: true }).action((url: string, flags: FilesFlags) =>
    cli.run(flags, async (session) => {
      const [{ openLog }, { fileRecords, fileLines }] = await Promise.all([
        import('./state.js'),
        import('./file-records.js'),
      ]);
      const { table, state } = await openLog(session, url, flags);
      const records = await fileRecords(state, flags.where, session.signal);
      if (flags.json)
        await session.printJson({ url: table.url, version: state.version, files: [...records] });
      else if (flags.ndjson) for (const record of records) await session.printJson(record);
      else
        await session.print(
          `${fileLines([...records], flags.where !== undefined, session.paint).join('\n')}\n`,
        );
      return undefined;
    }),
  );
};
