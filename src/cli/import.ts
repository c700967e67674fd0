import { InvalidArgumentError, Option } from 'commander';
import { EVOLVE, type Evolve } from '../write/verb.js';
import { IMPORT_MODES, type ModeFlags, modeFault } from './import-mode.js';
import { INPUT_FORMATS, type InputFormat } from './input/format.js';
import { keyValue, nameList, repeated, withOutput, withStore } from './options.js';
import type { Register } from './program.js';
import { withWrite } from './write-options.js';

/** The options of `import`, as commander parses them. */
export interface ImportFlags extends ModeFlags {
  readonly format?: InputFormat;
  readonly create?: boolean;
  readonly partitionBy?: readonly string[];
  readonly property?: Readonly<Record<string, string>>;
  readonly derive?: readonly string[];
  readonly ntzAs?: 'utc' | 'keep';
  readonly delimiter: string;
  readonly null?: string;
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
      new Option(
        '--mode <mode>',
        'add the rows, replace the partitions that they lie in, replace what --where or --all says, replace the rows of their keys, or merge them by key',
      )
        .choices(IMPORT_MODES)
        .default('append'),
    )
    .option('--where <sql>', 'overwrite: replaces the rows for which this is true')
    .addOption(new Option('--all', 'overwrite: replaces everything').conflicts('where'))
    .option('--on <columns>', 'replace-using and merge: the key columns, separated by commas', nameList)
    .option('--null-keys', 'replace-using: NULL in a key column is a value like any other, not a fault')
    .option(
      '--dedupe-by <columns>',
      'merge: of several rows with one key take the one with the greatest values here',
      nameList,
    )
    .addOption(
      new Option(
        '--dedupe-order <order>',
        'the row with the greatest (last, the default) or least values',
      ).choices(['first', 'last']),
    )
    .option(
      '--evolve <ways>',
      'what the rows may do to the schema: add-columns, widen or both; with --all overwrite, then the columns are those of the input',
      evolveArgument,
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
    .addOption(
      new Option(
        '--on-replay <what>',
        'with --token: a replay reads no rows (skip), or refuses other rows than the first time (compare; the first time too)',
      ).choices(['skip', 'compare']),
    )
    .addHelpText(
      'after',
      `
Parquet and Arrow bring their types; CSV (with a header) and NDJSON are read as the table's types. With --create, theirs are the
narrowest of long, double, boolean, date, timestamp, timestamp_ntz and string that take every value (of standard input: the
first 10,000 rows). CSV: an empty cell is NULL, "" is the empty text, nested types are JSON, binary is base64.

overwrite needs --where or --all; rows outside --where are refused. replace-using removes the rows that equal an incoming row in
the key columns. merge replaces rows whose key is there and adds the others; NULL equals NULL; several rows of one key are refused
unless --dedupe-by chooses. With --create, the table is created with the rows and their token in one commit, in every mode.

Without --evolve a column that the table lacks is refused. add-columns takes it, in the commit of its rows: with the type that the
file tells, of text the one that its values tell. widen takes wider types of Parquet and Arrow where delta.enableTypeWidening is true.

Where rows would be removed, overwrite and replace-using ask on a terminal and need --yes elsewhere. overwrite-partitions does not:
running a partition again is what it is for, the rows name what they replace, and --max-partitions bounds it.
--dry-run reads the input and stages its files where no reader sees them, prints the plan, and deletes them again.

Examples:
  tablectl import ./flights flights.parquet --create --derive 'day = date(ts)' --partition-by day
  tablectl import ./flights 2024-01-*.csv --mode overwrite-partitions --max-partitions 31
  tablectl import ./flights march.parquet --mode overwrite --where "day >= date '2024-03-01'" --dry-run
  tablectl import s3://lake/customers changes.csv --mode merge --on id --dedupe-by changed_at
  zcat events.ndjson.gz | tablectl import s3://lake/events - --format ndjson --token loader:42`,
    );
  withWrite(command, { removes: true });
  withOutput(withStore(command)).action((url: string, files: string[], flags: ImportFlags) => {
    const fault = modeFault(flags);
    if (fault !== undefined) command.error(`error: ${fault}`);
    return cli.run(
      flags,
      async (session) => {
        const { importFiles } = await import('./import-files.js');
        return importFiles(session, url, files, flags);
      },
      { stopsItself: true },
    );
  });
};

function evolveArgument(text: string): Evolve[] {
  const ways = nameList(text);
  const wrong = ways.find((way) => !EVOLVE.includes(way as Evolve));
  if (wrong === undefined) return ways as Evolve[];
  throw new InvalidArgumentError(`It must be of ${EVOLVE.join(', ')}.`);
}

function delimiterArgument(text: string): string {
  const delimiter = text === '\\t' ? '\t' : text;
  if (delimiter.length !== 1 || /["\r\n]/.test(delimiter))
    throw new InvalidArgumentError('It must be one character, such as ; or \\t, and no quote or line end.');
  return delimiter;
}
