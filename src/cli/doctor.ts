import { EXIT } from './errors.js';
import { type OutputFlags, type StoreFlags, withOutput, withStore } from './options.js';
import type { Register } from './program.js';

export const registerDoctor: Register = (program, cli) => {
  const command = program
    .command('doctor')
    .description('Try what tables need of a store: credentials, endpoint, conditional writes, latency.')
    .argument('<url>', 'a table, or where one is to be')
    .addHelpText(
      'after',
      `
Writes small objects and deletes them again. Exit code 5 where a check failed.

Examples:
  tablectl doctor s3://lake/sales
  tablectl doctor s3://lake/sales --endpoint http://localhost:9000 --json`,
    );
  withOutput(withStore(command)).action((url: string, flags: StoreFlags & OutputFlags) =>
    cli.run(
      flags,
      async (session) => {
        const [{ diagnoseStore }, { pairLines, tableLines }] = await Promise.all([
          import('../store/doctor.js'),
          import('./render/table.js'),
        ]);
        const { store, ctx } = (await session.runtime()).table(url);
        const report = await diagnoseStore(store, ctx, session.signal);
        if (flags.json) await session.printJson(report);
        else {
          const { paint } = session;
          const colors = { ok: 'green', failed: 'red', skipped: 'dim' } as const;
          const columns = ['check', 'result', 'detail'].map((title) => ({ title }));
          const rows = report.checks.map(({ name, status, detail }) => [name, status, detail]);
          const lines = tableLines(columns, rows, paint).map((line, i) => {
            const status = report.checks[i - 1]?.status;
            return status === undefined ? line : line.replace(status, paint(colors[status], status));
          });
          const latency = Object.entries(report.latencyMs)
            .filter((entry): entry is [string, number] => entry[1] !== null)
            .map(([name, ms]) => `${name} ${ms.toFixed(1)} ms`);
          const facts = pairLines(
            [
              ['store', report.url],
              ['latency', latency.join(', ') || undefined],
            ],
            paint,
          );
          await session.print(`${[...facts, '', ...lines].join('\n')}\n`);
        }
        return report.ok ? EXIT.done : EXIT.found;
      },
      { stopsItself: true },
    ),
  );
};
