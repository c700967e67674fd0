import { type OutputFlags, type StoreFlags, wholeNumber, withOutput, withStore } from './options.js';
import type { Register } from './program.js';

export const registerLog: Register = (program, cli) => {
  const command = program
    .command('log')
    .description('The actions of one commit, readable.')
    .argument('<url>', 'the table')
    .argument('<version>', 'the version that the commit made', wholeNumber)
    .addHelpText(
      'after',
      `
Examples:
  tablectl log ./flights 3
  tablectl log s3://lake/sales 12 --ndjson | jq 'select(.add) | .add.path'`,
    );
  withOutput(withStore(command), { ndjson: true }).action(
    (url: string, version: number, flags: StoreFlags & OutputFlags) =>
      cli.run(flags, async (session) => {
        const { readActions, actionLines } = await import('./commit-actions.js');
        const { url: at, actions } = await readActions(session, url, version);
        if (flags.json) await session.printJson({ url: at, version, actions });
        else if (flags.ndjson) for (const action of actions) await session.printJson(action);
        else await session.print(`${actionLines(actions, session.paint).join('\n')}\n`);
        return undefined;
      }),
  );
};
