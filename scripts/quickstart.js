import { existsSync, rmSync } from 'node:fs';
import { dirname, relative, resolve } from 'node:path';
import { Writable } from 'node:stream';
import { fileURLToPath } from 'node:url';

const root = resolve(dirname(fileURLToPath(import.meta.url)), '..');
const command = resolve(root, 'dist/cli/main.js');
if (!existsSync(command)) {
  console.error('The library is not built yet: run npm install first.');
  process.exit(1);
}
const { main } = await import(command);

const table = relative(process.cwd(), resolve(root, 'quickstart-table')) || '.';
const flights = relative(process.cwd(), resolve(root, 'node_modules/vega-datasets/data/flights-3m.parquet'));
const day = '2001-03-15';
const dayFile = `${table}.day.parquet`;
const isTTY = process.stdout.isTTY === true && !process.env.NO_COLOR;

/** What the command would print for a program. */
class Captured extends Writable {
  text = '';
  _write(chunk, _encoding, done) {
    this.text += chunk;
    done();
  }
}

function say(text) {
  process.stdout.write(`${isTTY ? `\u001b[1m${text}\u001b[22m` : text}\n`);
}

function shown(argument) {
  if (/^[\w./:=,-]+$/.test(argument)) return argument;
  return argument.includes("'") ? `"${argument}"` : `'${argument}'`;
}

/** Runs one command line as the shell would, and shows it first. */
async function run(what, ...argv) {
  say(`\n# ${what}`);
  say(`$ tablectl ${argv.map(shown).join(' ')}`);
  const exitCode = await main(argv);
  if (exitCode !== 0) process.exit(exitCode);
}

/** The document that a command prints with --json. */
async function ask(...argv) {
  const stdout = new Captured();
  const { stdin, stderr, env } = process;
  const exitCode = await main([...argv, '--json'], { stdin, stdout, stderr, env });
  if (exitCode !== 0) process.exit(exitCode);
  return JSON.parse(stdout.text);
}

const startedAt = performance.now();
process.on('exit', () => rmSync(dayFile, { force: true }));
rmSync(table, { recursive: true, force: true });

await run(
  'Three million flights into a table with a partition a day; their times have no zone and are taken as UTC.',
  ...[
    'import',
    table,
    flights,
    '--create',
    '--derive',
    'day = date(date)',
    '--partition-by',
    'day',
    '--ntz-as',
    'utc',
  ],
);
await run('What there is now.', 'info', table);
await run('Flights a day.', 'partitions', table, '--chart');
await run('One day as a file.', 'export', table, '--where', `day = date '${day}'`, '-o', dayFile);

const before = await ask('info', table);
for (const time of ['once', 'and again']) {
  await run(
    `The same day replaced ${time}: safe to run again.`,
    ...['import', table, dayFile, '--mode', 'overwrite-partitions', '--max-partitions', '1'],
  );
  const after = await ask('info', table);
  const isSame = after.rows === before.rows && after.files === before.files;
  say(
    `# ${after.rows} rows in ${after.files} files: ${isSame ? 'unchanged' : `there were ${before.rows} rows in ${before.files} files`}`,
  );
  if (!isSame) process.exit(1);
}
await run('What happened to the table.', 'history', table);
await run(
  'Late flights out of San Francisco that day.',
  'cat',
  table,
  '--where',
  `day = date '${day}' and origin = 'SFO' and delay > 180`,
  '--limit',
  '5',
);

rmSync(dayFile, { force: true });
say(
  `\n# Done in ${((performance.now() - startedAt) / 1000).toFixed(1)} s. The table is in ${table}/: Spark, delta-rs, DuckDB and Polars can read it too.`,
);
