import { Option } from 'commander';
import {
  nameList,
  type OutputFlags,
  type StoreFlags,
  wholeNumber,
  withOutput,
  withStore,
  withVersion,
} from './options.js';
import type { Register } from './program.js';
import type { ReadFlags } from './scan-rows.js';

interface CatFlags extends StoreFlags, OutputFlags, ReadFlags {
  readonly canonical?: boolean;
}

export const registerCat: Register = (program, cli) => {
  const command = program
    .command('cat')
    .description('Print rows.')
    .argument('<url>', 'the table')
    .option(
      '--where <sql>',
      'rows for which this is true, such as "day = date \'2001-03-01\' and delay > 60"',
    )
    .option('--columns <names>', 'columns in the order wanted, separated by commas', nameList)
    .option('--limit <n>', 'rows at the most', wholeNumber)
    .addOption(
      new Option('--canonical', 'one line a row in which every value has exactly one text').conflicts([
        'json',
        'ndjson',
      ]),
    )
    .addHelpText(
      'after',
      `
Rows come in no particular order. In JSON, whole numbers beyond 2^53, decimals and times are text; binary is base64; NULL is null.

Examples:
  tablectl cat ./flights --limit 10
  tablectl cat ./flights --where "origin = 'SFO' and delay > 120" --columns ts,delay --ndjson
  tablectl cat s3://lake/sales --version 12`,
    );
  withOutput(withVersion(withStore(command)), { ndjson: true }).action((url: string, flags: CatFlags) =>
    cli.run(flags, async (session) => {
      const [{ scanRows }, { printRows }] = await Promise.all([
        import('./scan-rows.js'),
        import('./rows.js'),
      ]);
      const rows = await scanRows(session, url, flags);
      await printRows(
        session,
        rows,
        flags.canonical ? 'canonical' : flags.json ? 'json' : flags.ndjson ? 'ndjson' : 'table',
      );
      return undefined;
    }),
  );
};
