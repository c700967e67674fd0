import {
  type OutputFlags,
  type StoreFlags,
  type VersionFlags,
  withOutput,
  withStore,
  withVersion,
} from './options.js';
import type { Register } from './program.js';

export const registerInfo: Register = (program, cli) => {
  const command = program
    .command('info')
    .description('What a table is: version, size, columns, protocol, properties.')
    .argument('<url>', 'the table')
    .addHelpText(
      'after',
      `
Examples:
  tablectl info ./flights
  tablectl info s3://lake/sales --version 12 --json`,
    );
  withOutput(withVersion(withStore(command))).action(
    (url: string, flags: StoreFlags & OutputFlags & VersionFlags) =>
      cli.run(flags, async (session) => {
        const [{ openLog }, { infoDocument, infoLines }] = await Promise.all([
          import('./state.js'),
          import('./table-info.js'),
        ]);
        const { table, state } = await openLog(session, url, flags);
        const document = await infoDocument(table.url, state, session.signal);
        if (flags.json) await session.printJson(document);
        else await session.print(`${infoLines(document, session.paint).join('\n')}\n`);
        return undefined;
      }),
  );
};
