import { Option } from 'commander';
import { EXPORT_FORMATS, type ExportFormat } from './export-format.js';
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

interface ExportFlags extends StoreFlags, OutputFlags, ReadFlags {
  readonly format?: ExportFormat;
  readonly output?: string;
}

export const registerExport: Register = (program, cli) => {
  const command = program
    .command('export')
    .description('Write rows to one file, or to standard output.')
    .argument('<url>', 'the table')
    .addOption(
      new Option('--format <format>', "what to write (default: what the output's name ends in)").choices(
        EXPORT_FORMATS,
      ),
    )
    .option('-o, --output <file>', 'the file; it appears when it is complete (default: standard output)')
    .option('--where <sql>', 'rows for which this is true')
    .option('--columns <names>', 'columns in the order wanted, separated by commas', nameList)
    .option('--limit <n>', 'rows at the most', wholeNumber)
    .addHelpText(
      'after',
      `
Arrow is an IPC file, or an IPC stream on standard output. --json tells what was written, and needs -o.

Examples:
  tablectl export ./flights --where "day = date '2001-03-01'" -o day.parquet
  tablectl export ./flights --format csv --columns origin,destination | sort | uniq -c`,
    );
  withOutput(withVersion(withStore(command))).action((url: string, flags: ExportFlags) => {
    if (flags.json && flags.output === undefined)
      command.error('error: --json needs -o FILE, because standard output carries the rows');
    return cli.run(
      flags,
      async (session) => {
        const { exportRows } = await import('./export-rows.js');
        await exportRows(session, url, flags);
        return undefined;
      },
      { stopsItself: true },
    );
  });
};
