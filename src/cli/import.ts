import { InvalidArgumentError, Option } from 'commander';
import type { Token } from '../write/plan.js';
import { INPUT_FORMATS, type InputFormat } from './input/format.js';
import {
  keyValue,
  nameList,
  type OutputFlags,
  repeated,
  type StoreFlags,
  wholeNumber,
  withOutput,
  withStore,
} from './options.js';
import type { Register } from './program.js';

/** The options of `import`, as commander parses them. */
export interface ImportFlags extends StoreFlags, OutputFlags {
  readonly format?: InputFormat;
  readonly mode: 'append' | 'overwrite-partitions';
  readonly create?: boolean;
  readonly partitionBy?: readonly string[];
  readonly property?: Readonly<Record<string, string>>;
  readonly derive?: readonly string[];
  readonly ntzAs?: 'utc' | 'keep';
  readonly delimiter: string;
  readonly null?: string;
  readonly token?: Token;
  readonly maxPartitions?: number;
  readonly maxFilesRemoved?: number;
  readonly maxRowsRemoved?: number;
}

export const registerImport: Register = (program, cli) => {
  const command = program
    .command('import')
    .description('Write the rows of files to a table, all of them in one commit.')
    .argument('<url>', 'the table')
    .argument('<files...>', 'input files, or - for standard input')
    .addOption(
      new Option('--format <format>', 'what the input is (default: what its name ends in)').choices(
        INPUT_FORMATS,
      ),
    )
    .addOption(
      new Option('--mode <mode>', 'add the rows, or replace the partitions that they lie in')
        .choices(['append', 'overwrite-partitions'])
        .default('append'),
    )
    .option('--create', "create the table where there is none, with the input's columns")
    .option('--partition-by <columns>', 'with --create: partition columns, separated by commas', nameList)
    .option('--property <key=value>', 'with --create: a table property; may be repeated', keyValue)
    .option(
      '--derive <column=expression>',
      "add a column, such as 'day = date(ts)'; may be repeated",
      repeated,
    )
    .addOption(
      new Option(
        '--ntz-as <choice>',
        'timestamps without a zone: take them as UTC, or keep them zone-less',
      ).choices(['utc', 'keep']),
    )
    .option('--delimiter <character>', 'CSV: what stands between cells', delimiterArgument, ',')
    .option('--null <text>', 'CSV: the text that stands for NULL besides the empty cell')
    .option(
      '--token <app:version>',
      'write once: skipped where the table has this version of the application recorded, or a later one',
      tokenArgument,
    )
    .option('--max-partitions <n>', 'refuse to touch more partitions', wholeNumber)
    .option('--max-files-removed <n>', 'refuse to remove more files', wholeNumber)
    .option('--max-rows-removed <n>', 'refuse to remove more rows', wholeNumber)
    .addHelpText(
      'after',
      `
Parquet and Arrow bring their types; CSV (with a header) and NDJSON are read as the table's types. With --create, theirs are the
narrowest of long, double, boolean, date, timestamp, timestamp_ntz and string that take every value (of standard input: the
first 10,000 rows). CSV: an empty cell is NULL, "" is the empty text, nested types are JSON, binary is base64.

Examples:
  tablectl import ./flights flights.parquet --create --derive 'day = date(ts)' --partition-by day
  tablectl import ./flights 2024-01-*.csv --mode overwrite-partitions --max-partitions 31
  zcat events.ndjson.gz | tablectl import s3://lake/events - --format ndjson --token loader:42`,
    );
  withOutput(withStore(command)).action((url: string, files: string[], flags: ImportFlags) =>
    cli.run(
      flags,
      async (session) => {
        const { importFiles } = await import('./import-files.js');
        return importFiles(session, url, files, flags);
      },
      { stopsItself: true },
    ),
  );
};

function tokenArgument(text: string): Token {
  const match = /^(.+):(\d{1,15})$/.exec(text);
  if (match === null)
    throw new InvalidArgumentError('It must be APP:VERSION with a whole number, such as loader:42.');
  return { appId: match[1]!, version: Number(match[2]) };
}

function delimiterArgument(text: string): string {
  const delimiter = text === '\\t' ? '\t' : text;
  if (delimiter.length !== 1 || /["\r\n]/.test(delimiter))
    throw new InvalidArgumentError('It must be one character, such as ; or \\t, and no quote or line end.');
  return delimiter;
}
