import { type OutputFlags, type StoreFlags, wholeNumber, withOutput, withStore } from './options.js';
import type { Register } from './program.js';

interface ChangesFlags extends StoreFlags, OutputFlags {
  readonly from: number;
  readonly to?: number;
}

export const registerChanges: Register = (program, cli) => {
  const command = program
    .command('changes')
    .description('The rows that versions inserted, updated and deleted (change data feed).')
    .argument('<url>', 'the table')
    .requiredOption('--from <version>', 'the first version', wholeNumber)
    .option('--to <version>', 'the last version (default: the newest)', wholeNumber)
    .addHelpText(
      'after',
      `
Examples:
  tablectl changes ./sales --from 3
  tablectl changes s3://lake/sales --from 3 --to 5 --ndjson`,
    );
  withOutput(withStore(command), { ndjson: true }).action((url: string, flags: ChangesFlags) =>
    cli.run(flags, async (session) => {
      const [{ readChanges }, { printRows }] = await Promise.all([
        import('../scan/changes.js'),
        import('./rows.js'),
      ]);
      const table = (await session.runtime()).table(url);
      const { from, to } = flags;
      const feed = await readChanges(table.store, table.ctx, {
        from,
        to,
        signal: session.signal,
        pool: table.pool,
      });
      const rows = { url: table.url, version: feed.to, schema: feed.schema, batches: feed.batches() };
      await printRows(session, rows, flags.json ? 'json' : flags.ndjson ? 'ndjson' : 'table');
      return undefined;
    }),
  );
};
