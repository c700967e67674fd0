import {
  type OutputFlags,
  type StoreFlags,
  type VersionFlags,
  withOutput,
  withStore,
  withVersion,
} from './options.js';
import type { Register } from './program.js';

export const registerProtocol: Register = (program, cli) => {
  const command = program
    .command('protocol')
    .description("A table's features: which are in use, and what each blocks.")
    .argument('<url>', 'the table')
    .addHelpText(
      'after',
      `
Examples:
  tablectl protocol ./flights
  tablectl protocol s3://lake/sales --json`,
    );
  withOutput(withVersion(withStore(command))).action(
    (url: string, flags: StoreFlags & OutputFlags & VersionFlags) =>
      cli.run(flags, async (session) => {
        const [{ openLog }, { protocolDocument, protocolLines }] = await Promise.all([
          import('./state.js'),
          import('./protocol-document.js'),
        ]);
        const { table, state } = await openLog(session, url, flags);
        const document = protocolDocument(table.url, state);
        if (flags.json) await session.printJson(document);
        else await session.print(`${protocolLines(document, session.paint).join('\n')}\n`);
        return undefined;
      }),
  );
};
