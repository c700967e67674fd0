import { type OutputFlags, type StoreFlags, wholeNumber, withOutput, withStore } from './options.js';
import type { Register } from './program.js';

interface HistoryFlags extends StoreFlags, OutputFlags {
  readonly limit?: number;
}

export const registerHistory: Register = (program, cli) => {
  const command = program
    .command('history')
    .description('The versions that can still be loaded, newest first.')
    .argument('<url>', 'the table')
    .option('--limit <n>', 'versions at the most', wholeNumber)
    .addHelpText(
      'after',
      `
Examples:
  tablectl history ./flights --limit 10
  tablectl history s3://lake/sales --ndjson | jq .operation`,
    );
  withOutput(withStore(command), { ndjson: true }).action((url: string, flags: HistoryFlags) =>
    cli.run(flags, async (session) => {
      const [{ openLog }, { readHistory }, rendering] = await Promise.all([
        import('./state.js'),
        import('../log/history.js'),
        import('./history-lines.js'),
      ]);
      const { table, state } = await openLog(session, url);
      const { metadata } = state;
      const entries = readHistory(table.store, { metadata, limit: flags.limit, signal: session.signal });
      if (flags.ndjson) {
        for await (const entry of entries) await session.printJson(rendering.historyRecord(entry));
        return undefined;
      }
      const all = [];
      for await (const entry of entries) all.push(entry);
      if (flags.json) await session.printJson({ url: table.url, versions: all.map(rendering.historyRecord) });
      else await session.print(`${rendering.historyLines(all, session.paint).join('\n')}\n`);
      return undefined;
    }),
  );
};
