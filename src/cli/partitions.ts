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

interface PartitionsFlags extends StoreFlags, OutputFlags, VersionFlags {
  readonly chart?: boolean;
}

export const registerPartitions: Register = (program, cli) => {
  const command = program
    .command('partitions')
    .description('The partitions that hold rows, with their files, rows and bytes; from the log alone.')
    .argument('<url>', 'the table')
    .addOption(
      new Option('--chart', 'draw the rows of each partition, in order').conflicts(['json', 'ndjson']),
    )
    .addHelpText(
      'after',
      `
Examples:
  tablectl partitions ./flights --chart
  tablectl partitions s3://lake/sales --json`,
    );
  withOutput(withVersion(withStore(command)), { ndjson: true }).action(
    (url: string, flags: PartitionsFlags) =>
      cli.run(flags, async (session) => {
        const [{ openLog }, { partitionRecords, partitionLines, partitionChart }] = await Promise.all([
          import('./state.js'),
          import('./partition-records.js'),
        ]);
        const { table, state } = await openLog(session, url, flags);
        const records = await partitionRecords(state, session.signal);
        if (flags.json) {
          const { partitionColumns } = state.metadata;
          await session.printJson({
            url: table.url,
            version: state.version,
            partitionColumns,
            partitions: records,
          });
        } else if (flags.ndjson) {
          for (const record of records) await session.printJson(record);
        } else if (flags.chart) {
          const width = Math.min(session.terminal.stdout.columns ?? 80, 200);
          await session.print(`${partitionChart(records, width, session.paint).join('\n')}\n`);
        } else {
          await session.print(`${partitionLines(state, records, session.paint).join('\n')}\n`);
        }
        return undefined;
      }),
  );
};
